// What a command has written, and what the kernel may still have in its memory alone: a power loss would leave
// files under their names that are empty or cut short.
import { fsync, open } from 'node:fs'
import { dirname } from 'node:path'
import { inParallel } from '../../concurrency.ts'
import { errorCode, ifThere, named, promised } from '../disk.ts'
import { closeAtOnce, READ, type OpenFile } from '../open-file.ts'

// One commit of the file system's journal serves all that wait for it.
const CONCURRENCY = 16

/** The folders in which names have changed. Files are saved when they are written. */
export class Unsaved {
  readonly #folders = new Set<string>()

  /** @param path of a file or folder that was created or renamed */
  named(path: string): void {
    this.#folders.add(dirname(path))
  }

  /** Waits until the names are on the disk. */
  async save(): Promise<void> {
    const folders = [...this.#folders]
    this.#folders.clear()
    await inParallel(folders, CONCURRENCY, saveFolder)
  }
}

async function saveFolder(path: string): Promise<void> {
  // Somebody else may have removed it, or put a FIFO in its place.
  const fd = await ifThere(promised<number>(done => open(path, READ, done)))
  if (fd === undefined) return
  try {
    await save({ path, fd })
  } finally {
    closeAtOnce(path, fd)
  }
}

/** Some file systems cannot be asked, for folders above all (fsync(2)), nor can Node 26 with its permission model. */
const UNABLE = new Set(['EINVAL', 'ENOSYS', 'ENOTSUP', 'ERR_ACCESS_DENIED'])

/** Waits until the bytes of an open file are on the disk. */
export async function save({ path, fd }: Pick<OpenFile, 'path' | 'fd'>): Promise<void> {
  try {
    await promised<void>(done => fsync(fd, done))
  } catch (error) {
    if (!UNABLE.has(errorCode(error) ?? '')) throw named(error, path)
  }
}
