// Writes a file completely or not at all: a temporary file in the same directory, then a rename, at once or together
// with others. A command also saves files before a name leads to them: otherwise, after a power loss, names may lead
// to files that are empty or cut short.
import type { NewNames } from '../../runtime/app/deltas.ts'
import { close, open, write } from 'node:fs'
import { chmod, lutimes, mkdir, open as openHandle, rmdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { AssetError } from '../../runtime/errors.ts'
import {
  outsidePlace,
  realPathOfOpen,
  requireInPlace,
  wouldBeInPlace,
  type Boundary
} from '../../runtime/files/containment.ts'
import {
  entriesBelow,
  errorCode,
  EXACT,
  ignoreSystemError,
  isSecondOver,
  isInUse,
  isMiss,
  isSameInode,
  lstatOf,
  named,
  promised,
  removeFile,
  renameFile,
  rethrowNamed,
  SECOND_NS,
  statOf,
  type Stamp
} from '../../runtime/files/disk.ts'
import {
  describe,
  readInto,
  readSnapshot,
  sameBytes,
  streamOf,
  withOriginal,
  writeBytes,
  type Content,
  type OpenFile
} from '../../runtime/files/open-file.ts'
import { pathFrom } from '../../runtime/files/paths.ts'
import { unlessRefused } from '../../runtime/files/refusals.ts'
import { sync } from './unsaved.ts'

export interface WriteChecks {
  /** The place in which a created file must be; undefined allows any. */
  readonly place?: Boundary | undefined
  /** Rejects to leave the target unchanged. */
  readonly checkContent?: ((temporary: OpenFile) => Promise<void>) | undefined
  /** Records files that get a name; then written files are saved. */
  readonly unsaved?: NewNames | undefined
}

/** A complete file under a temporary name, which replaces a target. */
export interface Replacement {
  /** False if the target already has these bytes, or is removed. */
  readonly isNew: boolean
  commit(): Promise<void>
  discard(): Promise<void>
}

/** Writes a target with mode 0644. */
export async function writeAtomically(target: string, content: Content, checks: WriteChecks = {}) {
  await (await stage(target, content, checks)).commit()
}

// Prepares nothing if the target already has the same bytes; a link does not count as a target. Different bytes never
// have an mtime in the same second: nginx makes its validators from size and mtime, and would respond with a false 304.
export async function prepareReplacement(target: string, content: Content, checks: WriteChecks) {
  const existing = await lstatOf(target)
  if (existing?.isFile() && (await hasContent(target, existing, content))) {
    const nothing = async () => undefined
    return { isNew: false, commit: nothing, discard: nothing, stamp: async () => existing }
  }
  // A file without a place is not served.
  return stage(target, content, checks, checks.place && existing)
}

async function hasContent(target: string, { size }: Stamp, content: Content): Promise<boolean> {
  if ('copyOf' in content) return content.copyOf === target || sameBytes(content.copyOf, target)
  if (Number(size) !== content.length) return false
  return (await readSnapshot(target))?.bytes.equals(content) ?? false
}

export async function touch(path: string, mtimeNs: bigint, place?: Boundary): Promise<void> {
  if (place && !(await wouldBeInPlace(place, path))) throw outsidePlace(place, path)
  const seconds = Number(mtimeNs) / 1e9
  await unlessRefused('utimes', path, () => lutimes(path, seconds, seconds))
}

async function stage(target: string, content: Content, checks: WriteChecks, replaced?: Stamp) {
  const { path, stamp } = await writeTemporary(dirname(target), content, checks, replaced)
  const discard = () => removeFile(path)
  const commit = async () => {
    try {
      // The file stays in the real directory: a link above the two paths may be switched while rename() resolves them.
      const renamed = join(dirname(path), basename(target))
      await renameFile(path, renamed).catch(async (error: unknown) => {
        if (errorCode(error) !== 'EISDIR') throw error
        // An asset `a.css/b.css` leaves an empty folder behind.
        await rmdir(renamed).catch(ignoreSystemError)
        await renameFile(path, renamed)
      })
      checks.unsaved?.named(renamed)
    } catch (error) {
      await discard()
      throw Object.assign(error as Error, { dest: target })
    }
  }
  /** Returns the stamp of the target after the commit; that of the lost file if another process has replaced it. */
  const now = async (): Promise<Stamp> => {
    const stats = await statOf(target)
    return stats && isSameInode(stats, stamp) ? stats : stamp
  }
  return { isNew: true, commit, stamp: now, discard }
}

/** @param replaced the stamp of the file that it replaces, if that is served @returns its real path and stamp */
async function writeTemporary(
  directory: string,
  content: Content,
  checks: WriteChecks,
  replaced?: Stamp
) {
  const given = join(directory, temporaryName())
  const fd = await create(given, checks)
  let path = given
  try {
    const file = describe(given, fd)
    // A link above the file may lead elsewhere by now.
    path = join(dirname((await realPathOfOpen(file)) ?? given), basename(given))
    if (checks.place) await requireInPlace(checks.place, file)
    await writeContent(file, content)
    await checks.checkContent?.(describe(given, fd))
    if ((Number(file.stats.mode) & 0o777) !== 0o644)
      await unlessRefused('chmod', path, () => chmod(path, 0o644))
    if (replaced) await setAnotherSecond(path, fd, replaced)
    if (checks.unsaved) await sync(path, fd)
    return { path, stamp: file.stats }
  } catch (error) {
    await removeFile(path)
    throw named(error, given)
  } finally {
    // On a network disk, closing may still write.
    await promised<void>(done => close(fd, done))
  }
}

/** Creates a file, and its folder if that does not exist, as most do. */
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

/** More than the two seconds of FAT. */
const MAX_WAIT_MS = 3000
const LOOK_AGAIN_MS = 50

// Gives a file an mtime in another second, by which servers in front tell contents apart. If times cannot be set, this
// writes the first byte again until the second is over.
async function setAnotherSecond(path: string, fd: number, taken: Stamp) {
  const second = taken.mtimeNs / SECOND_NS
  const mtime = () => describe(path, fd).stats.mtimeNs
  // The clock of the disk decides; it is some milliseconds behind that of the process.
  if (isSecondOver(taken, mtime())) return
  const isSame = () => mtime() / SECOND_NS === second
  // FAT stamps only even seconds, and truncates odd ones.
  for (const later of [1n, 2n]) {
    const seconds = Number(second + later)
    if (!(await unlessRefused('utimes', path, () => lutimes(path, seconds, seconds)))) break
    if (!isSame()) return
  }
  const byte = Buffer.alloc(1)
  const length = await readInto(byte, describe(path, fd), 0)
  for (const end = performance.now() + MAX_WAIT_MS; isSame() && performance.now() < end;) {
    await setTimeout(LOOK_AGAIN_MS)
    await promised<number>(done => write(fd, byte, 0, length, 0, done))
  }
}

/** Creates directories that a front web server can read, whatever the umask. */
export async function makeDirectory(directory: string, { unsaved }: WriteChecks = {}) {
  const first = await mkdir(directory, { recursive: true })
  if (first === undefined) return
  for (let path = directory; path.length >= first.length; path = dirname(path)) {
    await unlessRefused('chmod', path, () => chmod(path, 0o755))
    unsaved?.named(path)
  }
}

// A dotfile is never served.
const PREFIX = '.koa-fresh-assets-'
const SUFFIX = '.tmp'
const TOKEN = randomBytes(8).toString('hex')
let count = 0

export const temporaryName = (): string => `${PREFIX}${TOKEN}-${count++}${SUFFIX}`

const swept = new Set<string>()
const MAX_SWEPT = 10_000
/** Longer than a precompile keeps files under temporary names. */
const HOUR_MS = 3_600_000

/** Sweeps a directory before a process writes its first file to it. */
export async function sweepOnce(directory: string, maxAge?: number): Promise<void> {
  if (!swept.has(directory)) await sweep(directory, maxAge)
}

/** Removes files that killed processes left in a directory. @param maxAge in ms, by change time @returns all entries */
export async function sweep(directory: string, maxAge = HOUR_MS, isDeep = false) {
  if (swept.size >= MAX_SWEPT) swept.clear()
  swept.add(directory)
  const entries = await entriesBelow(directory, () => isDeep)
  const left = entries.filter(({ name }) => name.startsWith(PREFIX) && name.endsWith(SUFFIX))
  if (left.length === 0) return entries
  const oldest = (await nowOnDisk(directory)) - BigInt(maxAge) * 1_000_000n
  for (const { parentPath, name } of left) {
    const path = join(parentPath, name)
    const stats = await statOf(path)
    if (stats && stats.ctimeNs < oldest) await removeFile(path)
  }
  return entries
}

export const sweepTree = (directory: string, maxAge?: number) => sweep(directory, maxAge, true)

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

type Root = Pick<Boundary, 'root'>

/** Wraps the error of a system call, with paths from the project's root; any other error is returned unchanged. */
export function asPublishError({ root }: Root, path: string, error: unknown): unknown {
  const code = errorCode(error)
  const { path: source, dest, syscall } = (error ?? {}) as NodeJS.ErrnoException & { dest?: string }
  if (code === undefined || syscall === undefined) return error
  // Copy and rename have two paths: ENOENT is about the source, any other failure about the target.
  const failed = code === 'ENOENT' ? source : (dest ?? source)
  const file = failed === undefined ? '' : ` ${pathFrom(root, failed) || root}`
  const message = `cannot publish ${path}: ${syscall}${file} failed with ${code}`
  const advice = syscall === 'rename' && isInUse(error) ? OPEN_ELSEWHERE : ADVICE[code]
  return new AssetError('publish-failed', `${message}${advice ?? ''}`, { cause: error })
}

export function rethrowAsPublishError(project: Root, path: string) {
  return (error: unknown): never => {
    throw asPublishError(project, path, error)
  }
}

const OPEN_ELSEWHERE =
  '; another program has it open, such as an editor, a download or a virus scanner, or it is read-only: close it, or correct that'
// A container without NODE_ENV compiles on request, as an unprivileged user: opening `public` to it would be wrong.
const PERMISSION =
  '; allow this process to read the sources and to write to public (and in precompile to source-maps, unless sourceMaps is false), or, on a server in production, set NODE_ENV=production'
const ADVICE: Readonly<Record<string, string>> = {
  EACCES: PERMISSION,
  EPERM: PERMISSION,
  EROFS:
    '; public is on a read-only file system: precompile where it can be written, and start with NODE_ENV=production',
  ENOSPC: '; the disk is full',
  EDQUOT: '; the disk quota is exceeded',
  EFBIG: '; this process may not write files of that size: see ulimit -f',
  EEXIST: '; a file exists where a directory is needed',
  ENOTDIR: '; a file exists where a directory is needed',
  EISDIR: '; a directory exists where the file belongs'
}
