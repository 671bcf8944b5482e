// Temporary files that are complete, and folders. Whoever may write to a directory can put a link in the place of
// any name in it, so modes and times are set through descriptors.
import { close, constants, open, write } from 'node:fs'
import { mkdir, open as openHandle, readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { realPathOfOpen, requireInPlace, type Boundary } from '../containment.ts'
import {
  isMiss,
  named,
  promised,
  removeFile,
  rethrowNamed,
  type Stamp,
  entriesBelow,
  EXACT,
  undefinedIfMissing,
  statOf,
  SECOND_NS
} from '../disk.ts'
import {
  describe,
  setMode,
  streamOf,
  withOriginal,
  writeBytes,
  type Content,
  type OpenFile,
  readInto,
  setMtime
} from '../open-file.ts'
import { sync, type Unsaved } from './unsaved.ts'
import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'

export interface WriteChecks {
  /**
   * A file that is created has to be in this place before anything is written to it, and so has a target whose mtime
   * is set; undefined allows any.
   */
  readonly place?: Boundary | undefined
  /** Rejects to keep the target as it is. */
  readonly checkContent?: ((temporary: OpenFile) => Promise<void>) | undefined
  /** Is told what gets a name; what is written is saved. */
  readonly unsaved?: Unsaved | undefined
}

/**
 * @param replaced the stamp of what the file replaces, if its own may have the same second
 * @returns the real path of a complete file, and its stamp
 */
export async function writeTemporary(
  directory: string,
  content: Content,
  checks: WriteChecks,
  replaced?: Stamp
): Promise<{ path: string; stamp: Stamp }> {
  const name = temporaryName()
  const given = join(directory, name)
  const fd = await create(given, checks)
  let path = given
  const fill = async (file: OpenFile) => {
    // A link above it may lead elsewhere by now. Nothing else has its name, wherever it was moved to.
    const real = await realPathOfOpen(file)
    path = join(dirname(real ?? given), name)
    if (checks.place) await requireInPlace(checks.place, file, real)
    await writeContent(file, content)
    await checks.checkContent?.(describe(given, fd))
    await setMode(file, path, 0o644)
    if (replaced) await setAnotherSecond(file, path, replaced)
    if (checks.unsaved) await sync(path, fd)
    return { path, stamp: file.stats }
  }
  try {
    return await whileOpen(given, fd, fill)
  } catch (error) {
    await removeFile(path)
    throw named(error, given)
  }
}

/** Creates a file, with its folder where that does not exist: most do. */
async function create(path: string, checks: WriteChecks): Promise<number> {
  const directory = dirname(path)
  await sweepOnce(directory)
  const created = () => promised<number>(done => open(path, 'wx+', 0o644, done))
  return created().catch(async (error: unknown) => {
    if (!isMiss(error)) throw error
    await makeDirectory(directory, checks)
    return created()
  })
}

async function writeContent(file: OpenFile, content: Content): Promise<void> {
  if (!('copyOf' in content)) return writeBytes(file, content)
  return withOriginal(content, async original => {
    for await (const piece of streamOf(original) as AsyncIterable<Buffer>) {
      await writeBytes(file, piece)
    }
  })
}

/** Opens what a path names, unless that is a link. */
export async function withOpened(
  path: string,
  flags: number,
  use: (file: OpenFile) => Promise<void>
): Promise<void> {
  const fd = await promised<number>(done => open(path, flags | constants.O_NOFOLLOW, done))
  await whileOpen(path, fd, use).catch(rethrowNamed(path))
}

async function whileOpen<T>(
  path: string,
  fd: number,
  use: (file: OpenFile) => Promise<T>
): Promise<T> {
  try {
    return await use(describe(path, fd))
  } finally {
    // A network disk may have yet to write, so this does not close at once, as for a file that was read.
    await promised<void>(done => close(fd, done))
  }
}

/** Creates directories that a front web server can read, whatever the umask. */
export async function makeDirectory(
  directory: string,
  { place, unsaved }: WriteChecks = {}
): Promise<void> {
  const first = await mkdir(directory, { recursive: true })
  if (first === undefined) return
  for (let path = directory; path.length >= first.length; path = dirname(path)) {
    await withOpened(path, constants.O_RDONLY | constants.O_DIRECTORY, async file => {
      if (place) await requireInPlace(place, file)
      await setMode(file, path, 0o755)
    })
    unsaved?.named(path)
  }
}

// A dotfile is never served.
const PREFIX = '.koa-fresh-assets-'
const SUFFIX = '.tmp'
const TOKEN = randomBytes(8).toString('hex')
let count = 0

export function temporaryName(): string {
  return `${PREFIX}${TOKEN}-${count++}${SUFFIX}`
}

/** The directories that were swept: once per process. */
const swept = new Set<string>()
const MAX_SWEPT = 10_000
/** Longer than a precompile keeps what it has written under temporary names. */
const HOUR_MS = 3_600_000

/** Sweeps a directory before a process writes its first file to it. */
export async function sweepOnce(directory: string, maxAge?: number): Promise<void> {
  if (!swept.has(directory)) await sweep(directory, maxAge)
}

/**
 * Removes what killed processes left in a directory.
 * @param maxAge in milliseconds, by change time
 */
export async function sweep(directory: string, maxAge = HOUR_MS): Promise<void> {
  if (swept.size >= MAX_SWEPT) swept.clear()
  swept.add(directory)
  const names = (await undefinedIfMissing(readdir(directory))) ?? []
  const paths = names.map(name => join(directory, name))
  await removeLeft(directory, paths, maxAge)
}

/** Sweeps a directory and all below it. */
export async function sweepTree(directory: string, maxAge = HOUR_MS): Promise<void> {
  const entries = await entriesBelow(directory)
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name))
  await removeLeft(directory, paths, maxAge)
}

