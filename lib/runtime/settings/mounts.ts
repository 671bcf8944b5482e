// Settles the options of mounts: directories that other tools fill, by URL path.
import { join } from 'node:path'
import { isDirectory, statIfThere } from '../files/at-start.ts'
import type { Boundary } from '../files/containment.ts'
import { absolutePath, withDot } from '../files/paths.ts'
import { CACHE_CONTROL } from '../http/cache-control.ts'
import { isFieldValue, TOKEN } from '../http/fields.ts'
import { checked, entriesGiven, flag, isRecord, optionError } from '../check-options.ts'
import { hasSources, settlePath, type Apps } from './apps.ts'
import { settleMountExtras } from './extra-options.ts'
import { hasFixedUrl } from '../urls/spelling.ts'
import { headers, type CommonSettings } from './table.ts'
import type {
  ByPath,
  FallbackPage,
  HeaderValues,
  KoaAssetsOptions,
  MountOptions
} from './options.ts'
import { manifestFile, mayBeServed, requireServable } from './public-directory.ts'

export type MountSettings = ReturnType<typeof settleMount>

type Surroundings = CommonSettings & Apps

export function settleMounts(project: Surroundings, mounts: KoaAssetsOptions['mounts']) {
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

interface Changes {
  readonly manifest?: string | undefined
  readonly isServed?: boolean
  /** The function that makes the page from the file of `fallback`; false if there is no page. */
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
  // The directory need not exist during precompile, as it may be created later.
  if (isServed && !isPrecompile) {
    const what = `the mount ${urlPath || '/'} is ${dir}`
    // There may be no build in development, or in tests of a back end.
    const mayBeMissing = !isBuilt || ['development', 'test'].includes(env)
    requireServable(project, dir, what, 'mount-unusable', mayBeMissing)
  }
  const served: Boundary = {
    root,
    dir,
    symlinks,
    mayLeadTo: real => mayBeServed(project, real),
    isExpected: !isDirectory(dir)
  }
  return Object.freeze({
    ...added,
    /** The decoded URL path: `/static`; the empty string for `/`. */
    urlPath,
    /** The encoded path that a proxy removes from the start of the URL path; empty for none. */
    base,
    dir,
    place: Object.freeze(served),
    /** The prefix whose paths the mount does not serve, because the apps do; undefined for none. */
    excludedPrefix: publishesInto(project, urlPath, dir) ? project.prefix : undefined,
    /** False if something else, such as a dev server, responds instead of the directory. */
    isServed,
    /** The absolute path of the manifest; undefined if there is none, or the directory is not served. */
    manifest: isServed ? manifest : undefined,
    /** Tells whether the file at a path never changes; undefined if the manifest decides. */
    isImmutable: matcher(immutable === true ? hasFreeUrl : immutable, 'immutable', place),
    cacheControl: valueByPath(options.cacheControl, value =>
      checked(value, CACHE_CONTROL, 'cacheControl', place)
    ),
    headers: headersByPath(options.headers, place),
    exclude: options.exclude === undefined ? undefined : [options.exclude].flat(),
    index: options.index,
    /** The endings that are tried in this order: nothing, then the extensions that a URL may lack. */
    endings: Object.freeze(['', ...(options.extensions ?? []).map(withDot)]),
    /** The file of `fallback`, below the directory; undefined for none. */
    fallback: page === false ? undefined : shell,
    /** The function that makes the page of `fallback`; it replaces the file. */
    fallbackPage: typeof file === 'function' ? file : page || undefined,
    isExcepted: matcher(except, 'except', `${place}fallback.`),
    revalidate: options.revalidate ?? (isBuilt ? undefined : 0)
  })
}

// The apps may publish into the directory at the same URLs: only they know how long such a file may be cached.
function publishesInto(project: Surroundings, urlPath: string, dir: string): boolean {
  const { apps, publicDir, prefix } = project
  const below = `${prefix}/`.startsWith(`${urlPath}/`) && prefix.slice(urlPath.length)
  if (below === false || join(dir, below) !== join(publicDir, prefix)) return false
  // A project without assets of its own may have an unrelated folder of that name, such as that of a build.
  const isPublished = apps.length > 0 && statIfThere(manifestFile(project)) !== undefined
  return isPublished || apps.some(hasSources)
}

/** Returns the value for a decoded URL path; undefined if the default applies. */
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
    return path => {
      const value: unknown = (given as (path: string) => unknown)(path)
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

const FIELDS = 'an object of fields, their names of letters, digits and hyphens'

// These fields are computed from the file, the request or the connection.
const COMPUTED =
  /^(?:content-(?:length|encoding|range)|accept-ranges|etag|last-modified|transfer-encoding|connection|date|trailer|keep-alive|upgrade|proxy-connection)$/i

/** An object is copied, so later changes have no effect. */
export function headersByPath(given: ByPath<HeaderValues> | undefined, place = '') {
  return valueByPath(given, values => {
    // A promise, a Map and an instance of Headers would lose their fields; this recognises them in any realm.
    const isPlain = isRecord(values) && Object.prototype.toString.call(values) === '[object Object]'
    if (!isPlain) throw optionError('headers', headers.expected, values, place)
    for (const [name, value] of Object.entries(values)) {
      if (COMPUTED.test(name)) {
        throw new TypeError(
          `${place}headers sets ${name}, which is computed for each response: remove it`
        )
      }
      if (!TOKEN.test(name)) throw optionError('headers', FIELDS, name, place)
      if (!isFieldValue(value))
        throw optionError(name, 'Latin-1 text without line breaks', value, `${place}headers.`)
    }
    return Object.freeze({ ...(values as HeaderValues) })
  })
}
