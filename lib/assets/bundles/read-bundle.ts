// Recognises a bundler's manifest by its shape.
import { AssetError, reasonOf } from '../../errors.ts'
import { isRecord } from '../../options.ts'
import type { MountSettings } from '../settings/mounts.ts'
import type { Bundle } from './bundle.ts'
import { readEsbuild } from './esbuild.ts'
import { readVite } from './vite.ts'
import { readWebpack } from './webpack.ts'

const REMEDY =
  'build with Vite (`vite build` with build.manifest: true), or write to it what esbuild (metafile: true) ' +
  'or webpack and Rspack (stats.toJson({ all: false, entrypoints: true, assets: true, cachedAssets: true })) return'

export type BundleMount = Pick<MountSettings, 'dir' | 'urlPath'> & { readonly manifest: string }

export function bundleMissing({ manifest }: BundleMount): AssetError {
  return new AssetError('manifest-missing', `there is no manifest ${manifest}: ${REMEDY}`)
}

/** @throws AssetError for anything but the manifest of a build with at least one entry */
export function readBundle(bytes: Buffer, mount: BundleMount): Bundle {
  try {
    const manifest: unknown = JSON.parse(bytes.toString())
    const bundle = recognize(manifest, mount)
    if (!bundle) throw new TypeError('its shape is of no bundler that is known')
    if (bundle.names.length > 0) return bundle
    throw new TypeError('it has no entry')
  } catch (error) {
    const message = `${mount.manifest} is not a bundler's manifest (${reasonOf(error)}): ${REMEDY}`
    throw new AssetError('manifest-broken', message, { cause: error })
  }
}

function recognize(manifest: unknown, { dir, urlPath }: BundleMount): Bundle | undefined {
  if (!isRecord(manifest)) return undefined
  return readWebpack(manifest, urlPath) ?? readEsbuild(manifest, dir) ?? readVite(manifest)
}
