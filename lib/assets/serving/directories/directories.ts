// All directories that are served. A path is looked for in the mounts, the longest URL path first, then in public.
import { futureRealpath } from '../../../files/at-start.ts'
import { withoutCodingExtension } from '../../../files/codings.ts'
import { manifestFile } from '../../settings/public-directory.ts'
import type { Site } from '../../parts.ts'
import type { MountSettings, Settings } from '../../settings/settings.ts'
import { makeMemory } from '../files/representation.ts'
import { ServedFiles, type Found } from '../files/served-files.ts'
import { folded, hasOneSpelling, isMounted, type Wanted } from '../request-path.ts'
import {
  fileRoot,
  mountDirectory,
  publicDirectory,
  type IsHashed,
  type ServedDirectory
} from './served-directory.ts'

interface ServedMount extends MountSettings {
  readonly files: ServedFiles
  /** What may follow a path, in this order: nothing, then the extensions that a URL may lack. */
  readonly endings: readonly string[]
}

const MAX_ROOTS = 100

export class Directories {
  readonly public: ServedFiles
  readonly #settings: Settings
  readonly #filesOf: (directory: ServedDirectory) => ServedFiles
  readonly #roots = new Map<string, ServedFiles>()
  readonly #mounts: readonly ServedMount[]

  constructor(
    settings: Site,
    { isOrdinary, isHashed }: Pick<ServedDirectory, 'isOrdinary'> & { readonly isHashed: IsHashed }
  ) {
    const { mounts } = settings
    const memory = makeMemory(settings.memory)
    this.#settings = settings
    const senders = settings.extras.flatMap(extra => extra.sender?.(settings) ?? [])
    this.#filesOf = directory => new ServedFiles(directory, memory, settings, senders)
    const manifests = mounts.flatMap(({ manifest }) => manifest ?? [])
    // Our own manifest is hidden by its URL path in `public`, but not where `public` is mounted as well.
    const isHidden = hides(mounts.length > 0 ? [...manifests, manifestFile(settings)] : [])
    this.public = this.#filesOf(publicDirectory(settings, { isOrdinary, isHidden }))
    this.#mounts = mounts
      // The dev server has the current files.
      .filter(({ isServed }) => isServed)
      .map(mount => ({
        ...mount,
        endings: ['', ...mount.extensions],
        files: this.#filesOf(mountDirectory(settings, mount, { isHidden, isHashed }))
      }))
  }

  /** What is known of a raw path without reading the disk: its file, or that no directory has one. */
  recall(rawPath: string): Found | 'missing' {
    for (const mount of this.#mounts) {
      // It may be redirected to its index file.
      if (rawPath === mount.urlPath) return undefined
      if (!isMounted(rawPath, mount)) continue
      for (const ending of mount.endings) {
        const known = mount.files.recall(rawPath + ending)
        if (known !== 'missing') return known
      }
    }
    const known = this.#settings.servesPublic ? this.public.recall(rawPath) : 'missing'
    // A mount's path is decoded.
    const isSure = known !== 'missing' || this.#mounts.length === 0 || hasOneSpelling(rawPath)
    return isSure ? known : undefined
  }

  /** The file in the first mount that has it. */
  findInMounts(wanted: Wanted): Promise<Found> | Found {
    const places = this.#placesOf(wanted)
    return places.length === 0 ? undefined : findFirst(places)
  }

  /** Whether a mount has the file; it is not read. */
  async isInMounts(wanted: Wanted): Promise<boolean> {
    for (const [files, placed] of this.#placesOf(wanted)) {
      if (await files.has(placed)) return true
    }
    return false
  }

  /** Whether the path, with a slash at its end, is that of a folder with an index file. */
  async hasIndex(wanted: Wanted): Promise<boolean> {
    const folder = { ...wanted, path: `${wanted.path}/`, isFolder: true }
    return !wanted.isFolder && (await this.findInMounts(folder)) !== undefined
  }

  /** The files that routes send from a directory. @param root absolute */
  rootAt(root: string): ServedFiles {
    const files = this.#roots.get(root) ?? this.#filesOf(fileRoot(this.#settings, root))
    if (this.#roots.size >= MAX_ROOTS && !this.#roots.has(root)) this.#roots.clear()
    this.#roots.set(root, files)
    return files
  }

  /** Where a path may be in the mounts, and what it asks for there. */
  #placesOf(wanted: Wanted): (readonly [ServedFiles, Wanted])[] {
    const mounts = this.#mounts.filter(mount => isMounted(wanted.path, mount))
    return mounts.flatMap(({ files, index, endings }) => {
      const rest = wanted.isFolder ? [index ?? []].flat() : endings
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

/** Whether a file is one of these, also compressed or spelled differently; undefined for none. */
function hides(files: readonly string[]): ServedDirectory['isHidden'] {
  if (files.length === 0) return undefined
  const hidden = new Set(files.flatMap(file => [file, futureRealpath(file)]).map(folded))
  return file => hidden.has(folded(withoutCodingExtension(file)))
}
