// Writes a file completely or not at all: a temporary file in the same directory, then a rename, at once or
// together with others. Whoever may write to the directory can put a link in the place of any name in it, so modes
// and times are set through handles, and what is renamed is compared first.
import { constants } from 'node:fs'
import { lstat, mkdir, open, rename, writeFile, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { AssetError } from '../../errors.ts'
import { realPathOfOpen } from '../containment.ts'
import {
  addSeconds,
  errorCode,
  EXACT,
  ifThere,
  isAt,
  isSameInode,
  named,
  removeFile,
  rethrowNamed,
  secondsLater,
  setMode,
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
import { sweepOnce, temporaryName } from './temporary.ts'
import type { Unsaved } from './unsaved.ts'

/** Rejects for an open file or directory that is not where it should be. */
export type LocationCheck = ((file: OpenFile) => Promise<void>) | undefined

/** Each of the checks rejects to keep the target as it is. */
export interface WriteChecks {
  /** Of what is created, before anything is written to it, and of a target whose mtime is set. */
  readonly checkLocation?: LocationCheck
  /** Checks the bytes that were written. */
  readonly checkContent?: ((temporary: OpenFile) => Promise<void>) | undefined
  /** Is told what is written. */
  readonly unsaved?: Unsaved | undefined
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
    await touch(target, mtimeNs, checkLocation)
  } catch (error) {
    if (errorCode(error) !== 'EPERM') throw error
    // Another user's file can be replaced, although its mtime cannot be set.
    return writeAtomically(target, { copyOf: target }, mtimeNs, { checkLocation })
  }
  return statOf(target)
}

/**
 * Sets the mtime of a file.
 * @throws ELOOP for a link
 */
export async function touch(
  path: string,
  mtimeNs: bigint,
  checkLocation?: LocationCheck
): Promise<void> {
  await withHandle(path, constants.O_RDONLY | constants.O_NONBLOCK, async handle => {
    await checkLocation?.(await described(path, handle))
    await setMtime(handle, path, mtimeNs)
  })
}

/** Everything up to the rename. */
async function stage(
  target: string,
  content: Content,
  mtimeNs: bigint,
  checks: WriteChecks
): Promise<Replacement> {
  const directory = dirname(target)
  await makeDirectory(directory, checks)
  await sweepOnce(directory)
  const { path, stamp } = await writeTemporary(directory, content, mtimeNs, checks)
  checks.unsaved?.written(path)
  const discard = () => {
    checks.unsaved?.removed(path)
    return removeFile(path)
  }
  const commit = async () => {
    try {
      if (!(await isAt(path, stamp))) throw replaced(target)
      // Into the real directory: rename() resolves its two paths one after the other, and a link above
      // them may be swapped in between.
      const renamed = join(dirname(path), basename(target))
      await rename(path, renamed)
      checks.unsaved?.renamed(path, renamed)
    } catch (error) {
      await discard()
      throw Object.assign(error as Error, { dest: target })
    }
    const stats = await statOf(target)
    return stats && isSameInode(stats, stamp) ? stats : undefined
  }
  return { isNew: true, commit, discard }
}

function replaced(target: string): AssetError {
  const message = `${target} was not written: its temporary file was removed or replaced; let nobody else write to ${dirname(target)}, and run again`
  return new AssetError('publish-failed', message)
}

/** @returns the real path of a complete file, and its stamp */
async function writeTemporary(
  directory: string,
  content: Content,
  mtimeNs: bigint,
  { checkLocation, checkContent }: WriteChecks
): Promise<{ path: string; stamp: Stamp }> {
  const name = temporaryName()
  const given = join(directory, name)
  const handle = await open(given, 'wx+', 0o644)
  let path = given
  try {
    const file = await described(given, handle)
    // A link above it may lead elsewhere by now. Nothing else has its name, wherever it was moved to.
    path = join(dirname((await realPathOfOpen(file)) ?? given), name)
    await checkLocation?.(file)
    if (!('copyOf' in content)) await handle.writeFile(content)
    else await withOriginal(content, original => writeFile(handle, streamOf(original)))
    await checkContent?.(await described(given, handle))
    await setMode(handle, path, 0o644)
    await setMtime(handle, path, mtimeNs)
    return { path, stamp: await handle.stat(EXACT) }
  } catch (error) {
    await removeFile(path)
    throw named(error, given)
  } finally {
    await handle.close().catch(async (error: unknown) => {
      await removeFile(path)
      throw named(error, given)
    })
  }
}

async function described(path: string, handle: FileHandle): Promise<OpenFile> {
  return { path, fd: handle.fd, stats: await handle.stat(EXACT) }
}

/** Opens what a path names, unless that is a link. */
async function withHandle(
  path: string,
  flags: number,
  use: (handle: FileHandle) => Promise<void>
): Promise<void> {
  const handle = await open(path, flags | constants.O_NOFOLLOW)
  try {
    await use(handle).catch(rethrowNamed(path))
  } finally {
    await handle.close().catch(rethrowNamed(path))
  }
}

/** Creates directories that a front web server can read, whatever the umask. */
export async function makeDirectory(
  directory: string,
  { checkLocation, unsaved }: WriteChecks = {}
): Promise<void> {
  const first = await mkdir(directory, { recursive: true })
  if (first === undefined) return
  for (let path = directory; path.length >= first.length; path = dirname(path)) {
    await withHandle(path, constants.O_RDONLY | constants.O_DIRECTORY, async handle => {
      await checkLocation?.(await described(path, handle))
      await setMode(handle, path, 0o755)
    })
    unsaved?.created(path)
  }
}
