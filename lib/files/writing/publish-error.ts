// What a person is told of a disk that refuses: which asset it is about, and what to do.
import { relative } from 'node:path'
import { AssetError } from '../../errors.ts'
import { errorCode } from '../disk.ts'

interface Project {
  /** Absolute; paths are shown from there. */
  readonly root: string
}

/** An error of the disk says which asset it is about, and what to do; any other stays what it is. */
export function asPublishError({ root }: Project, path: string, error: unknown): unknown {
  const code = errorCode(error)
  if (error instanceof AssetError || code === undefined || !('syscall' in (error as object))) {
    return error
  }
  const { path: at, dest, syscall = '' } = error as NodeJS.ErrnoException & { dest?: string }
  // Of a copy or a rename that failed, what is not there is the source; else the target is to blame.
  const blamed = code === 'ENOENT' ? at : (dest ?? at)
  const file = blamed === undefined ? '' : ` ${relative(root, blamed) || root}`
  const message = `cannot publish ${path}: ${syscall}${file} failed with ${code}`
  return new AssetError('publish-failed', `${message}${ADVICE[code] ?? ''}`, { cause: error })
}

/** For `catch`. */
export function rethrowAsPublishError(project: Project, path: string) {
  return (error: unknown): never => {
    throw asPublishError(project, path, error)
  }
}

const ADVICE: Readonly<Record<string, string>> = {
  EACCES: '; give this process the right to read sources and to write public',
  EPERM: '; give this process the right to read sources and to write public',
  EROFS: '; public lies on a read-only file system: precompile, and set compile to false',
  ENOSPC: '; the disk is full',
  EDQUOT: '; the quota of disk space is used up',
  EFBIG: '; this process may not write files of that size: see ulimit -f',
  EEXIST: '; a file stands where a directory is needed',
  ENOTDIR: '; a file stands where a directory is needed',
  EISDIR: '; a directory stands where the file belongs'
}
