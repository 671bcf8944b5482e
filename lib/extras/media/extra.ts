// Adds tags of images, films and sounds to views, and the sizes of images.
import type { Extra } from '../../runtime/app/parts.ts'
import { HELPERS } from './media.ts'

export const media: Extra = {
  name: 'media',
  run: () => ({ helpers: HELPERS }),
  details: {
    isFor: name => /\.(?:apng|avif|gif|jpe?g|jxl|png|svg|webp)$/i.test(name),
    load: async () => {
      const { sizeOf } = await import('./image-size.ts')
      return bytes => ({ imageSize: sizeOf(bytes) })
    }
  }
}
