// All directories that are served. A path is looked up in the mounts, the longest URL path first, then in public.
import { join } from 'node:path'
import { firstAnswer } from '../concurrency.ts'
import { futureRealpath } from '../files/at-start.ts'
import { withoutCodingExtension } from '../files/codings.ts'
import { DIGEST_PATTERN } from '../files/digest.ts'
import { realpathOf } from '../files/disk.ts'
import { excluderOf, folded, isInside, pathFrom } from '../files/paths.ts'
import { isCacheControl } from '../http/cache-control.ts'
import { contentType } from '../http/fields.ts'
import { manifestFile } from '../settings/public-directory.ts'
import type { MountSettings, Settings } from '../settings/settings.ts'
import {
  encodeAsImported,
  encodePath,
  splitFingerprint,
  withoutFingerprint,
  withoutHash
} from '../urls/spelling.ts'
import { fileIn, makeMemory, type Directory, type Found, type Sender } from './file.ts'
import { ServedFiles } from './files.ts'
import { hasOneSpelling, isBelow, wantedAt, type Wanted } from './request.ts'
import type { CrossOrigin } from './variant.ts'

const MAX_ROOTS = 100

interface Parts extends Pick<Directory, 'isOrdinary'> {
  readonly isHashed: IsHashed
  readonly sender?: Sender | undefined
}

export class Directories {
  readonly public: ServedFiles
  readonly #settings: Settings
  readonly #filesOf: (directory: Directory) => ServedFiles
  readonly #roots = new Map<string, ServedFiles>()
  readonly #mounts: ReadonlyMap<MountSettings, ServedFiles>

  constructor(settings: Settings, { isOrdinary, isHashed, sender }: Parts) {
    const { mounts } = settings
    const memory = makeMemory(settings.memory)
    this.#settings = settings
    this.#filesOf = directory => new ServedFiles(directory, memory, settings, sender)
    const manifests = mounts.flatMap(({ manifest }) => manifest ?? [])
    // Our own manifest is hidden by its URL path in `public`, but not where `public` is mounted as well.
    const isHidden = hides(mounts.length > 0 ? [...manifests, manifestFile(settings)] : [])
    this.public = this.#filesOf(publicDirectory(settings, { isOrdinary, isHidden }))
    // The other mounts belong to dev servers, which have their current files.
    const served = mounts.filter(({ isServed }) => isServed)
    const directoryOf = (mount: MountSettings) =>
      mountDirectory(settings, mount, { isHidden, isHashed })
    this.#mounts = new Map(served.map(mount => [mount, this.#filesOf(directoryOf(mount))]))
  }

