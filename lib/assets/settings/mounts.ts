// The settings of mounts: directories that something else filled, by their URL paths.
import { join } from 'node:path'
import { AssetError } from '../../errors.ts'
import { isDirectory, statIfThere } from '../../files/at-start.ts'
import type { ServedPlace } from '../../files/containment.ts'
import { absolutePath } from '../../files/paths.ts'
import { isFieldValue, TOKEN } from '../../http/fields.ts'
import { checked, entriesGiven, flag, isRecord, optionError } from '../../check-options.ts'
import { withDot } from '../compilers/compiler.ts'
import { hasSources, settlePath, type Apps } from './app-settings.ts'
import { settleMountExtras } from './extra-options.ts'
import { hasFixedUrl } from '../urls/fingerprint.ts'
import {
  headers,
  type ByPath,
  type FallbackPage,
  type HeaderValues,
  type MountOptions
} from './mount-options.ts'
import type { Project } from './option-table.ts'
import type { KoaAssetsOptions } from './options.ts'
import { manifestFile, mayBeServed, whyPrivate } from './public-directory.ts'

export type MountSettings = ReturnType<typeof settleMount>

type Surroundings = Project & Apps

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

/** What the options of extras change in a mount. */
interface Changes {
  readonly manifest?: string | undefined
  readonly isServed?: boolean
  /** Made from the file of `fallback`; false: there is none. */
  readonly page?: FallbackPage | false | undefined
}

function settleMount(project: Surroundings, path: string, options: MountOptions) {
  const { root, env, base, isPrecompile } = project
  const { immutable, fallback, symlinks = project.symlinks } = options
  const dir = absolutePath(root, options.dir)
  const urlPath = settlePath(path, 'mounts', "an object with URL paths such as '/static'")
  const place = `mounts.${path}.`
  const { file, except } =
    typeof fallback === 'object' ? fallback : { file: fallback || undefined, except: undefined }
  const shell = typeof file === 'string' ? file : undefined
  const added = settleMountExtras(options, { root, env, base, urlPath, place, fallback: shell })
  const { manifest, isServed = true, page }: Changes = added
  const isBuilt = manifest !== undefined
  // A directory may be made after precompile.
  if (isServed && !isPrecompile) requireServable(project, urlPath, isBuilt, dir)
  const served: ServedPlace = {
    root,
    dir,
    symlinks,
    mayLeadTo: real => mayBeServed(project, real),
    isExpected: !isDirectory(dir)
  }
  return Object.freeze({
    ...added,
    /** Decoded: `/static`; the empty string for `/`. */
    urlPath,
    /** What a proxy cuts off in front of the URL path, encoded; empty for nothing. */
    base,
    /** Absolute. */
    dir,
    place: Object.freeze(served),
    /** The path under which the mount serves nothing; undefined for none. */
    published: publishesInto(project, urlPath, dir) ? project.prefix : undefined,
    /** Whether the directory is served: nothing else responds in its place. */
    isServed,
    /** Absolute: what says which files are in the directory; undefined when there is none, and if it is not served. */
    manifest: isServed ? manifest : undefined,
    /** Undefined: by the manifest. */
    isImmutable: matcher(immutable === true ? hasFreeUrl : immutable, 'immutable', place),
    cacheControl: valueByPath(options.cacheControl, value =>
      checked(value, CACHE_CONTROL, 'cacheControl', place)
    ),
    headers: headersByPath(options.headers, place),
    /** Globs; undefined for none. */
    exclude: options.exclude === undefined ? undefined : [options.exclude].flat(),
    index: options.index,
    /** Each with its dot. */
    extensions: Object.freeze(options.extensions?.map(withDot) ?? []),
    /** Below the directory; undefined for none. */
    fallback: page === false ? undefined : shell,
    /** In place of that file. */
    fallbackPage: typeof file === 'function' ? file : page || undefined,
    /** Whether a path never gets the fallback. */
    isExcepted: matcher(except, 'except', `${place}fallback.`),
    /** In seconds; undefined: that of `public`. */
    revalidate: options.revalidate ?? (isBuilt ? undefined : 0)
  })
}

