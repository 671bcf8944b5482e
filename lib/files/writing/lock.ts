// Allows one precompile at a time in a public directory, which machines and containers may share. The owner
// of a lock writes to it every second, so what stays as it was for some seconds is abandoned.
import { link, open, rename, type FileHandle } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { AssetError } from '../../errors.ts'
import {
  errorCode,
  ifThere,
  isSameInode,
  readSnapshot,
  removeFile,
  sameStamp,
  statOf
} from '../disk.ts'
import type { Stamp } from '../disk.ts'
import { makeDirectory } from './atomic-write.ts'
import { temporaryName } from './temporary.ts'

const HEARTBEAT_MS = 1000
/** Two heartbeats, also where a disk stamps whole seconds. */
const SILENT_NS = 3_000_000_000n
/** Longer than a compiler blocks its process. */
const ABANDONED_NS = 10_000_000_000n
const LOOK_AGAIN_MS = 200
const OWNER = `process ${process.pid} on ${hostname()}`

export interface Lock {
  /** @throws AssetError when another process took the lock over while this one was paused */
  check(): Promise<void>
  /** Removes the lock, unless another process has taken it over. */
  release(): Promise<void>
}

/**
 * Waits for some seconds while it cannot tell whether the owner of an existing lock is still running.
 * @param warn told whom it waits for
 * @throws AssetError when another process holds the lock
 */
export async function lock(directory: string, warn: (message: string) => void): Promise<Lock> {
  await makeDirectory(directory)
  const file = join(directory, '.koa-fresh-assets.lock')
  // A link makes it appear with its owner already written.
  const own = join(directory, temporaryName())
  const handle = await open(own, 'wx')
  try {
    await acquire(own, handle, file, warn)
    return hold(file, handle, await handle.stat({ bigint: true }))
  } catch (error) {
    await handle.close()
    throw error
  } finally {
    await removeFile(own)
  }
}

function hold(file: string, handle: FileHandle, own: Stamp): Lock {
  let failure: unknown
  // Through the handle, so it never touches a lock that another process has put in its place.
  const heartbeat = setInterval(() => {
    beat(handle).catch((error: unknown) => (failure = error))
  }, HEARTBEAT_MS).unref()
  const isHeld = async () => {
    const stats = await statOf(file)
    return stats !== undefined && isSameInode(stats, own)
  }
  return {
    async check() {
      if (await isHeld()) return
      const message = `another precompile took over ${dirname(file)} while this one was paused: run it again`
      throw new AssetError('precompile-busy', message, { cause: failure })
    },
    async release() {
      clearInterval(heartbeat)
      if (await isHeld()) await removeFile(file)
      await handle.close()
    }
  }
}

/** @returns the time by the clock of the disk, which may be that of a file server */
async function beat(handle: FileHandle): Promise<bigint> {
  await handle.write(OWNER, 0)
  return (await handle.stat({ bigint: true })).mtimeNs
}

async function acquire(
  own: string,
  handle: FileHandle,
  file: string,
  warn: (message: string) => void
): Promise<void> {
  let isTold = false
  for (let seen: Stamp | undefined; ;) {
    const now = await beat(handle)
    if (await link(own, file).then(() => true, unlessExists)) return
    const existing = await readSnapshot(file)
    if (!existing) continue
    const { bytes, stamp } = existing
    const owner = bytes.toString() || 'unknown'
    if (seen && isSameInode(seen, stamp) && !sameStamp(seen, stamp)) {
      throw new AssetError(
        'precompile-busy',
        `another precompile (${owner}) is running in ${dirname(file)}: wait until it has finished`
      )
    }
    const age = now - stamp.mtimeNs
    if (age > ABANDONED_NS) await breakLock(file, stamp)
    else if (age > SILENT_NS && !isTold) {
      isTold = true
      warn(`waiting some seconds: another precompile (${owner}) seems to have been killed`)
    }
    seen = stamp
    await setTimeout(LOOK_AGAIN_MS)
  }
}

/** Two processes may find the same lock abandoned: one that removed a newer lock puts it back. */
async function breakLock(file: string, abandoned: Stamp): Promise<void> {
  const removed = join(dirname(file), temporaryName())
  await ifThere(rename(file, removed))
  const stats = await statOf(removed)
  if (stats && !isSameInode(stats, abandoned)) await link(removed, file).catch(unlessExists)
  await removeFile(removed)
}

function unlessExists(error: unknown): undefined {
  if (errorCode(error) !== 'EEXIST') throw error
}
