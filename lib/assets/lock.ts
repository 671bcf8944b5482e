// One precompile at a time in one public directory, whichever machines share it.
import { link, mkdir, readFile, rename, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setInterval, clearInterval } from 'node:timers'
import { AssetError } from '../errors.ts'
import { errorCode, missing, statOf } from './disk.ts'
import { HOST, isAlive, remove, temporaryName } from './write-whole.ts'

const BEAT_MS = 5000
/** A lock that nobody touched for so long is nobody's: its process was killed, or its machine. */
const STALE_MS = 60_000

/** @throws AssetError when another process holds it */
export async function lock(directory: string): Promise<() => Promise<void>> {
  await mkdir(directory, { recursive: true })
  const file = join(directory, '.koa-fresh-assets.lock')
  // It appears whole or not at all: a lock whose owner is not written yet could never be judged.
  const own = join(directory, temporaryName())
  await writeFile(own, `${HOST} ${process.pid}`)
  try {
    await acquire(own, file, directory)
  } finally {
    await remove(own)
  }
  const beat = setInterval(() => void touch(file), BEAT_MS).unref()
  return async () => {
    clearInterval(beat)
    await remove(file)
  }
}

async function acquire(own: string, file: string, directory: string, attempts = 3): Promise<void> {
  try {
    await link(own, file)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
    const owner = await ownerOf(file)
    if (attempts === 0 || (owner && !owner.isGone)) {
      const who = owner?.name ?? 'unknown'
      throw new AssetError(
        'precompile-busy',
        `another precompile (${who}) is at work in ${directory}: wait for it, or remove ${file}`
      )
    }
    if (owner) await breakLock(file, own, owner.text)
    return acquire(own, file, directory, attempts - 1)
  }
}

async function ownerOf(file: string) {
  const [text, stats] = await Promise.all([missing(readFile(file, 'utf8')), statOf(file)])
  if (text === undefined || !stats) return undefined
  const [host, pid] = text.split(' ')
  const isOld = Date.now() - Number(stats.mtimeNs / 1_000_000n) > STALE_MS
  const isGone = isOld || (host === HOST && !isAlive(Number(pid)))
  return { text, isGone, name: host === HOST ? `process ${pid}` : `process ${pid} elsewhere` }
}

/** Two may find the same lock abandoned: who takes away another than the one it judged puts it back. */
async function breakLock(file: string, own: string, judged: string): Promise<void> {
  const taken = `${own}.lock`
  await missing(rename(file, taken))
  const text = await missing(readFile(taken, 'utf8'))
  if (text !== undefined && text !== judged) await link(taken, file).catch(unlessThere)
  await remove(taken)
}

function unlessThere(error: unknown): void {
  if (errorCode(error) !== 'EEXIST') throw error
}

async function touch(file: string): Promise<void> {
  const now = new Date()
  // A lock that somebody removed by hand is no reason to stop.
  await missing(utimes(file, now, now))
}
