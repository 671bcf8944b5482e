// Adds helpers for images, films and sounds to views, with the sizes of images, and SVG files as elements of pages.
import type { AppSource, Extra } from '../../runtime/app/extra.ts'
import type { AppSettings } from '../../runtime/settings/settings.ts'
import { memoized } from '../../runtime/concurrency.ts'
import { CompileError } from '../../runtime/errors.ts'
import { matcherOf, pathFrom } from '../../runtime/files/paths.ts'
import { helpersOf, WrittenIcons } from './media.ts'

export const media: Extra = {
  name: 'media',
  run({ env, apps }) {
    // The elements come from the manifest in production, so that no page waits for the disk.
    if (env === 'production' && apps.some(app => app.inline !== undefined && !app.fingerprint))
      throw new TypeError("inline needs fingerprints in production: remove 'fingerprint: false'")
    if (env === 'development' && apps.length > 0) return new WrittenIcons()
    return { helpers: helpersOf(undefined, env) }
  },
  details: {
    isFor: name => /\.(?:apng|avif|gif|jpe?g|jxl|png|svg|webp)$/i.test(name),
    async load(apps) {
      const { sizeOf } = await import('./image-size.ts')
      const { readSvg } = apps.some(app => globsOf(app).length > 0) ? await import('./svg.ts') : {}
      return (bytes, file, asset) => {
        if (!asset || !isInlined(asset)) return { imageSize: sizeOf(bytes) }
        const isNamed = asset.app.inline !== undefined
        const svg = isNamed ? readSvg?.(bytes, file) : reasonOr(() => readSvg?.(bytes, file))
        return { imageSize: sizeOf(bytes), ...(svg && { svg }) }
      }
    }
  }
}

/** A file that only the default names may be used just as an image: only pages that inline it get the error. */
function reasonOr<T>(read: () => T): T | string {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof CompileError)) throw error
    const { line, column } = error.location
    return [line, column, ` ${error.reason}`].filter(part => part !== undefined).join(':')
  }
}

const globsOf = ({ inline = 'icons/**' }: AppSettings) => [inline].flat()

export function isInlined({ app, source }: AppSource): boolean {
  const { name, file, compiler, directory } = source
  if (compiler || !/\.svg$/i.test(name)) return false
  const isOwn = app.sources.some(({ dir }) => dir === directory)
  // `assets/icons/cart.svg` has the name `cart.svg`.
  const names = [name, pathFrom(directory, file)]
  return isOwn ? names.some(matcherFor(app)) : globsOf(app).includes(name)
}

const matcherFor = memoized((app: AppSettings) => matcherOf(globsOf(app)))
