// Adds tags of images, films and sounds to views, with the sizes of images, and SVG files as elements of pages.
import type { AppSource, Extra } from '../../runtime/app/extra.ts'
import type { AppSettings } from '../../runtime/settings/settings.ts'
import { memoized } from '../../runtime/concurrency.ts'
import { matcherOf } from '../../runtime/files/paths.ts'
import { helpersOf, WrittenIcons } from './media.ts'

export const media: Extra = {
  name: 'media',
  run({ env, apps }) {
    const inlining = apps.filter(app => app.inline !== undefined)
    // In production the manifest has the elements, so that no page waits for a disk.
    if (env === 'production' && inlining.some(app => !app.fingerprint))
      throw new TypeError(
        "the option inline needs fingerprints in production: remove 'fingerprint: false'"
      )
    const isSeen = env === 'development' && inlining.length > 0
    return isSeen ? new WrittenIcons() : { helpers: helpersOf() }
  },
  details: {
    isFor: name => /\.(?:apng|avif|gif|jpe?g|jxl|png|svg|webp)$/i.test(name),
    async load(apps) {
      const { sizeOf } = await import('./image-size.ts')
      const hasIcons = apps.some(app => app.inline !== undefined)
      const { readSvg } = hasIcons ? await import('./svg.ts') : {}
      return (bytes, file, asset) => {
        const svg = asset && isInlined(asset) ? readSvg?.(bytes, file) : undefined
        return { imageSize: sizeOf(bytes), ...(svg && { svg }) }
      }
    }
  }
}

export function isInlined({ app, source: { name, compiler, directory } }: AppSource): boolean {
  if (app.inline === undefined || compiler || !/\.svg$/i.test(name)) return false
  const isOwn = app.sources.some(({ dir }) => dir === directory)
  return isOwn ? matcherFor(app)(name) : [app.inline].flat().includes(name)
}

const matcherFor = memoized(({ inline = [] }: AppSettings) => matcherOf([inline].flat()))
