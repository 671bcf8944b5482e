// Reads the manifest of a build, whichever bundler wrote it, and addresses the files that it names.
import { AssetError, reasonOf } from '../../../runtime/errors.ts'
import { isRecord } from '../../../runtime/check-options.ts'
import type { MountSettings } from '../../../runtime/settings/mounts.ts'
import { encodeAsImported, encodeUrl } from '../../../runtime/urls/spelling.ts'
import type { Located } from '../../../runtime/views/asset-url.ts'
import { withoutQuery, type Bundle } from './bundle.ts'
import { readEsbuild } from './esbuild.ts'
import { readVite } from './vite.ts'
import { readWebpack } from './webpack.ts'

export type BundleMount = Pick<MountSettings, 'dir' | 'urlPath' | 'base'> & {
  readonly manifest: string
}

export function addressAt(urlPath: string, file: string): Located {
  const path = withoutQuery(file)
  const target = encodeAsImported(`${urlPath}/${path}`) + encodeUrl(file.slice(path.length))
  return { path: target, target }
}

export const REMEDY =
  'build with Vite (`vite build` with build.manifest: true), or write to it what esbuild (metafile: true) ' +
  'or webpack and Rspack (stats.toJson({ all: false, entrypoints: true, assets: true, cachedAssets: true })) return'

/** @throws AssetError for anything but the manifest of a build with at least one entry */
export function readBundle(bytes: Buffer, { manifest, dir, urlPath, base }: BundleMount): Bundle {
  try {
    const json: unknown = JSON.parse(bytes.toString())
    const bundle = isRecord(json)
      ? (readWebpack(json, base + urlPath) ?? readEsbuild(json, dir) ?? readVite(json))
      : undefined
    if (!bundle) throw new TypeError('no known bundler writes this shape')
    if (bundle.entries.size > 0) return bundle
    throw new TypeError('it has no entry')
  } catch (error) {
    const message = `${manifest} is not a bundler's manifest (${reasonOf(error)}): ${REMEDY}`
    throw new AssetError('manifest-broken', message, { cause: error })
  }
}