  /** Returns the file of a raw path, or `missing` if no directory has it, as far as known without reading the disk. */
  recall(rawPath: string, mounts: Settings['mounts']): Found | 'missing' {
    for (const mount of mounts) {
      const files = this.#mounts.get(mount)
      if (!files) continue
      // The path may be redirected to the index file.
      if (rawPath === mount.urlPath) return undefined
      for (const ending of mount.endings) {
        const known = files.recall(rawPath + ending)
        if (known !== 'missing') return known
      }
    }
    if (this.#settings.servesPublic) return this.public.recall(rawPath)
    // A mount's path is decoded.
    return this.#mounts.size === 0 || hasOneSpelling(rawPath) ? 'missing' : undefined
  }

  findInMounts(wanted: Wanted): Promise<Found> | Found {
    const places = this.#placesOf(wanted)
    if (places.length === 0) return undefined
    return firstAnswer(places, ([files, placed]) => files.find(placed))
  }

  /** Tells whether the path, with a slash at its end, is that of a folder with an index file. */
  async hasIndex(wanted: Wanted): Promise<boolean> {
    if (wanted.isFolder || this.#mounts.size === 0) return false
    const folder = wantedAt(`${wanted.path}/`, this.#settings, true)
    return (await this.findInMounts(folder)) !== undefined
  }

  /** Returns the files that routes send from a directory. @param root absolute */
  rootAt(root: string): ServedFiles {
    const files = this.#roots.get(root) ?? this.#filesOf(fileRoot(this.#settings, root))
    if (this.#roots.size >= MAX_ROOTS && !this.#roots.has(root)) this.#roots.clear()
    this.#roots.set(root, files)
    return files
  }

  /** Lists the mounts that may have a path, each with the file that it asks for there. */
  #placesOf(wanted: Wanted): (readonly [ServedFiles, Wanted])[] {
    return wanted.mounts.flatMap(mount => {
      const files = this.#mounts.get(mount)
      if (!files || wanted.path === mount.urlPath) return []
      const rest = wanted.isFolder ? [mount.index ?? []].flat() : mount.endings
      return rest.map(
        end => [files, { ...wanted, path: wanted.path + end, isFolder: false }] as const
      )
    })
  }
}

/** Returns a check for these files, compressed copies and other spellings included; undefined if there are none. */
function hides(files: readonly string[]): Directory['isHidden'] {
  if (files.length === 0) return undefined
  const hidden = new Set(files.flatMap(file => [file, futureRealpath(file)]).map(folded))
  return file => hidden.has(folded(withoutCodingExtension(file)))
}

/** Returns who may read files: browsers fetch scripts, fonts and tags with `integrity` from a host in CORS mode. */
function crossOriginOf({ env, host, live }: Settings): CrossOrigin | undefined {
  if (host === undefined) return undefined
  return env === 'development' ? { hosts: live?.hosts ?? new Set() } : '*'
}

// RFC 8246: the bytes at this URL never change.
const IMMUTABLE = 'public, max-age=31536000, immutable'

/** Returns the Cache-Control of a file that may change at its URL. */
function revalidated(isCompiled: boolean): string {
  return isCompiled ? 'no-cache' : 'public, max-age=0, must-revalidate'
}

function publicDirectory(
  settings: Settings,
  { isHidden, isOrdinary }: Pick<Directory, 'isHidden' | 'isOrdinary'>
): Directory {
  const { apps, base, prefix, publicApp } = settings
  const crossOrigin = crossOriginOf(settings)
  const top = apps.some(({ compile }) => compile) ? prefix.split('/')[1] : undefined
  return {
    place: settings.place,
    urlPath: '',
    top,
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

type IsHashed = (mount: MountSettings, path: string) => boolean

/** Returns the Cache-Control of a single-page application's page: its URL may have other content tomorrow. */
export function pageCacheControl({ cacheControl }: MountSettings, path: string): string {
  const given = cacheControl?.(path)
  return given !== undefined && isUnstored(given) ? given : 'no-cache'
}

const DELTA = new RegExp(`\\.${DIGEST_PATTERN}\\.dcz$`)

/** Hides excluded files, with their compressed copies and the deltas to them. */
function excluding(globs: readonly string[], dir: string, isHidden: Directory['isHidden']) {
  const isExcluded = excluderOf(globs)
  return async (file: string) => {
    // A link to an excluded file is known by its real path, which may begin differently from that of the directory.
    const base = isInside(dir, file) ? dir : ((await realpathOf(dir)) ?? dir)
    const path = pathFrom(base, withoutCodingExtension(file.replace(DELTA, '')))
    return isExcluded(path) || ((await isHidden?.(file)) ?? false)
  }
}

const isUnstored = (value: string) => /\bno-store\b/i.test(value)

function mountDirectory(
  settings: Settings,
  mount: MountSettings,
  { isHidden, isHashed }: Pick<Directory, 'isHidden'> & { readonly isHashed: IsHashed }
): Directory {
  const { base, publicApp } = settings
  const { urlPath, place, exclude } = mount
  const crossOrigin = crossOriginOf(settings)
  const pages = new Set(settings.mounts.map(({ dir, fallback }) => fallback && join(dir, fallback)))
  return {
    place,
    urlPath,
    memoryKey: `${urlPath}\n`,
    revalidate: () => mount.revalidate ?? publicApp.revalidate,
    isHidden: exclude ? excluding(exclude, place.dir, isHidden) : isHidden,
    fieldsOf({ path }) {
      const isPage = pages.has(fileIn(mount, path))
      const isFixed = !isPage && (mount.isImmutable?.(path) ?? isHashed(mount, path))
      const lasting = isFixed ? IMMUTABLE : mount.cacheControl?.(path)
      return {
        type: contentType(path),
        keepsType: !isPage,
        cacheControl: isPage
          ? pageCacheControl(mount, path)
          : (lasting ?? revalidated(publicApp.compile)),
        crossOrigin: mount.manifest === undefined ? undefined : crossOrigin,
        around: isFixed ? withoutHash(base + encodeAsImported(path)) : undefined,
        // A field that is the same for all files gives the page no lifetime.
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

function fileRoot(settings: Settings, root: string): Directory {
  const { root: project, symlinks } = settings
  return {
    place: { root: project, dir: root, symlinks },
    urlPath: '',
    memoryKey: `${root}\0`,
    // A route may just have written the file.
    revalidate: () => 0,
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
