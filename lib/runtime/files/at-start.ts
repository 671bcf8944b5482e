// Synchronous disk access, for start and outside production, and the file that is read at start and when it changes.
import * as fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { oneAtATime } from '../concurrency.ts'
import { EXACT, isMiss, isSettled, named, sameStamp, type Stamp, stampOf, statOf } from './disk.ts'
import { READ, readSnapshot } from './open-file.ts'

export function readDirectory(path: string): fs.Dirent[] {
  return undefinedIfMissing(() => fs.readdirSync(path, { withFileTypes: true })) ?? []
}

export const isDirectory = (path: string): boolean => statIfThere(path)?.isDirectory() ?? false

export function statIfThere(path: string): fs.Stats | undefined {
  return undefinedIfMissing(() => fs.statSync(path))
}

export function stampIfThere(path: string): Stamp | undefined {
  const stats = undefinedIfMissing(() => fs.statSync(path, EXACT))
  return stats && stampOf(stats)
}

/** Returns undefined for a FIFO or a device as well: reading one could wait for ever. @throws for a directory */
export function readIfThere(path: string): Buffer | undefined {
  return readOpen(path, fd => {
    const stats = fs.fstatSync(fd)
    return stats.isFile() || stats.isDirectory() ? fs.readFileSync(fd) : undefined
  })
}

export function headIfThere(path: string, length: number): Buffer | undefined {
  return readOpen(path, fd => {
    const bytes = Buffer.allocUnsafe(length)
    return bytes.subarray(0, fs.readSync(fd, bytes, 0, length, 0))
  })
}

function readOpen<T>(path: string, read: (fd: number) => T): T | undefined {
  const fd = undefinedIfMissing(() => fs.openSync(path, READ), path)
  if (fd === undefined) return undefined
  try {
    return undefinedIfMissing(() => read(fd), path)
  } finally {
    undefinedIfMissing(() => fs.closeSync(fd), path)
  }
}

/** Returns the real path of a path, or the one that it will have once it exists. */
export function futureRealpath(path: string): string {
  if (statIfThere(path)) return fs.realpathSync(path)
  const parent = dirname(path)
  return parent === path ? path : join(futureRealpath(parent), basename(path))
}

function undefinedIfMissing<T>(look: () => T, path?: string): T | undefined {
  try {
    return look()
  } catch (error) {
    if (isMiss(error)) return undefined
    throw named(error, path)
  }
}

interface Reading {
  /** The start of the warning "…: <reason>" if the file cannot be used. */
  readonly failure: string
  readonly warn: (message: string) => void
  /** Uses the new bytes. Resolves to false if it cannot yet: the next check reads them again, as after a failure. */
  readonly take: (bytes: Buffer, stamp: Stamp) => Promise<boolean>
}

/** A file that is read at start, and again before a page once it has changed. */
export class ReloadedFile {
  readonly path: string
  readonly #reading: Reading
  /** The stamp of the file as it was read; undefined if it may not show another change. */
  #stamp: Stamp | undefined
  #lookedAt = -Infinity
  #looking: Promise<void> | undefined

  /** Must be called before the file is read at start, so that a change in between is noticed. */
  constructor(path: string, reading: Reading) {
    this.path = path
    this.#reading = reading
    const stamp = stampIfThere(path)
    if (stamp && isSettled(stamp, Date.now())) this.#stamp = stamp
  }

  /** Makes the next check read the file again, changed or not. */
  distrust(): void {
    this.#stamp = undefined
  }

  /** Makes one stat if nothing changed, none within `seconds` of the last; undefined if nothing is awaited. */
  refresh(seconds: number): Promise<void> | undefined {
    const isYoung = performance.now() - this.#lookedAt < seconds * 1000
    return isYoung ? this.#looking : this.#look()
  }

  readonly #look = oneAtATime(() => {
    const { failure, warn } = this.#reading
    this.#lookedAt = performance.now()
    this.#looking = this.#readIfChanged()
      .catch((error: Error) => {
        // Only a successful look is trusted for a while.
        this.#lookedAt = -Infinity
        warn(`${failure}: ${error.message}`)
      })
      .finally(() => (this.#looking = undefined))
    return this.#looking
  })

  async #readIfChanged(): Promise<void> {
    const stats = this.#stamp && (await statOf(this.path))
    if (stats && this.#stamp && sameStamp(stats, this.#stamp)) return
    this.#stamp = undefined
    const readAt = Date.now()
    const { bytes, stamp } = (await readSnapshot(this.path)) ?? {}
    if (!bytes || !stamp) return
    const isTaken = await this.#reading.take(bytes, stamp)
    if (isTaken && isSettled(stamp, readAt)) this.#stamp = stamp
  }
}
