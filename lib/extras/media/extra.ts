// Adds tags of images, films and sounds to views, with the sizes of images, and SVG files as elements of pages.
import type { AppSource, Extra, Project } from '../../runtime/app/extra.ts'
import type { AppSettings } from '../../runtime/settings/settings.ts'
import { memoized } from '../../runtime/concurrency.ts'
import { matcherOf } from '../../runtime/files/paths.ts'
import { helpersOf, WrittenIcons } from './inline.ts'

export const media: Extra = {
  name: 'media',
  run({ env, apps }) {
    requireFingerprints(env, apps)
    const isSeen = env === 'development' && apps.some(app => app.inline !== undefined)
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

/** In production the manifest has the elements, so that no page waits for a disk. */
function requireFingerprints(env: string, apps: Project['apps']): void {
  const app = apps.find(each => each.inline !== undefined && !each.fingerprint)
  if (env === 'production' && app)
    throw new TypeError(
      "the option inline needs fingerprints in production: remove 'fingerprint: false'"
    )
}

/** Tells whether the option `inline` names a source. */
export function isInlined({ app, source: { name, compiler, directory } }: AppSource): boolean {
  if (app.inline === undefined || compiler || !/\.svg$/i.test(name)) return false
  const isOwn = app.sources.some(({ dir }) => dir === directory)
  return isOwn ? matcherFor(app)(name) : [app.inline].flat().includes(name)
}

const matcherFor = memoized(({ inline = [] }: AppSettings) => matcherOf([inline].flat()))
