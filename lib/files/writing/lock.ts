// One precompile at a time in one public directory, whichever machines share it.
import { link, open, rename, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AssetError } from '../../errors.ts'
import {
  errorCode,
  ifThere,
  isSameInode,
  readSnapshot,
  removeFile,
  statOf,
  type Stamp
} from '../disk.ts'
import { formatOwner, hasEnded, readOwner, SELF } from './process-owner.ts'
import { temporaryName } from './temporary.ts'
import { makeDirectory } from './atomic-write.ts'

const BEAT_MS = 5000
/** A lock that was not written for so long is abandoned, when its process cannot be asked after. */
const STALE_NS = 60_000_000_000n

export interface Lock {
  /** @throws AssetError when another process has taken it over, as this one was paused for too long */
  check(): Promise<void>
  /** Gives it back, unless it is another's by now. */
  release(): Promise<void>
}

/** @throws AssetError when another process holds it */
export async function lock(directory: string): Promise<Lock> {
  await makeDirectory(directory)
  const file = join(directory, '.koa-fresh-assets.lock')
  // It appears whole or not at all: a lock whose owner is not written yet could never be judged.
  const own = join(directory, temporaryName())
  const handle = await open(own, 'wx')
  try {
    await handle.writeFile(formatOwner(SELF))
    const stamp = await handle.stat({ bigint: true })
    await acquire(own, file, directory, stamp.mtimeNs)
    return held(file, directory, handle, stamp)
  } catch (error) {
    await handle.close()
    throw error
  } finally {
    await removeFile(own)
  }
}

function held(file: string, directory: string, handle: FileHandle, own: Stamp): Lock {
  let failure: unknown
  // Written through the handle: whoever has the name by now, this file is touched and no other.
  const beat = setInterval(() => {
    handle.write(formatOwner(SELF), 0).catch((error: unknown) => (failure = error))
  }, BEAT_MS).unref()
  const isOurs = async () => {
    const stats = await statOf(file)
    return stats !== undefined && isSameInode(stats, own)
  }
  return {
    async check() {
      if (await isOurs()) return
      const message = `another precompile took over ${directory} while this one was paused: run again`
      throw new AssetError('precompile-busy', message, { cause: failure })
    },
    async release() {
      clearInterval(beat)
      if (await isOurs()) await removeFile(file)
      await handle.close()
    }
  }
}

async function acquire(
  own: string,
  file: string,
  directory: string,
  now: bigint,
  attempts = 3
): Promise<void> {
  try {
    await link(own, file)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
    const found = await look(file, now)
    if (attempts === 0 || (found && !found.isAbandoned)) {
      throw new AssetError(
        'precompile-busy',
        `another precompile (${found?.name ?? 'unknown'}) is at work in ${directory}: wait for it, or remove ${file}`
      )
    }
    if (found) await breakLock(file, found.stamp)
    return acquire(own, file, directory, now, attempts - 1)
  }
}

/** @param now what the disk's clock said just before */
async function look(file: string, now: bigint) {
  const read = await readSnapshot(file)
  if (!read) return undefined
  const owner = readOwner(read.bytes.toString())
  const ended = await hasEnded(owner)
  // Only writing sets the mtime of a lock, and so it is of the disk's clock.
  const isAbandoned = ended ?? now - read.stamp.mtimeNs > STALE_NS
  const name =
    owner.space === SELF.space ? `process ${owner.pid}` : `process ${owner.pid} elsewhere`
  return { stamp: read.stamp, isAbandoned, name }
}

/** Two may find the same lock abandoned: who takes away another than the one it judged puts it back. */
async function breakLock(file: string, judged: Stamp): Promise<void> {
  const taken = join(dirname(file), temporaryName())
  await ifThere(rename(file, taken))
  const stats = await statOf(taken)
  if (stats && !isSameInode(stats, judged)) await link(taken, file).catch(unlessThere)
  await removeFile(taken)
}

function unlessThere(error: unknown): void {
  if (errorCode(error) !== 'EEXIST') throw error
}
