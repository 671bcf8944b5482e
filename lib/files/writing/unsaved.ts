// What a command has written, and what the kernel may still have in its memory alone: a power loss would leave
// files under their names that are empty or cut short.
import { fsync, open } from 'node:fs'
import { dirname } from 'node:path'
import { inParallel } from '../../concurrency.ts'
import { errorCode, ifThere, named, promised } from '../disk.ts'
import { closeAtOnce, READ } from '../open-file.ts'

// One commit of the file system's journal serves all that wait for it.
const CONCURRENCY = 16

/** Saved together at the end: waiting for each file when it is written would block the threads that compress. */
export class Unsaved {
  readonly #files = new Set<string>()
  readonly #folders = new Set<string>()

  written(path: string): void {
    this.#files.add(path)
    this.#folders.add(dirname(path))
  }

  created(folder: string): void {
    this.#folders.add(dirname(folder))
  }

  renamed(from: string, to: string): void {
    if (this.#files.delete(from)) this.#files.add(to)
    this.#folders.add(dirname(to))
  }

  removed(path: string): void {
    this.#files.delete(path)
  }

  /** Waits until the bytes of all files, and their names in the folders, are on the disk. */
  async save(): Promise<void> {
    for (const paths of [this.#files, this.#folders]) {
      await inParallel([...paths], CONCURRENCY, sync)
      paths.clear()
    }
  }
}

/** Some file systems cannot be asked, for folders above all (fsync(2)), nor can Node 26 with its permission model. */
const UNABLE = new Set(['EINVAL', 'ENOSYS', 'ENOTSUP', 'ERR_ACCESS_DENIED'])

async function sync(path: string): Promise<void> {
  // Somebody else may have removed it, or put a FIFO in its place.
  const fd = await ifThere(promised<number>(done => open(path, READ, done)))
  if (fd === undefined) return
  try {
    await promised<void>(done => fsync(fd, done))
  } catch (error) {
    if (!UNABLE.has(errorCode(error) ?? '')) throw named(error, path)
  } finally {
    closeAtOnce(path, fd)
  }
}
