// What a command has written, and what the kernel may still have in its memory alone: a power loss would leave
// files under their names that are empty or cut short.
import { fsync, open } from 'node:fs'
import { dirname } from 'node:path'
import { inParallel } from '../../concurrency.ts'
import { errorCode, ifThere, named, promised } from '../disk.ts'
import { closeAtOnce, pathOfDescriptor, READ } from '../open-file.ts'

/**
 * Files stay open until that many are saved at a time: opening each again takes two more calls, and one commit of the
 * file system's journal serves all that wait for it.
 */
const MAX_OPEN = 128

/** Saved together: waiting for each file when it is written would block the threads that compress. */
export class Unsaved {
  /** Descriptors, by the paths under which the files were created. */
  readonly #files = new Map<string, number>()
  readonly #folders = new Set<string>()

  /** Takes the descriptor over. */
  async written(path: string, fd: number): Promise<void> {
    this.#files.set(path, fd)
    this.#folders.add(dirname(path))
    if (this.#files.size >= MAX_OPEN) await this.#saveFiles()
  }

  /** Whether a path is known to be still that of the file that was created there. */
  isStill(path: string): boolean {
    const fd = this.#files.get(path)
    return fd !== undefined && pathOfDescriptor(fd) === path
  }

  /** A folder that was created, or a file that got its name. */
  named(path: string): void {
    this.#folders.add(dirname(path))
  }

  removed(path: string): void {
    const fd = this.#files.get(path)
    if (this.#files.delete(path) && fd !== undefined) closeAtOnce(path, fd)
  }

  /** Waits until the bytes of all files, and their names in the folders, are on the disk. */
  async save(): Promise<void> {
    await this.#saveFiles()
    await inParallel([...this.#folders], MAX_OPEN, saveFolder)
    this.#folders.clear()
  }

  async #saveFiles(): Promise<void> {
    await inParallel([...this.#files], MAX_OPEN, async ([path, fd]) => {
      // Others may save it already.
      if (this.#files.delete(path)) await sync(path, fd)
    })
  }

  /** Closes what is not saved. */
  close(): void {
    for (const path of [...this.#files.keys()]) this.removed(path)
  }
}

/** What was written is saved when this resolves. */
export async function withUnsaved<T>(write: (unsaved: Unsaved) => Promise<T>): Promise<T> {
  const unsaved = new Unsaved()
  try {
    const result = await write(unsaved)
    await unsaved.save()
    return result
  } finally {
    unsaved.close()
  }
}

async function saveFolder(path: string): Promise<void> {
  // Somebody else may have removed it, or put a FIFO in its place.
  const fd = await ifThere(promised<number>(done => open(path, READ, done)))
  if (fd !== undefined) await sync(path, fd)
}

/** Some file systems cannot be asked, for folders above all (fsync(2)), nor can Node 26 with its permission model. */
const UNABLE = new Set(['EINVAL', 'ENOSYS', 'ENOTSUP', 'ERR_ACCESS_DENIED'])

async function sync(path: string, fd: number): Promise<void> {
  try {
    await promised<void>(done => fsync(fd, done))
  } catch (error) {
    if (!UNABLE.has(errorCode(error) ?? '')) throw named(error, path)
  } finally {
    closeAtOnce(path, fd)
  }
}
