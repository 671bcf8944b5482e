// Writes a file whole or not at all: a temporary file in the same directory, then a rename.
import {
  chmod,
  mkdir,
  open,
  realpath,
  rename,
  stat,
  unlink,
  utimes,
  writeFile
} from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isMiss, ifThere, readOpened, statOf, withFile, type Stamp, type Opened } from '../disk.ts'
import { streamOf } from '../file-stream.ts'
import { sweepOnce, temporaryName } from './temporary.ts'

/** Bytes, or a file to copy. */
export type Content = Uint8Array | Copy

export interface Copy {
  readonly copyOf: string
  /** Judges what was opened under that name, which may be a link that was swapped meanwhile. */
  readonly isAllowed?: ((opened: Opened) => Promise<boolean>) | undefined
}

/**
 * What `use` makes of the file to copy.
 * @throws ENOENT when it is gone, or leads to what may not be copied
 */
export async function withCopied<T>(
  { copyOf, isAllowed }: Copy,
  use: (opened: Opened) => Promise<T>
): Promise<T> {
  const used = await withFile(copyOf, async opened => {
    const isFit = !isAllowed || (await isAllowed(opened))
    return isFit ? { result: await use(opened) } : undefined
  })
  if (used) return used.result
  const error = new Error(`ENOENT: no such file to copy, open '${copyOf}'`)
  throw Object.assign(error, { code: 'ENOENT', syscall: 'open', path: copyOf })
}

export async function readContent(content: Content): Promise<Uint8Array> {
  if (!('copyOf' in content)) return content
  return withCopied(content, async opened => (await readOpened(opened)).bytes)
}

/** A file that is written, and bears a temporary name still. */
export interface Prepared {
  /** The real path. */
  readonly temporary: string
  readonly target: string
  readonly stamp: Stamp
}

export interface Checks {
  /** Rejects for a written file that must not get the target's name. */
  readonly check?: ((temporary: string) => Promise<void>) | undefined
  /** Rejects for a file that must not be written where it was opened. */
  readonly judge?: ((opened: Opened) => Promise<void>) | undefined
}

/**
 * Writes a target with mode 0644 and the given mtime, and returns the stamp that it has then;
 * undefined when another process has replaced it meanwhile.
 */
export async function writeWhole(
  target: string,
  content: Content,
  mtimeNs: bigint,
  checks: Checks = {}
): Promise<Stamp | undefined> {
  return put(await prepare(target, content, mtimeNs, checks))
}

/** Everything but giving it the target's name. */
export async function prepare(
  target: string,
  content: Content,
  mtimeNs: bigint,
  { check, judge }: Checks = {}
): Promise<Prepared> {
  const directory = dirname(target)
  await makeDirectory(directory)
  await sweepOnce(directory)
  const temporary = join(directory, temporaryName())
  try {
    await fill(temporary, content, judge)
    await check?.(temporary)
    await chmod(temporary, 0o644)
    await setMtime(temporary, mtimeNs)
    const stamp = await stat(temporary, { bigint: true })
    return { temporary: await realpath(temporary), target, stamp }
  } catch (error) {
    await ifThere(unlink(temporary))
    throw error
  }
}

export async function put({ temporary, target, stamp }: Prepared): Promise<Stamp | undefined> {
  try {
    // Rename looks for one name after the other, and a link above them may be swapped in between.
    await rename(temporary, join(dirname(temporary), basename(target)))
  } catch (error) {
    await ifThere(unlink(temporary))
    throw Object.assign(error as Error, { dest: target })
  }
  const stats = await statOf(target)
  return stats?.ino === stamp.ino && stats.dev === stamp.dev ? stats : undefined
}

async function fill(path: string, content: Content, judge: Checks['judge']): Promise<void> {
  const handle = await open(path, 'wx')
  try {
    await judge?.({ path, fd: handle.fd, stats: await handle.stat({ bigint: true }) })
    if (!('copyOf' in content)) return await handle.writeFile(content)
    await withCopied(content, opened => writeFile(handle, streamOf(opened)))
  } catch (error) {
    throw naming(path, error)
  } finally {
    await handle.close()
  }
}

/** What fails on an open file does not tell which one it is. */
function naming(path: string, error: unknown): unknown {
  const { syscall, path: named = path } = error as NodeJS.ErrnoException
  return syscall === undefined ? error : Object.assign(error as Error, { path: named })
}

/** Gives a file the mtime of its source. */
export async function setMtime(path: string, mtimeNs: bigint): Promise<void> {
  const seconds = Number(mtimeNs) / 1e9
  await utimes(path, seconds, seconds)
}

/** Seconds travel as a double and are cut to microseconds: what comes back is less than two off. */
export function hasMtime({ mtimeNs }: Pick<Stamp, 'mtimeNs'>, wanted: bigint): boolean {
  const difference = mtimeNs - wanted
  return difference < 2000n && difference > -2000n
}

// As often a target may get other bytes while what it is made of keeps its mtime.
const MAX_LATER = 300

/**
 * By how many whole seconds a target is later than the mtime that is wanted; undefined when it is not
 * that. So the target itself tells that it was once given other bytes of the same mtime.
 */
export function secondsLater({ mtimeNs }: Stamp, wanted: bigint): number | undefined {
  const seconds = Math.round(Number(mtimeNs - wanted) / 1e9)
  if (seconds < 0 || seconds > MAX_LATER) return undefined
  return hasMtime({ mtimeNs }, later(wanted, seconds)) ? seconds : undefined
}

export function later(mtimeNs: bigint, seconds: number): bigint {
  return mtimeNs + BigInt(seconds) * 1_000_000_000n
}

export async function setMtimeIfOther(file: string, mtimeNs: bigint): Promise<void> {
  const stats = await statOf(file)
  if (stats && !hasMtime(stats, mtimeNs)) await setMtime(file, mtimeNs)
}

/** Readable by a front web server, whatever the umask. */
export async function makeDirectory(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true })
  if (first === undefined) return
  for (let path = directory; path.length >= first.length; path = dirname(path)) {
    await chmod(path, 0o755)
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
