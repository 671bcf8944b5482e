// The directories that are served differ in these values: public, each mount, and those of `ctx.sendFile`.
import { join, sep } from 'node:path'
import { withoutCodingExtension } from '../../files/codings.ts'
import type { Boundary } from '../../files/containment.ts'
import { DIGEST_PATTERN } from '../../files/digest.ts'
import { realpathOf } from '../../files/disk.ts'
import { excluderOf, isInside, pathFrom } from '../../files/paths.ts'
import { isCacheControl } from '../../http/cache-control.ts'
import { contentType } from '../../http/fields.ts'
import type { MountSettings, Settings } from '../../settings/settings.ts'
import { encodeAsImported, encodePath, splitFingerprint, withoutFingerprint, withoutHash, type Fingerprinted, type WithoutHash } from '../../urls/spelling.ts'
import type { Fields } from '../response-fields.ts'
import { isBelow, type Wanted } from '../request-path.ts'

export interface ServedDirectory {
  readonly place: Boundary
  /** The decoded path: `/static`; the empty string for `/`. */
  readonly urlPath: string
  /** Prefixes a path in the memory that all directories share; no path contains a line break or a NUL. */
  readonly memoryKey: string
  /** Seconds for which a stat result is reused. */
  readonly revalidate: (wanted: Pick<Wanted, 'app' | 'path'>) => number
  /** Seconds for which a miss is trusted; 0 where a request may publish the file. */
  readonly revalidateMiss: (wanted: Pick<Wanted, 'app' | 'path'>) => number
  /** True if the request itself may publish a file: compressed copies beside it do not keep up. */
  readonly isPublishedOnRequest?: (wanted: Wanted) => boolean
  /** Tells whether a file is never served. @param file absolute, as named or real */
  readonly isHidden?: ((file: string) => boolean | Promise<boolean>) | undefined
  /** The fingerprint in a name, which the bytes must have. */
  readonly fingerprintOf?: (wanted: Wanted) => Fingerprinted | undefined
  /**
   * Tells whether 32 hex characters that are not the digest of the bytes are part of the name itself.
   * @param plain the path without them
   */
  readonly isOrdinary?: ((wanted: Wanted, plain: string) => Promise<boolean>) | undefined
  /** @param isVerified whether the bytes have the digest in the name */
  readonly fieldsOf: (wanted: Wanted, isVerified: boolean) => SharedFields
}

/** The representations of one file share these values. */
export interface SharedFields {
  readonly type: string
  readonly cacheControl: string
  readonly crossOrigin: CrossOrigin | undefined
  /** The URL path, with the base, around the hash in it; undefined for a file that may change at its URL. */
  readonly around: WithoutHash | undefined
  /** The fields by which clients know that there are deltas. */
  readonly ofDeltas?: Fields
  /** The fields that the application adds; they replace ours. */
  readonly more: Fields
  /** The date in milliseconds, whole seconds; `false` for none, undefined for that of the file's mtime. */
  readonly lastModified?: number | false | undefined
}

/**
 * Pages of which other origins may read a file: of any, or in development of this machine and of the names in
 * `live.hosts`, since source maps contain the sources.
 */
export type CrossOrigin = '*' | { readonly hosts: ReadonlySet<string>; readonly origin?: string }

/** Browsers fetch scripts, fonts and tags with `integrity` from a host in CORS mode. */
function crossOriginOf({ env, host, live }: Settings): CrossOrigin | undefined {
  if (host === undefined) return undefined
  return env === 'development' ? { hosts: live?.hosts ?? new Set() } : '*'
}

/** The file for a decoded URL path under the directory's; absolute. */
export function fileIn(
  { place, urlPath }: Pick<ServedDirectory, 'place' | 'urlPath'>,
  path: string
): string {
  const below = path.slice(urlPath.length)
  // In a canonical path there is nothing to normalize.
  return sep === '/' && place.dir !== sep ? place.dir + below : join(place.dir, below)
}

// RFC 8246: the bytes at this URL never change.
const IMMUTABLE = 'public, max-age=31536000, immutable'

/** Returns the Cache-Control of a file that may change at its URL. */
function revalidated(isCompiled: boolean): string {
  return isCompiled ? 'no-cache' : 'public, max-age=0, must-revalidate'
}

