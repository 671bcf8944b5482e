// Access to paths: a missing file is `undefined`, a failure is an exception.
import { rename, stat, type BigIntStats, type Dirent } from 'node:fs'
import { lstat, readdir, readFile, realpath, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { isInside } from './paths.ts'

/** The parts of a stat that tell one state of a file from another. */
export interface Stamp {
  readonly dev: bigint
  readonly ino: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}

// ELOOP: a link to itself leads to no file, like a dangling one. ENXIO: a socket cannot be opened.
const MISSES = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'ENXIO'])

/** Reads the code without `instanceof Error`: inside a VM context (Jest) Node's errors belong to another realm. */
export function errorCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code
  return typeof code === 'string' ? code : undefined
}

export const isMiss = (error: unknown): boolean => MISSES.has(errorCode(error) ?? '')

export async function undefinedIfMissing<T>(outcome: Promise<T>): Promise<T | undefined> {
  try {
    return await outcome
  } catch (error) {
    if (isMiss(error)) return undefined
    throw named(error)
  }
}

/** Ignores the failure of a system call if nothing is lost or a later call shows it; any other error is a bug. */
export function ignoreSystemError(error: unknown): undefined {
  if (errorCode(error) === undefined) throw error
}

const DENIED = ': correct its permissions, or those of its folder'
const TAKEN = ': rename or remove this directory, as a file belongs there'
const REMEDIES: Partial<Record<string, string>> = { EACCES: DENIED, EPERM: DENIED, EISDIR: TAKEN }

/** Adds what Node omits: the path, if a call on an open file fails (`EIO: i/o error, read`), and what to do. */
export function named<T>(error: T, path?: string): T {
  const { syscall, path: known, message, stack } = (error ?? {}) as NodeJS.ErrnoException
  if (syscall === undefined) return error
  const remedy = REMEDIES[errorCode(error) ?? ''] ?? ''
  const place = known === undefined && path !== undefined ? ` '${path}'` : ''
  const whole = message.endsWith(remedy) ? message + place : message + place + remedy
  const traced = stack?.replace(message, () => whole)
  return Object.assign(error as object, { path: known ?? path, message: whole, stack: traced }) as T
}

export function rethrowNamed(path: string) {
  return (error: unknown): never => {
    throw named(error, path)
  }
}

export const EXACT = { bigint: true } as const

/** Awaits the callback form of `fs`, which takes half the time of the promise form, on hot paths. */
export function promised<T>(call: (done: (error: Error | null, result: T) => void) => void) {
  return new Promise<T>((resolve, reject) => {
    call((error, result) => (error ? reject(error) : resolve(result)))
  })
}

export function statOf(path: string): Promise<BigIntStats | undefined> {
  return undefinedIfMissing(promised<BigIntStats>(done => stat(path, EXACT, done)))
}

export function lstatOf(path: string): Promise<BigIntStats | undefined> {
  return undefinedIfMissing(lstat(path, EXACT))
}

export function bytesOf(path: string): Promise<Buffer | undefined> {
  return undefinedIfMissing(readFile(path).catch(rethrowNamed(path)))
}

export function realpathOf(path: string): Promise<string | undefined> {
  return undefinedIfMissing(realpath(path))
}

export async function removeFile(path: string): Promise<void> {
  await undefinedIfMissing(onceFree(() => unlink(path)))
}

export function renameFile(from: string, to: string): Promise<void> {
  return onceFree(async () => {
    try {
      await promised<void>(done => rename(from, to, done))
    } catch (error) {
      // Windows gives one error for a folder in the way and for a file that somebody has open, Linux EISDIR for the first.
      const isFolder = isInUse(error) && (await lstatOf(to))?.isDirectory()
      throw isFolder ? Object.assign(error as Error, { code: 'EISDIR' }) : error
    }
  })
}

// Windows gives these codes for a file that a process has open: a download, an editor, a virus scanner. MoveFileEx does
// not replace it, even if all processes share it; only a file that is not shared is EBUSY (libuv, src/win/error.c).
const IN_USE = new Set(['EPERM', 'EACCES', 'EBUSY'])

/** @param platform the codes mean something else on Linux */
export function isInUse(error: unknown, platform: string = process.platform): boolean {
  return platform === 'win32' && IN_USE.has(errorCode(error) ?? '')
}

/** A scanner needs a fraction of a second; a download may take hours. */
const PAUSES_MS = [10, 20, 40, 80, 160, 320, 640, 1000]

/** Retries, for two seconds in all, a call that fails because another process has a file open. */
export async function onceFree<T>(call: () => Promise<T>, platform?: string): Promise<T> {
  for (const pause of PAUSES_MS) {
    try {
      return await call()
    } catch (error) {
      if (!isInUse(error, platform)) throw error
    }
    await setTimeout(pause)
  }
  return call()
}

export function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: Stamp): Stamp {
  return { dev, ino, size, mtimeNs, ctimeNs }
}

export function sameStamp(a: Stamp, b: Stamp): boolean {
  const isSameTime = a.ctimeNs === b.ctimeNs && a.mtimeNs === b.mtimeNs
  return isSameTime && a.size === b.size && isSameInode(a, b)
}

/** Tells whether a path names this file; for a link, the link itself. */
export async function isSameFileAt(path: string, file: Stamp): Promise<boolean> {
  const found = await lstatOf(path)
  return found !== undefined && isSameInode(found, file)
}

