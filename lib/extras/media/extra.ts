// Adds tags of images, films and sounds to views, and the sizes of images.
import type { Extra } from '../../assets/parts.ts'
import { HELPERS } from './media.ts'

export const media: Extra = {
  name: 'media',
  run: () => ({ helpers: HELPERS }),
  imageSizes: {
    isFor: name => /\.(?:apng|avif|gif|jpe?g|png|svg|webp)$/i.test(name),
    load: async () => (await import('./image-size.ts')).sizeOf
  }
}
