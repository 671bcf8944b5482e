// Allows one precompile at a time in a public directory, which machines and containers may share. The owner
// of a lock writes to it every second, so a lock that is unchanged for some seconds is abandoned.
import { lstat, open, type FileHandle } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { AssetError } from '../../runtime/errors.ts'
import {
  errorCode,
  EXACT,
  undefinedIfMissing,
  isSameFileAt,
  isSameInode,
  named,
  onceFree,
  removeFile,
  rethrowNamed,
  sameStamp,
  type Stamp
} from '../../runtime/files/disk.ts'
import { readSnapshot } from '../../runtime/files/open-file.ts'
import { makeDirectory, nowOnDisk } from './write.ts'

const HEARTBEAT_MS = 1000
/** Two heartbeats, even on a disk that stamps whole seconds. */
const SILENT_NS = 3_000_000_000n
/** Longer than any compiler blocks its process. */
const ABANDONED_NS = 10_000_000_000n
const LOOK_AGAIN_MS = 200
/** The disk is full, or this user's quota of it. */
const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT'])
const OWNER = `process ${process.pid} on ${hostname()}`

export type Lock = ReturnType<typeof hold>

/** Waits while it cannot tell whether an owner is still running. @throws AssetError if another owner holds the lock */
export async function lock(directory: string, warn: (message: string) => void): Promise<Lock> {
  await makeDirectory(directory)
  const file = join(directory, '.koa-fresh-assets.lock')
  const handle = await take(file, warn)
  try {
    const own = await handle.stat(EXACT)
    await beat(handle)
    return hold(file, handle, own)
  } catch (error) {
    // Further failures are consequences of this one.
    await Promise.allSettled([removeFile(file), handle.close()])
    throw named(error, file)
  }
}

async function take(file: string, warn: (message: string) => void): Promise<FileHandle> {
  let isTold = false
  for (let seen: Stamp | undefined; ;) {
    const handle = await createdAt(file)
    if (handle) return handle
    if ((await undefinedIfMissing(lstat(file)))?.isFile() === false) {
      throw new AssetError('publish-failed', `${file} is in the way of a lock: remove it`)
    }
    const { bytes, stamp } = (await readSnapshot(file)) ?? {}
    if (!bytes || !stamp) continue
    // The lock has no owner yet, or there was no room for the name.
    const owner = `another precompile (${bytes.toString() || 'unknown'})`
    if (seen && isSameInode(seen, stamp) && !sameStamp(seen, stamp)) {
      const message = `${owner} is running in ${dirname(file)}: wait until it has finished`
      throw new AssetError('precompile-busy', message)
    }
    const age = (await nowOnDisk(dirname(file))) - stamp.mtimeNs
    if (age > ABANDONED_NS) {
      // The last of several processes that find it abandoned gets it, and `check` fails in the others.
      await removeOwn(file, stamp)
      continue
    }
    if (age > SILENT_NS && !isTold) {
      isTold = true
      warn(`waiting a few seconds: ${owner} seems to have been killed`)
    }
    seen = stamp
    await setTimeout(LOOK_AGAIN_MS)
  }
}

/** Returns undefined if something with that name exists. */
async function createdAt(file: string): Promise<FileHandle | undefined> {
  try {
    return await onceFree(() => open(file, 'wx'))
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
    return undefined
  }
}

function hold(file: string, handle: FileHandle, own: Stamp) {
  let cause: unknown
  // The handle never touches a lock with which another process has replaced this one.
  const renew = () => void beat(handle).catch((error: unknown) => (cause = error))
  const heartbeat = setInterval(renew, HEARTBEAT_MS).unref()
  return {
    async check(): Promise<void> {
      if (await isSameFileAt(file, own)) return
      const message = `another precompile took over ${dirname(file)} while this one was paused: run it again`
      throw new AssetError('precompile-busy', message, { cause })
    },
    /** Removes the lock, unless another process has taken it over. */
    async release(): Promise<void> {
      clearInterval(heartbeat)
      try {
        await removeOwn(file, own)
      } finally {
        await handle.close().catch(rethrowNamed(file))
      }
    }
  }
}

async function removeOwn(file: string, own: Stamp): Promise<void> {
  if (await isSameFileAt(file, own)) await removeFile(file)
}

async function beat(handle: FileHandle): Promise<void> {
  await handle.write(OWNER, 0).catch(async (error: unknown) => {
    if (!FULL.has(errorCode(error) ?? '')) throw error
    // There is no room for the owner's name: a command that frees space needs only the time, which this renews.
    await handle.truncate()
  })
}
