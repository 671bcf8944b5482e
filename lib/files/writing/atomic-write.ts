// Writes a file completely or not at all: a temporary file in the same directory, then a rename, at once or
// together with others. Old temporary files were left by processes that were killed, and are removed.
import { randomBytes } from 'node:crypto'
import {
  chmod,
  lstat,
  mkdir,
  open,
  readdir,
  realpath,
  rename,
  stat,
  writeFile
} from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { inParallel } from '../../concurrency.ts'
import {
  addSeconds,
  entriesBelow,
  errorCode,
  EXACT,
  ifThere,
  isSameInode,
  removeFile,
  secondsLater,
  setMtime,
  type Stamp,
  statOf
} from '../disk.ts'
import {
  readSnapshot,
  sameBytes,
  streamOf,
  withOriginal,
  type Content,
  type OpenFile
} from '../open-file.ts'

/** Each of these checks rejects to keep the target as it is. */
export interface WriteChecks {
  /** Checks where the temporary file was created, before anything is written to it. */
  readonly checkLocation?: ((file: OpenFile) => Promise<void>) | undefined
  /** Checks the bytes that were written. */
  readonly checkContent?: ((temporary: string) => Promise<void>) | undefined
}

/** What replaces a target: complete, under a temporary name. */
export interface Replacement {
  /** False when the target already has these bytes, and at most its mtime is set, or when it is removed. */
  readonly isNew: boolean
  /** Returns the new stamp of the target; undefined when another process has already replaced it. */
  commit(): Promise<Stamp | undefined>
  discard(): Promise<void>
}

/**
 * Writes a target with mode 0644 and the given mtime. Returns its stamp; undefined when another process
 * has already replaced it.
 */
export async function writeAtomically(
  target: string,
  content: Content,
  mtimeNs: bigint,
  checks: WriteChecks = {}
): Promise<Stamp | undefined> {
  return (await stage(target, content, mtimeNs, checks)).commit()
}

/**
 * Prepares nothing when the target has the same bytes already. A link counts as no target. `mtimeNs` of the
 * result is the mtime of the target after the commit.
 *
 * Different bytes never get an mtime in the same second as the previous ones. An image may be replaced by
 * an older one, and packages give their files one mtime in every version; a server that derives validators
 * from size and mtime (nginx) would then respond 304 to a client with the previous bytes. Each replacement
 * is a second later than the previous one instead, permanently.
 */
export async function prepareReplacement(
  target: string,
  content: Content,
  wanted: bigint,
  checks: WriteChecks = {}
): Promise<Replacement & { readonly mtimeNs: bigint }> {
  const stats = await ifThere(lstat(target, EXACT))
  const existing = stats?.isFile() ? stats : undefined
  const seconds = existing && secondsLater(existing, wanted)
  if (existing && (await hasContent(target, existing, content))) {
    const mtimeNs = addSeconds(wanted, seconds ?? 0)
    const commit = async () =>
      seconds === undefined ? renewMtime(target, mtimeNs, checks) : existing
    return { isNew: false, mtimeNs, commit, discard: async () => undefined }
  }
  const mtimeNs = seconds === undefined ? wanted : addSeconds(wanted, seconds + 1)
  return { ...(await stage(target, content, mtimeNs, checks)), mtimeNs }
}

async function hasContent(target: string, { size }: Stamp, content: Content): Promise<boolean> {
  if ('copyOf' in content) return content.copyOf === target || sameBytes(content.copyOf, target)
  if (Number(size) !== content.length) return false
  return (await readSnapshot(target))?.bytes.equals(content) ?? false
}

async function renewMtime(
  target: string,
  mtimeNs: bigint,
  { checkLocation }: WriteChecks
): Promise<Stamp | undefined> {
  try {
    await setMtime(target, mtimeNs)
  } catch (error) {
    if (errorCode(error) !== 'EPERM') throw error
    // Another user's file can be replaced, although its mtime cannot be set.
    return writeAtomically(target, { copyOf: target }, mtimeNs, { checkLocation })
  }
  return statOf(target)
}

