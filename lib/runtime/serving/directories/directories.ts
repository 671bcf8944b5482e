// All directories that are served. A path is looked for in the mounts, the longest URL path first, then in public.
import { futureRealpath } from '../../files/at-start.ts'
import { withoutCodingExtension } from '../../files/codings.ts'
import { manifestFile } from '../../settings/public-directory.ts'
import type { Project } from '../../app/parts.ts'
import type { MountSettings, Settings } from '../../settings/settings.ts'
import { makeMemory } from '../files/representation.ts'
import type { Found } from '../files/served-file.ts'
import { ServedFiles } from '../files/served-files.ts'
import { folded } from '../../files/paths.ts'
import { hasOneSpelling, wantedAt, type Wanted } from '../request-path.ts'
import {
  fileRoot,
  mountDirectory,
  publicDirectory,
  type IsHashed,
  type ServedDirectory
} from './served-directory.ts'

interface ServedMount {
  readonly files: ServedFiles
  /** The endings that are tried in this order: nothing, then the extensions that a URL may lack. */
  readonly endings: readonly string[]
}

const MAX_ROOTS = 100

export class Directories {
  readonly public: ServedFiles
  readonly #settings: Settings
  readonly #filesOf: (directory: ServedDirectory) => ServedFiles
  readonly #roots = new Map<string, ServedFiles>()
  readonly #mounts: ReadonlyMap<MountSettings, ServedMount>

  constructor(
    settings: Project,
    { isOrdinary, isHashed }: Pick<ServedDirectory, 'isOrdinary'> & { readonly isHashed: IsHashed }
  ) {
    const { mounts } = settings
    const memory = makeMemory(settings.memory)
    this.#settings = settings
    const [sender] = settings.extras.flatMap(extra => extra.sender?.(settings) ?? [])
    this.#filesOf = directory => new ServedFiles(directory, memory, settings, sender)
    const manifests = mounts.flatMap(({ manifest }) => manifest ?? [])
    // Our own manifest is hidden by its URL path in `public`, but not where `public` is mounted as well.
    const isHidden = hides(mounts.length > 0 ? [...manifests, manifestFile(settings)] : [])
    this.public = this.#filesOf(publicDirectory(settings, { isOrdinary, isHidden }))
    // The dev server has the current files of the others.
    const served = mounts.filter(({ isServed }) => isServed)
    this.#mounts = new Map(
      served.map(mount => {
        const files = this.#filesOf(mountDirectory(settings, mount, { isHidden, isHashed }))
        return [mount, { files, endings: ['', ...mount.extensions] }]
      })
    )
  }

  /**
   * Returns the file of a raw path, or that no directory has one, as far as it is known without reading the disk.
   * @param mounts those at the path
   */
  recall(rawPath: string, mounts: Settings['mounts']): Found | 'missing' {
    for (const mount of mounts) {
      const served = this.#mounts.get(mount)
      if (!served) continue
      // It may be redirected to its index file.
      if (rawPath === mount.urlPath) return undefined
      for (const ending of served.endings) {
        const known = served.files.recall(rawPath + ending)
        if (known !== 'missing') return known
      }
    }
    if (this.#settings.servesPublic) return this.public.recall(rawPath)
    // A mount's path is decoded.
    return this.#mounts.size === 0 || hasOneSpelling(rawPath) ? 'missing' : undefined
  }

  /** Finds the file in the first mount that has it. */
  findInMounts(wanted: Wanted): Promise<Found> | Found {
    const places = this.#placesOf(wanted)
    return places.length === 0 ? undefined : findFirst(places)
  }

  /** Tells whether a mount has the file, without reading it. */
  async isInMounts(wanted: Wanted): Promise<boolean> {
    for (const [files, placed] of this.#placesOf(wanted)) {
      if (await files.has(placed)) return true
    }
    return false
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
      const { files, endings = [] } = this.#mounts.get(mount) ?? {}
      if (!files || wanted.path === mount.urlPath) return []
      const rest = wanted.isFolder ? [mount.index ?? []].flat() : endings
      return rest.map(
        end => [files, { ...wanted, path: wanted.path + end, isFolder: false }] as const
      )
    })
  }
}

async function findFirst(places: readonly (readonly [ServedFiles, Wanted])[]): Promise<Found> {
  for (const [files, wanted] of places) {
    const file = await files.find(wanted)
    if (file) return file
  }
  return undefined
}

/** Returns a check for these files, also compressed or spelled differently; undefined if there are none. */
function hides(files: readonly string[]): ServedDirectory['isHidden'] {
  if (files.length === 0) return undefined
  const hidden = new Set(files.flatMap(file => [file, futureRealpath(file)]).map(folded))
  return file => hidden.has(folded(withoutCodingExtension(file)))
}
