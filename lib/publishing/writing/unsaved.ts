// Saves written files, so that after a power loss no name leads to a file that is empty or cut short.
import { close, fsync, open } from 'node:fs'
import { dirname } from 'node:path'
import { inParallel } from '../../runtime/concurrency.ts'
import { promised, rethrowNamed, undefinedIfMissing } from '../../runtime/files/disk.ts'
import { READ } from '../../runtime/files/open-file.ts'
import { unlessRefused } from '../../runtime/files/refusals.ts'

/** Folders whose names are not saved yet. */
export class Unsaved {
  readonly #folders = new Set<string>()

  named(path: string): void {
    this.#folders.add(dirname(path))
  }

  async save(): Promise<void> {
    await inParallel([...this.#folders], 16, saveFolder)
    this.#folders.clear()
  }
}

export async function withUnsaved<T>(write: (unsaved: Unsaved) => Promise<T>): Promise<T> {
  const unsaved = new Unsaved()
  const result = await write(unsaved)
  await unsaved.save()
  return result
}

async function saveFolder(path: string): Promise<void> {
  // Another process may have removed it, or replaced it with a FIFO.
  const fd = await undefinedIfMissing(promised<number>(done => open(path, READ, done)))
  if (fd === undefined) return
  try {
    await sync(path, fd)
  } finally {
    await promised<void>(done => close(fd, done)).catch(rethrowNamed(path))
  }
}

/** Saves an open file. Some file systems refuse, mostly for folders (fsync(2)), as does Node 26's permission model. */
export async function sync(path: string, fd: number): Promise<void> {
  await unlessRefused('fsync', path, () => promised<void>(done => fsync(fd, done)))
}
