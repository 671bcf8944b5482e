// All directories that are served. A path is looked for in the mounts, the longest URL path first, then in
// public.
import { futureRealpath } from '../../../files/at-start.ts'
import { withoutCodingExtension } from '../../../files/codings.ts'
import type { OpenFile } from '../../../files/disk.ts'
import { manifestFile } from '../../settings/manifest-file.ts'
import type { Settings } from '../../settings/settings.ts'
import { makeMemory, type Memory, type ServedFile } from '../files/served-file.ts'
import { ServedFiles } from '../files/served-files.ts'
import { fileRoot, covers, type ServedDirectory } from './served-directory.ts'
import { folded, hasOneSpelling, type Wanted } from '../request-path.ts'
import { mountDirectory, type IsHashed } from './mount.ts'
import { publicDirectory } from './public.ts'

type Found = ServedFile | undefined

interface Mount {
  readonly files: ServedFiles
  readonly urlPath: string
  readonly index: string | undefined
  /** What may follow a path, in this order: nothing, then the extensions that a URL may lack. */
  readonly endings: readonly string[]
}

/** A file as one mount has it. */
interface Place {
  readonly files: ServedFiles
  readonly wanted: Wanted
}

const MAX_ROOTS = 100

export class Directories {
  readonly public: ServedFiles
  readonly #settings: Settings
  readonly #memory: Memory
  readonly #roots = new Map<string, ServedFiles>()
  readonly #mounts: readonly Mount[]

  constructor(
    settings: Settings,
    { isOrdinary, isHashed }: Pick<ServedDirectory, 'isOrdinary'> & { readonly isHashed: IsHashed }
  ) {
    const { memory, mounts } = settings
    this.#settings = settings
    this.#memory = makeMemory(memory)
    const manifests = mounts.flatMap(({ manifest }) => manifest ?? [])
    // By its URL path our own is hidden in `public`, but not where that is mounted as well.
    const isHidden = hides(mounts.length > 0 ? [...manifests, manifestFile(settings)] : [])
    this.public = this.#filesOf(publicDirectory(settings, { isOrdinary, isHidden }))
    this.#mounts = mounts
      // The dev server has the current files.
      .filter(({ dev }) => dev === undefined)
      .map(mount => ({
        ...mount,
        endings: ['', ...mount.extensions],
        files: this.#filesOf(mountDirectory(settings, mount, { isHidden, isHashed }))
      }))
  }

  /** What is known of a raw path without reading the disk: its file, or that no directory has one. */
  recall(rawPath: string): Found | 'missing' {
    for (const { files, urlPath, endings } of this.#mounts) {
      // It may be redirected to its index file.
      if (rawPath === urlPath) return undefined
      if (!covers(files.directory, rawPath)) continue
      for (const ending of endings) {
        const known = files.recall(rawPath + ending)
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
    const places = this.#mountsOf(wanted)
    return places.length === 0 ? undefined : findFirst(places)
  }

  /** Whether a mount has the file; it is not read. */
  async isInMounts(wanted: Wanted): Promise<boolean> {
    for (const { files, wanted: placed } of this.#mountsOf(wanted)) {
      if (await files.has(placed)) return true
    }
    return false
  }

  /** Whether the path, with a slash at its end, is that of a folder with an index file. */
  async hasIndex(wanted: Wanted): Promise<boolean> {
    if (wanted.isFolder) return false
    const folder = { ...wanted, path: `${wanted.path}/`, isFolder: true }
    return (await this.findInMounts(folder)) !== undefined
  }

  /** The files that routes send from a directory. @param root absolute */
  rootAt(root: string): ServedFiles {
    const files = this.#roots.get(root) ?? this.#filesOf(fileRoot(this.#settings, root))
    if (this.#roots.size >= MAX_ROOTS && !this.#roots.has(root)) this.#roots.clear()
    this.#roots.set(root, files)
    return files
  }

  /** Makes the next `find` read the disk. */
  forget(wanted: Wanted): void {
    for (const { files, wanted: placed } of this.#placesOf(wanted)) files.forget(placed)
  }

  /** Uses the file while it is open; undefined for a miss. */
  async withOpened<T>(
    wanted: Wanted,
    use: (file: ServedFile, opened: OpenFile) => Promise<T> | T
  ): Promise<T | undefined> {
    for (const { files, wanted: placed } of this.#placesOf(wanted)) {
      const used = await files.withOpened(placed, use)
      if (used !== undefined) return used
    }
    return undefined
  }

  #filesOf(directory: ServedDirectory): ServedFiles {
    return new ServedFiles(directory, this.#memory, this.#settings.memory.maxFileBytes)
  }

  #placesOf(wanted: Wanted): Place[] {
    const places = this.#mountsOf(wanted)
    const isInPublic = this.#settings.servesPublic && !wanted.isFolder
    return !isInPublic ? places : [...places, { files: this.public, wanted }]
  }

  #mountsOf(wanted: Wanted): Place[] {
    return this.#mounts.flatMap(({ files, index, endings }) => {
      if (!covers(files.directory, wanted.path)) return []
      if (!wanted.isFolder) {
        return endings.map(ending => ({ files, wanted: { ...wanted, path: wanted.path + ending } }))
      }
      if (index === undefined) return []
      return [{ files, wanted: { ...wanted, path: wanted.path + index, isFolder: false } }]
    })
  }
}

async function findFirst(places: readonly Place[]): Promise<Found> {
  for (const { files, wanted } of places) {
    const file = await files.find(wanted)
    if (file) return file
  }
  return undefined
}

/** Whether a file is one of these, compressed or spelled otherwise as well; undefined for none. */
function hides(files: readonly string[]): ServedDirectory['isHidden'] {
  if (files.length === 0) return undefined
  const hidden = new Set(files.flatMap(file => [file, futureRealpath(file)]).map(folded))
  return file => hidden.has(folded(withoutCodingExtension(file)))
}
