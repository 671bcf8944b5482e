// The settings of mounts: directories that something else filled, by their URL paths.
import { join, resolve } from 'node:path'
import { isDirectory, statIfThere } from '../../files/at-start.ts'
import type { ServedPlace, Symlinks } from '../../files/containment.ts'
import { entriesGiven, flag, optionError } from '../../options.ts'
import { AssetError } from '../../errors.ts'
import { withDot } from '../compilers/compiler.ts'
import { hasSources, settlePath } from './app-settings.ts'
import { encodeAsImported } from '../urls/encode.ts'
import { hasFixedUrl } from '../urls/fingerprint.ts'
import { manifestFile } from './manifest-file.ts'
import type { FallbackOptions, MountOptions } from './mount-options.ts'
import type { KoaAssetsOptions } from './options.ts'
import type { Situation } from './option-table.ts'
import { mayBeServed, whyPrivate, type Project } from './public-directory.ts'
import {
  cacheControl,
  checkedBy,
  headersByPath,
  valueByPath,
  type ByPath,
  type ValueByPath
} from './values-by-path.ts'

export type MountSettings = ReturnType<typeof settleMount>

interface Surroundings extends Project, Situation {
  readonly symlinks: Symlinks
  readonly publicDir: string
  readonly prefix: string
}

/** @returns the longest URL path first */
export function settleMounts(
  project: Surroundings,
  mounts: KoaAssetsOptions['mounts']
): readonly MountSettings[] {
  const settled = entriesGiven(mounts)
    .map(([path, given]) =>
      settleMount(project, path, typeof given === 'string' ? { dir: given } : given)
    )
    .toSorted((a, b) => b.urlPath.length - a.urlPath.length)
  const paths = settled.map(({ urlPath }) => urlPath)
  const twice = paths.find((path, at) => paths.indexOf(path) !== at)
  if (twice === undefined) return Object.freeze(settled)
  throw optionError('mounts', 'an object with each URL path once', `${twice}/`)
}

function settleMount(project: Surroundings, path: string, options: MountOptions) {
  const { root, env, isPrecompile } = project
  const dir = resolve(root, options.dir)
  const urlPath = settlePath(path, 'mounts', "an object with URL paths such as '/static'")
  const place = `mounts.${path}.`
  const dev = env === 'development' ? devServer(options.dev, urlPath, place) : undefined
  const { manifest, symlinks = project.symlinks, fallback } = options
  const { file, except }: Partial<FallbackOptions> =
    typeof fallback === 'object' ? fallback : (fallback && { file: fallback }) || {}
  // A directory may be made after precompile.
  if (dev === undefined && !isPrecompile) checkDirectory(project, urlPath || '/', options, dir)
  const served: ServedPlace = {
    root,
    dir,
    symlinks,
    mayLeadTo: real => mayBeServed(project, real),
    isExpected: !isDirectory(dir)
  }
  const isImmutable: ValueByPath<boolean> =
    options.immutable === true
      ? path => !hasFixedUrl(path)
      : matchedBy(options.immutable, 'immutable', place)
  return Object.freeze({
    /** Decoded: `/static`; the empty string for `/`. */
    urlPath,
    /** Absolute. */
    dir,
    place: Object.freeze(served),
    /** The path under which the mount serves nothing; undefined for none. */
    published: publishesInto(project, urlPath, dir) ? project.prefix : undefined,
    /** Absolute; undefined when there is none, and while `dev` is in force. */
    manifest: manifest === undefined || dev !== undefined ? undefined : resolve(root, manifest),
    /** An origin without a trailing slash, `true` for that of the page; undefined unless it is in force. */
    dev,
    /** Undefined: by the manifest. */
    isImmutable,
    cacheControl: valueByPath(options.cacheControl, checkedBy(cacheControl, 'cacheControl', place)),
    headers: headersByPath(options.headers, place),
    index: options.index,
    /** Each with its dot. */
    extensions: Object.freeze(options.extensions?.map(withDot) ?? []),
    /** Below the directory; undefined for none. */
    fallback: typeof file === 'string' ? file : undefined,
    /** In place of that file. */
    fallbackPage: typeof file === 'function' ? file : undefined,
    /** Whether a path never gets the fallback. */
    isExcepted: matchedBy(except, 'except', `${place}fallback.`),
    /** In seconds; undefined: that of `public`. */
    revalidate: options.revalidate ?? (manifest === undefined ? 0 : undefined)
  })
}

/** Whether the apps publish into the directory at the same URLs: only they know how long such a file lasts. */
function publishesInto(project: Surroundings, urlPath: string, dir: string): boolean {
  const { apps, publicDir, prefix } = project
  const below = `${prefix}/`.startsWith(`${urlPath}/`) && prefix.slice(urlPath.length)
  if (below === false || join(dir, below) !== join(publicDir, prefix)) return false
  // A project without assets of its own may have a folder of that name as well, such as Vite's.
  return (
    apps.some(hasSources) || (apps.length > 0 && statIfThere(manifestFile(project)) !== undefined)
  )
}

function devServer(dev: MountOptions['dev'], urlPath: string, place: string) {
  if (typeof dev === 'string') return dev.replace(/\/$/, '') || undefined
  if (typeof dev !== 'object') return dev || undefined
  const base = encodeAsImported(`${urlPath}/`)
  if (dev.config.base === base) return dev
  throw optionError('dev', `a dev server with the base '${base}'`, dev.config.base, place)
}

function checkDirectory(
  project: Surroundings,
  path: string,
  options: MountOptions,
  dir: string
): void {
  const stats = statIfThere(dir)
  const { env } = project
  // While a front end is worked on, and in tests of what is behind it, there may be no build.
  const mayBeMissing = options.manifest === undefined || env === 'development' || env === 'test'
  const isThere = stats?.isDirectory() ?? mayBeMissing
  const reason = isThere ? whyPrivate(project, dir) : 'is not a directory'
  if (reason === undefined) return
  const advice = isThere
    ? 'everything in a mount is served: mount a directory of its own'
    : 'build it first, or correct the path'
  throw new AssetError('mount-unusable', `the mount ${path} is ${dir}, which ${reason}: ${advice}`)
}

function matchedBy(
  given: RegExp | ByPath<boolean> | undefined,
  name: string,
  place: string
): ValueByPath<boolean> {
  if (typeof given !== 'object') return valueByPath(given, checkedBy(flag, name, place))
  // `search` ignores `lastIndex`, which the flags g and y would carry from one path to the next.
  return path => path.search(given) !== -1
}