/** Files that the apps publish, and those that were put there by hand. */
export function publicDirectory(
  settings: Settings,
  { isHidden, isOrdinary }: Pick<ServedDirectory, 'isHidden' | 'isOrdinary'>
): ServedDirectory {
  const { apps, base, prefix, publicApp } = settings
  const crossOrigin = crossOriginOf(settings)
  const top = apps.some(({ compile }) => compile) ? prefix.split('/')[1] : undefined
  return {
    place: settings.place,
    urlPath: '',
    memoryKey: '',
    revalidate: ({ app }) => app.revalidate,
    revalidateMiss: ({ app, path }) =>
      app.compile || (top !== undefined && isBelow(path, `/${top}`)) ? 0 : app.revalidate,
    isPublishedOnRequest: ({ app }) => app.compile,
    isHidden,
    fingerprintOf: ({ app, path }) => (app === publicApp ? undefined : splitFingerprint(path)),
    isOrdinary,
    fieldsOf: ({ app, path }, isVerified) => ({
      type: contentType(path),
      cacheControl: isVerified ? IMMUTABLE : revalidated(app.compile),
      crossOrigin: path.startsWith(`${prefix}/`) ? crossOrigin : undefined,
      around: isVerified ? withoutFingerprint(base + encodePath(path)) : undefined,
      more: Object.entries(settings.headers?.(path) ?? {})
    })
  }
}

/** Tells whether the name of a decoded URL path contains a hash of the content. */
export type IsHashed = (mount: MountSettings, path: string) => boolean

/** Returns the Cache-Control of a single-page application's page: something else may be at its URL tomorrow. */
export function pageCacheControl({ cacheControl }: MountSettings, path: string): string {
  const given = cacheControl?.(path)
  return given !== undefined && isUnstored(given) ? given : 'no-cache'
}

const DELTA = new RegExp(`\\.${DIGEST_PATTERN}\\.dcz$`)

/** Compressed copies of what is excluded, and deltas to it, as well. */
function excluding(
  globs: readonly string[],
  dir: string,
  isHidden: ServedDirectory['isHidden']
): ServedDirectory['isHidden'] {
  const isExcluded = excluderOf(globs)
  return async file => {
    // A link to what is excluded is known by its real path, which may begin otherwise than that of the directory.
    const base = isInside(dir, file) ? dir : ((await realpathOf(dir)) ?? dir)
    const path = pathFrom(base, withoutCodingExtension(file.replace(DELTA, '')))
    return isExcluded(path) || ((await isHidden?.(file)) ?? false)
  }
}

const isUnstored = (value: string) => /\bno-store\b/i.test(value)

/** A directory that something else filled. */
export function mountDirectory(
  settings: Settings,
  mount: MountSettings,
  { isHidden, isHashed }: Pick<ServedDirectory, 'isHidden'> & { readonly isHashed: IsHashed }
): ServedDirectory {
  const { base, publicApp } = settings
  const { urlPath, place, exclude } = mount
  const crossOrigin = crossOriginOf(settings)
  const revalidate = () => mount.revalidate ?? publicApp.revalidate
  const shells = new Set(
    settings.mounts.map(({ dir, fallback }) => fallback && join(dir, fallback))
  )
  return {
    place,
    urlPath,
    memoryKey: `${urlPath}\n`,
    revalidate,
    revalidateMiss: revalidate,
    isHidden: exclude ? excluding(exclude, place.dir, isHidden) : isHidden,
    fieldsOf({ path }) {
      const isPage = shells.has(fileIn(mount, path))
      const isFixed = !isPage && (mount.isImmutable?.(path) ?? isHashed(mount, path))
      const lasting = isFixed ? IMMUTABLE : mount.cacheControl?.(path)
      return {
        type: contentType(path),
        cacheControl: isPage
          ? pageCacheControl(mount, path)
          : (lasting ?? revalidated(publicApp.compile)),
        crossOrigin: mount.manifest === undefined ? undefined : crossOrigin,
        around: isFixed ? withoutHash(base + encodeAsImported(path)) : undefined,
        // No field that holds for all files gives the page a lifetime.
        more: [settings.headers, mount.headers].flatMap(values =>
          Object.entries(values?.(path) ?? {}).filter(
            ([name, value]) =>
              !(isPage && values?.isSameForAll && isCacheControl(name)) || isUnstored(value)
          )
        )
      }
    }
  }
}

/** A directory from which routes send single files. @param root absolute */
export function fileRoot(settings: Settings, root: string): ServedDirectory {
  const { root: project, symlinks } = settings
  return {
    place: { root: project, dir: root, symlinks },
    urlPath: '',
    memoryKey: `${root}\0`,
    // A route may just have written the file.
    revalidate: () => 0,
    revalidateMiss: () => 0,
    fieldsOf: ({ path }) => ({
      type: contentType(path),
      // The route may have sent it to one visitor only.
      cacheControl: 'private, no-cache',
      crossOrigin: undefined,
      // Its URL belongs to the route.
      around: undefined,
      more: []
    })
  }
}
