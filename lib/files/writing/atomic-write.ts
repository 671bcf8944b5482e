// Writes a file completely or not at all: a temporary file in the same directory, then a rename, at once or
// together with others. What is renamed is compared first: somebody may have put a link in its place.
import { constants } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { AssetError } from '../../errors.ts'
import {
  errorCode,
  isSameFileAt,
  isInUse,
  isCurrentOrLater,
  isSameInode,
  lstatOf,
  removeFile,
  renameFile,
  type Stamp,
  statOf
} from '../disk.ts'
import { readSnapshot, type Content, sameBytes, setMtime } from '../open-file.ts'
import { withOpened, writeTemporary, type WriteChecks } from './temporary.ts'
import { requireInPlace, type Boundary } from '../containment.ts'
import { pathFrom } from '../paths.ts'

/** A complete file under a temporary name, which replaces a target. */
export interface Replacement {
  /** False when the target already has these bytes, or when it is removed. */
  readonly isNew: boolean
  commit(): Promise<void>
  discard(): Promise<void>
}

interface Prepared extends Replacement {
  /** The stamp of the target after the commit; one that it cannot have when another process has replaced it. */
  stamp(): Promise<Stamp>
}

/** Writes a target with mode 0644. */
export async function writeAtomically(
  target: string,
  content: Content,
  checks: WriteChecks = {}
): Promise<void> {
  const staged = await stage(target, content, checks)
  await staged.commit()
}

/**
 * Prepares nothing when the target has the same bytes already. A link counts as no target. Different bytes never
 * have an mtime in the same second: nginx makes its validators of size and mtime, and would respond with a false 304.
 */
export async function prepareReplacement(
  target: string,
  content: Content,
  checks: WriteChecks = {}
): Promise<Prepared> {
  const existing = await lstatOf(target)
  if (existing?.isFile() && (await hasContent(target, existing, content))) {
    const nothing = async () => undefined
    return { isNew: false, commit: nothing, discard: nothing, stamp: async () => existing }
  }
  // A file without a place is not served.
  const isNear = existing && checks.place && isCurrentOrLater(existing)
  return stage(target, content, checks, isNear ? existing : undefined)
}

async function hasContent(target: string, { size }: Stamp, content: Content): Promise<boolean> {
  if ('copyOf' in content) return content.copyOf === target || sameBytes(content.copyOf, target)
  if (Number(size) !== content.length) return false
  return (await readSnapshot(target))?.bytes.equals(content) ?? false
}

// SetFileTime needs a handle with FILE_WRITE_ATTRIBUTES, which none for reading has.
const TOUCHED =
  process.platform === 'win32' ? constants.O_RDWR : constants.O_RDONLY | constants.O_NONBLOCK

/**
 * Sets the mtime of a file, unless the system refuses it.
 * @throws ELOOP for a link
 */
export async function touch(path: string, mtimeNs: bigint, place?: Boundary): Promise<void> {
  await withOpened(path, TOUCHED, async file => {
    if (place) await requireInPlace(place, file)
    await setMtime(file, path, mtimeNs)
  })
}

/** Everything up to the rename. */
async function stage(
  target: string,
  content: Content,
  checks: WriteChecks,
  replaced?: Stamp
): Promise<Prepared> {
  const { path, stamp } = await writeTemporary(dirname(target), content, checks, replaced)
  const discard = () => removeFile(path)
  const commit = async () => {
    try {
      if (!(await isSameFileAt(path, stamp))) throw replacedMeanwhile(target)
      // Into the real directory: rename() resolves its two paths one after the other, and a link above
      // them may be swapped in between.
      const renamed = join(dirname(path), basename(target))
      await renameFile(path, renamed)
      checks.unsaved?.named(renamed)
    } catch (error) {
      await discard()
      throw Object.assign(error as Error, { dest: target })
    }
  }
  const now = async () => {
    const stats = await statOf(target)
    return stats && isSameInode(stats, stamp) ? stats : stamp
  }
  return { isNew: true, commit, stamp: now, discard }
}

function replacedMeanwhile(target: string): AssetError {
  const message = `${target} was not written: its temporary file was removed or replaced; let nobody else write to ${dirname(target)}, and run again`
  return new AssetError('publish-failed', message)
}

/** The project whose `root` error messages show paths relative to. */
type Root = Pick<Boundary, 'root'>

/** Wraps the error of a system call; any other error stays as it is. */
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

/** Returns a function for `catch`. */
export function rethrowAsPublishError(project: Root, path: string) {
  return (error: unknown): never => {
    throw asPublishError(project, path, error)
  }
}

const OPEN_ELSEWHERE =
  '; another program has it open, such as an editor, a download or a virus scanner, or it is read-only: close it, or correct that'
// A container without NODE_ENV compiles on request, as an unprivileged user: opening `public` to it would be wrong.
const PERMISSION =
  '; allow this process to read the sources and to write to public, or, on a server in production, set NODE_ENV=production'
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