export const isSameInode = (a: Stamp, b: Stamp): boolean => a.ino === b.ino && a.dev === b.dev

export const SECOND_NS = 1_000_000_000n
/** Kernels stamp files with a clock that ticks at least every 10 ms: two changes within a tick have one stamp. */
const TICK_NS = 20_000_000n
/** FAT stamps even seconds, ext3 and HFS+ whole ones. */
const COARSE_TICK_NS = 2n * SECOND_NS + TICK_NS

// Tells whether a file last changed so long before `moment`, in milliseconds, that any later change shows in its stamp.
// The change time decides, as nobody can set it; an mtime in the future may have been set.
export function isSettled({ ctimeNs }: Stamp, moment: number): boolean {
  // Whole seconds are a sign of a coarse clock.
  const tick = ctimeNs % SECOND_NS === 0n ? COARSE_TICK_NS : TICK_NS
  return ctimeNs < BigInt(moment) * 1_000_000n - tick
}

// `utimes` takes a double and truncates to microseconds, so the result is less than two off. On Windows, which counts
// from 1601, a double is less precise: from 2057 on the result is less than four off.
export function hasMtime({ mtimeNs }: Pick<Stamp, 'mtimeNs'>, expected: bigint): boolean {
  const difference = mtimeNs - expected
  return difference < 4000n && difference > -4000n
}

/** Returns the mtime in milliseconds, truncated to whole seconds. */
export function mtimeOf({ mtimeNs }: Pick<Stamp, 'mtimeNs'>): number {
  return Number(mtimeNs / SECOND_NS) * 1000
}

/** Tells whether a time is after the second of an mtime, or after its two seconds on FAT. */
export function isSecondOver({ mtimeNs, ctimeNs }: Stamp, now: bigint): boolean {
  const length = ctimeNs % SECOND_NS === 0n ? 2n : 1n
  return now >= (mtimeNs / SECOND_NS + length) * SECOND_NS
}

/** Replaces `readdir` with `recursive`, which follows links on Node 26. @param whenGone gets a vanished folder */
export async function entriesBelow(
  directory: string,
  isEntered = (_folder: string) => true,
  whenGone: (folder: string) => void = () => undefined
): Promise<readonly Dirent[]> {
  const entries: Dirent[] = []
  const folders = [directory]
  for (const folder of folders) {
    const found = await undefinedIfMissing(readdir(folder, { withFileTypes: true }))
    if (!found && folder !== directory) whenGone(folder)
    for (const entry of found ?? []) {
      entries.push(entry)
      const path = join(folder, entry.name)
      if (entry.isDirectory() && isEntered(path)) folders.push(path)
    }
  }
  return entries
}

export type Symlinks = 'inside' | 'follow' | 'deny'

/** The names in a source folder, in no particular order, without those that are ignored. */
export type FolderEntries = Awaited<ReturnType<typeof classifyEntries>>

/** @param chain real paths from the top of the source down to this folder */
export async function classifyEntries(
  path: string,
  all: readonly Dirent[],
  chain: readonly string[],
  symlinks: Symlinks
) {
  const entries = all.filter(({ name }) => !IGNORED.some(([rule]) => rule.test(name)))
  const kinds = await Promise.all(entries.map(entry => kindOf(path, entry, chain, symlinks)))
  const namesOf = (kind: 'file' | 'folder') =>
    entries.filter((_, at) => kinds[at] === kind).map(e => e.name)
  return {
    files: namesOf('file'),
    folders: namesOf('folder'),
    /** True if there is a dangling link, whose target may appear without a change to this folder. */
    isDangling: entries.some((entry, at) => entry.isSymbolicLink() && !kinds[at])
  }
}

async function kindOf(path: string, entry: Dirent, chain: readonly string[], symlinks: Symlinks) {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'folder'
  if (!entry.isSymbolicLink() || symlinks === 'deny') return undefined
  const link = join(path, entry.name)
  const [real, stats] = await Promise.all([realpathOf(link), statOf(link)])
  if (!real || !stats) return undefined
  if (symlinks === 'inside' && !isInside(chain[0] ?? real, real)) return undefined
  if (stats.isDirectory()) return chain.includes(real) ? undefined : 'folder'
  return stats.isFile() ? 'file' : undefined
}

export const isHidden = (name: string): boolean => name.startsWith('.')

/** Sass and Less files with these names are imported, not published. Some packages have scripts with such names. */
export const PARTIAL = /^_.*\.(?:s[ac]ss|less)$/i

const IGNORED = [
  [/^\./, 'a name that begins with a dot is not published'],
  [/^-$/, 'a folder named - is not published: development has its pages there'],
  [/~$|\.sw[opx]$|^#.*#$/, "an editor's backup or swap file is not published"],
  [/\.d\.[cm]?ts$/, 'a TypeScript declaration file is not published']
] as const
const RULES = [...IGNORED, [PARTIAL, 'a Sass or Less partial is not published']] as const

/** Returns the rule by which a file at this path would not be published, even if it exists. */
export function whyHidden(path: string): string | undefined {
  const names = path.split('/').filter(name => name !== '.' && name !== '..')
  return RULES.find(([rule]) => names.some(name => rule.test(name)))?.[1]
}