/** Everything up to the rename. */
async function stage(
  target: string,
  content: Content,
  mtimeNs: bigint,
  { checkLocation, checkContent }: WriteChecks
): Promise<Replacement> {
  const directory = dirname(target)
  await makeDirectory(directory)
  if (!swept.has(directory)) await sweep(directory)
  const path = join(directory, temporaryName())
  try {
    await writeNew(path, content, checkLocation)
    await checkContent?.(path)
    await chmod(path, 0o644)
    await setMtime(path, mtimeNs)
    const [temporary, stamp] = [await realpath(path), await stat(path, EXACT)]
    const discard = () => removeFile(temporary)
    const commit = async () => {
      // Into the real directory: rename() resolves its two paths one after the other, and a link above
      // them may be swapped in between.
      const renaming = rename(temporary, join(dirname(temporary), basename(target)))
      await renaming.catch(async (error: Error) => {
        await discard()
        throw Object.assign(error, { dest: target })
      })
      const stats = await statOf(target)
      return stats && isSameInode(stats, stamp) ? stats : undefined
    }
    return { isNew: true, commit, discard }
  } catch (error) {
    await removeFile(path)
    throw error
  }
}

async function writeNew(
  path: string,
  content: Content,
  checkLocation: WriteChecks['checkLocation']
): Promise<void> {
  const handle = await open(path, 'wx')
  try {
    await checkLocation?.({ path, fd: handle.fd, stats: await handle.stat(EXACT) })
    if (!('copyOf' in content)) return await handle.writeFile(content)
    await withOriginal(content, original => writeFile(handle, streamOf(original)))
  } catch (error) {
    const { syscall, path: named = path } = error as NodeJS.ErrnoException
    // Errors of calls on a descriptor do not name the file.
    throw syscall === undefined ? error : Object.assign(error as Error, { path: named })
  } finally {
    await handle.close()
  }
}

/** Creates directories that a front web server can read, whatever the umask. */
export async function makeDirectory(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true })
  if (first === undefined) return
  for (let path = directory; path.length >= first.length; path = dirname(path)) {
    await chmod(path, 0o755)
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
const CONCURRENCY = 8

/**
 * Removes what killed processes left in a directory.
 * @param maxAge in milliseconds, by change time: the mtime is set to that of a source
 */
export async function sweep(directory: string, maxAge = HOUR_MS): Promise<void> {
  if (swept.size >= MAX_SWEPT) swept.clear()
  swept.add(directory)
  const names = (await ifThere(readdir(directory))) ?? []
  const left = names.filter(name => name.startsWith(PREFIX) && name.endsWith(SUFFIX))
  if (left.length === 0) return
  const oldest = (await nowOnDisk(directory)) - BigInt(maxAge) * 1_000_000n
  for (const path of left.map(name => join(directory, name))) {
    const stats = await statOf(path)
    if (stats && stats.ctimeNs < oldest) await removeFile(path)
  }
}

/** Removes what killed processes left in a directory and in all below it. */
export async function sweepTree(directory: string, maxAge?: number): Promise<void> {
  const folders = (await entriesBelow(directory)).filter(entry => entry.isDirectory())
  const paths = folders.map(folder => join(folder.parentPath, folder.name))
  await inParallel([directory, ...paths], CONCURRENCY, path => sweep(path, maxAge))
}

/** The time, in nanoseconds, by the clock that stamps files; it may be that of a file server. */
export async function nowOnDisk(directory: string): Promise<bigint> {
  const path = join(directory, temporaryName())
  const handle = await open(path, 'wx')
  try {
    return (await handle.stat(EXACT)).ctimeNs
  } finally {
    await handle.close()
    await removeFile(path)
  }
}
