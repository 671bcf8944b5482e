// Turns a failure of the disk into an error that names the asset and the next step.
import { relative } from 'node:path'
import { AssetError } from '../../errors.ts'
import type { ServedPlace } from '../containment.ts'
import { errorCode } from '../disk.ts'

/** The project whose `root` error messages show paths relative to. */
type Project = Pick<ServedPlace, 'root'>

/** Wraps the error of a system call; any other error stays as it is. */
export function asPublishError({ root }: Project, path: string, error: unknown): unknown {
  const code = errorCode(error)
  const { path: source, dest, syscall } = (error ?? {}) as NodeJS.ErrnoException & { dest?: string }
  if (code === undefined || syscall === undefined) return error
  // Copy and rename have two paths: ENOENT is about the source, any other failure about the target.
  const failed = code === 'ENOENT' ? source : (dest ?? source)
  const file = failed === undefined ? '' : ` ${relative(root, failed) || root}`
  const message = `cannot publish ${path}: ${syscall}${file} failed with ${code}`
  return new AssetError('publish-failed', `${message}${ADVICE[code] ?? ''}`, { cause: error })
}

/** For `catch`. */
export function rethrowAsPublishError(project: Project, path: string) {
  return (error: unknown): never => {
    throw asPublishError(project, path, error)
  }
}

const PERMISSION = '; allow this process to read the sources and to write to public'
const ADVICE: Readonly<Record<string, string>> = {
  EACCES: PERMISSION,
  EPERM: PERMISSION,
  EROFS: '; public is on a read-only file system: precompile, and set compile to false',
  ENOSPC: '; the disk is full',
  EDQUOT: '; the disk quota is exceeded',
  EFBIG: '; this process may not write files of that size: see ulimit -f',
  EEXIST: '; a file exists where a directory is needed',
  ENOTDIR: '; a file exists where a directory is needed',
  EISDIR: '; a directory exists where the file belongs'
}