/** Whether the apps publish into the directory at the same URLs: only they know how long such a file lasts. */
function publishesInto(project: Surroundings, urlPath: string, dir: string): boolean {
  const { apps, publicDir, prefix } = project
  const below = `${prefix}/`.startsWith(`${urlPath}/`) && prefix.slice(urlPath.length)
  if (below === false || join(dir, below) !== join(publicDir, prefix)) return false
  // A project without assets of its own may have a folder of that name as well, such as that of a build.
  return (
    apps.some(hasSources) || (apps.length > 0 && statIfThere(manifestFile(project)) !== undefined)
  )
}

function requireServable(project: Surroundings, path: string, isBuilt: boolean, dir: string): void {
  // While a front end is worked on, and in tests of what is behind it, there may be no build.
  const mayBeMissing = !isBuilt || ['development', 'test'].includes(project.env)
  const isThere = statIfThere(dir)?.isDirectory() ?? mayBeMissing
  const reason = isThere ? whyPrivate(project, dir) : 'is not a directory'
  if (reason === undefined) return
  const advice = isThere
    ? 'everything in a mount is served: mount a directory of its own'
    : 'build it first, or correct the path'
  const message = `the mount ${path || '/'} is ${dir}, which ${reason}: ${advice}`
  throw new AssetError('mount-unusable', message)
}

/** By decoded URL path; undefined: the default. */
type ValueByPath<Value> =
  | (((path: string) => Value | undefined) & { readonly isSameForAll?: true })
  | undefined

/** @param read returns the value, or throws a TypeError: at start, or for a function when it is called */
function valueByPath<Value>(
  given: ByPath<Value> | undefined,
  read: (value: unknown) => Value
): ValueByPath<Value> {
  if (given === undefined) return undefined
  if (typeof given === 'function') {
    const choose = given as (path: string) => unknown
    return path => {
      const value = choose(path)
      return value === undefined ? undefined : read(value)
    }
  }
  const value = read(given)
  return Object.assign(() => value, { isSameForAll: true } as const)
}

function matcher(given: RegExp | ByPath<boolean> | undefined, name: string, place: string) {
  if (typeof given !== 'object')
    return valueByPath(given, value => checked(value, flag, name, place))
  // `search` ignores `lastIndex`, which the flags g and y would carry from one path to the next.
  return (path: string) => path.search(given) !== -1
}

const hasFreeUrl = (path: string) => !hasFixedUrl(path)

const CACHE_CONTROL = {
  expected: "a value such as 'public, max-age=3600'",
  holds: (value: unknown): value is string => value !== '' && isFieldValue(value)
}

// They are computed from the file, the request or the connection.
const COMPUTED =
  /^(?:content-(?:length|encoding|range)|accept-ranges|etag|last-modified|transfer-encoding|connection|date|trailer|keep-alive|upgrade|proxy-connection)$/i

/**
 * The option `headers`; what is given is copied, so later changes have no effect.
 * @param place of the option, such as `mounts./static.`
 */
export function headersByPath(
  given: ByPath<HeaderValues> | undefined,
  place = ''
): ValueByPath<HeaderValues> {
  return valueByPath(given, values => {
    // Not a promise, a Map or an instance of Headers, whose fields would be lost. Of any realm.
    const isPlain = isRecord(values) && Object.prototype.toString.call(values) === '[object Object]'
    if (!isPlain) throw optionError('headers', headers.expected, values, place)
    for (const [name, value] of Object.entries(values)) {
      if (COMPUTED.test(name)) {
        throw new TypeError(
          `${place}headers sets ${name}, which is computed for each response: remove it`
        )
      }
      if (!TOKEN.test(name)) throw optionError('headers', 'an object of fields', values, place)
      if (!isFieldValue(value))
        throw optionError(name, 'text without line breaks', value, `${place}headers.`)
    }
    return Object.freeze({ ...(values as HeaderValues) })
  })
}
