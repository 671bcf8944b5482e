// Writes a file whole or not at all: a temporary file in the same directory, then a rename.
import { randomBytes } from 'node:crypto'
import {
  chmod,
  copyFile,
  mkdir,
  open,
  readdir,
  rename,
  stat,
  unlink,
  utimes
} from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { digestOf } from './fingerprint.ts'
import { errorCode, isMiss, missing, statOf, type Mark } from './disk.ts'

// A dotfile, so that no request finds it. It tells whose it is, so that it can be swept once that
// process is gone: host, process, and a token, since a container's processes all have number 1.
const PREFIX = '.koa-fresh-assets-'
export const HOST = digestOf(Buffer.from(hostname())).slice(0, 8)
const TOKEN = randomBytes(4).toString('hex')
let count = 0

export function temporaryName(): string {
  return `${PREFIX}${HOST}-${process.pid}-${TOKEN}-${count++}.tmp`
}

/** Bytes, or the path of a file to copy. */
export type Content = Uint8Array | { readonly copyOf: string }

/**
 * Writes a target with mode 0644 and the given mtime, and returns the mark that it has then;
 * undefined when another process has replaced it meanwhile.
 *
 * @param check rejects for a written file that must not get the target's name
 */
export async function writeWhole(
  target: string,
  content: Content,
  mtimeNs: bigint,
  check?: (temporary: string) => Promise<void>
): Promise<Mark | undefined> {
  const directory = dirname(target)
  await makeDirectory(directory)
  await sweepOnce(directory)
  const temporary = join(directory, temporaryName())
  try {
    await fill(temporary, content)
    await check?.(temporary)
    await chmod(temporary, 0o644)
    await stamp(temporary, mtimeNs)
    const { ino, dev } = await stat(temporary, { bigint: true })
    await rename(temporary, target)
    const mark = await statOf(target)
    return mark?.ino === ino && mark.dev === dev ? mark : undefined
  } catch (error) {
    await missing(unlink(temporary))
    throw error
  }
}

async function fill(path: string, content: Content): Promise<void> {
  if ('copyOf' in content) return copyFile(content.copyOf, path)
  const handle = await open(path, 'wx')
  try {
    await handle.writeFile(content)
  } finally {
    await handle.close()
  }
}

/** Gives a file the mtime of its source. */
export async function stamp(path: string, mtimeNs: bigint): Promise<void> {
  const seconds = Number(mtimeNs) / 1e9
  await utimes(path, seconds, seconds)
}

/** Seconds travel as a double and are cut to microseconds: what comes back is less than two off. */
export function isStamped({ mtimeNs }: Mark, wanted: bigint): boolean {
  const difference = mtimeNs - wanted
  return difference < 2000n && difference > -2000n
}

/** Readable by a front web server, whatever the umask. */
async function makeDirectory(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true })
  if (first === undefined) return
  for (let path = directory; path.length >= first.length; path = dirname(path)) {
    await chmod(path, 0o755)
  }
}

const swept = new Set<string>()
const MAX_SWEPT = 10_000
const HOUR_MS = 3_600_000

/** Removes what killed processes left in a directory, once in the life of this one. */
async function sweepOnce(directory: string): Promise<void> {
  if (swept.has(directory)) return
  if (swept.size >= MAX_SWEPT) swept.clear()
  swept.add(directory)
  await sweep(directory)
}

export async function sweep(directory: string): Promise<void> {
  const names = (await missing(readdir(directory))) ?? []
  const left = names.filter(name => name.startsWith(PREFIX))
  await Promise.all(
    left.map(async name => {
      const path = join(directory, name)
      if (await isAbandoned(path, name)) await missing(unlink(path))
    })
  )
}

async function isAbandoned(path: string, name: string): Promise<boolean> {
  const [host, pid, token] = name.slice(PREFIX.length).split('-')
  if (host !== HOST) {
    const stats = await statOf(path)
    return stats !== undefined && Date.now() - Number(stats.mtimeNs / 1_000_000n) > HOUR_MS
  }
  if (Number(pid) === process.pid) return token !== TOKEN
  return !isAlive(Number(pid))
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return errorCode(error) !== 'ESRCH'
  }
}

/** Removes a file, if it is there. */
export async function remove(path: string): Promise<void> {
  try {
    await unlink(path)
  } catch (error) {
    if (!isMiss(error)) throw error
  }
}