async function removeLeft(directory: string, paths: Iterable<string>, maxAge: number) {
  const left = Array.from(paths).filter(path => {
    const name = basename(path)
    return name.startsWith(PREFIX) && name.endsWith(SUFFIX)
  })
  if (left.length === 0) return
  const oldest = (await nowOnDisk(directory)) - BigInt(maxAge) * 1_000_000n
  for (const path of left) {
    const stats = await statOf(path)
    if (stats && stats.ctimeNs < oldest) await removeFile(path)
  }
}

/** The time, in nanoseconds, by the clock that stamps files; it may be that of a file server. */
export async function nowOnDisk(directory: string): Promise<bigint> {
  const path = join(directory, temporaryName())
  const handle = await openHandle(path, 'wx')
  try {
    return (await handle.stat(EXACT).catch(rethrowNamed(path))).ctimeNs
  } finally {
    await handle.close().catch(rethrowNamed(path))
    await removeFile(path)
  }
}

// Servers in front tell one content of a name from another by their mtimes.

/** FAT stamps even seconds alone, and cuts an odd one off. */
const LATER = [1n, 2n]
/** More than what FAT makes of a second. */
const MAX_WAIT_MS = 3000
const LOOK_AGAIN_MS = 50

/**
 * Gives a file that was just written an mtime in a later second than what it replaces; where times cannot be
 * set, it waits for one.
 * @param path by which the file is reached where a call on an open one is denied
 */
export async function setAnotherSecond(
  file: OpenFile,
  path: string,
  { mtimeNs: taken }: Stamp
): Promise<void> {
  const second = taken / SECOND_NS
  const isSame = () => describe(path, file.fd).stats.mtimeNs / SECOND_NS === second
  for (const later of LATER) {
    if (!(await setMtime(file, path, (second + later) * SECOND_NS))) break
    if (!isSame()) return
  }
  const end = performance.now() + MAX_WAIT_MS
  while (isSame() && performance.now() < end) {
    await setTimeout(LOOK_AGAIN_MS)
    await writeAgain(file)
  }
}

/** Writes its first byte again. */
async function writeAgain(file: OpenFile): Promise<void> {
  const byte = Buffer.alloc(1)
  const length = await readInto(byte, file, 0)
  await promised<number>(done => write(file.fd, byte, 0, length, 0, done))
}
