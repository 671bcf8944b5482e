// Allows one precompile at a time in a public directory, which machines and containers may share.
import { link, open, rename, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AssetError } from '../../errors.ts'
import { errorCode, ifThere, isSameInode, readSnapshot, removeFile, statOf } from '../disk.ts'
import type { Stamp } from '../disk.ts'
import { makeDirectory } from './atomic-write.ts'
import { formatOwner, hasEnded, parseOwner, SELF } from './process-owner.ts'
import { temporaryName } from './temporary.ts'

const HEARTBEAT_MS = 5000
/** The age at which a lock is abandoned, when this process cannot find out whether its owner has ended. */
const ABANDONED_NS = 60_000_000_000n
const MAX_ATTEMPTS = 4

export interface Lock {
  /** @throws AssetError when another process took the lock over while this one was paused */
  check(): Promise<void>
  /** Removes the lock, unless another process has taken it over. */
  release(): Promise<void>
}

/** @throws AssetError when another process holds the lock */
export async function lock(directory: string): Promise<Lock> {
  await makeDirectory(directory)
  const file = join(directory, '.koa-fresh-assets.lock')
  // A link makes it appear with its owner already written.
  const own = join(directory, temporaryName())
  const handle = await open(own, 'wx')
  try {
    await handle.writeFile(formatOwner(SELF))
    const stamp = await handle.stat({ bigint: true })
    await acquire(own, file, stamp.mtimeNs)
    return hold(file, handle, stamp)
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
    handle.write(formatOwner(SELF), 0).catch((error: unknown) => (failure = error))
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

/** @param now by the clock of the disk */
async function acquire(own: string, file: string, now: bigint): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const isOurs = await link(own, file).then(() => true, unlessExists)
    if (isOurs) return
    const existing = await inspect(file, now)
    if (attempt === MAX_ATTEMPTS || (existing && !existing.isAbandoned)) {
      throw new AssetError(
        'precompile-busy',
        `another precompile (${existing?.name ?? 'unknown'}) is running in ${dirname(file)}: wait until it has finished, or remove ${file}`
      )
    }
    if (existing) await breakLock(file, existing.stamp)
  }
}

async function inspect(file: string, now: bigint) {
  const existing = await readSnapshot(file)
  if (!existing) return undefined
  const { bytes, stamp } = existing
  const owner = parseOwner(bytes.toString())
  const ended = await hasEnded(owner)
  // Nothing sets the mtime of a lock, so it is by the clock of the disk as well.
  const isAbandoned = ended ?? now - stamp.mtimeNs > ABANDONED_NS
  const elsewhere = owner.space === SELF.space ? '' : ' on another machine or in another container'
  return { stamp, isAbandoned, name: `process ${owner.pid}${elsewhere}` }
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
