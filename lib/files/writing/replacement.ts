// A target's new bytes, prepared beside it and put in its place: at once, or with others at the end.
import { lstat } from 'node:fs/promises'
import { errorCode, ifThere, readWhole, sameBytes, statOf, type Stamp } from '../disk.ts'
import {
  later,
  prepare,
  put,
  remove,
  secondsLater,
  setMtime,
  writeWhole,
  type Checks,
  type Content
} from './write-whole.ts'

export interface Replacement {
  /** False: the target holds these bytes already, and gets their mtime at most. */
  readonly isNew: boolean
  /** The stamp that the target has then; undefined when another process has replaced it meanwhile. */
  commit(): Promise<Stamp | undefined>
  discard(): Promise<void>
}

export interface ContentReplacement extends Replacement {
  /** The mtime that the target has then. */
  readonly mtimeNs: bigint
}

/**
 * Compares first, so that what is there already is not written again. A link is no target.
 *
 * Other bytes never get the second of the former ones: an image may be replaced by an older one, and
 * packages have one mtime in every version. Servers that make validators of size and mtime (nginx) would
 * answer 304 to whoever has the former ones. They are a second later each time, and stay so.
 */
export async function prepareReplacement(
  target: string,
  content: Content,
  mtimeNs: bigint,
  checks: Checks = {}
): Promise<ContentReplacement> {
  const stats = await ifThere(lstat(target, { bigint: true }))
  const existing = stats?.isFile() ? stats : undefined
  const seconds = existing && secondsLater(existing, mtimeNs)
  if (existing && (await holds(target, existing, content))) {
    return {
      isNew: false,
      mtimeNs: later(mtimeNs, seconds ?? 0),
      commit: async () => (seconds === undefined ? renewMtime(target, mtimeNs, checks) : existing),
      discard: async () => undefined
    }
  }
  const free = seconds === undefined ? mtimeNs : later(mtimeNs, seconds + 1)
  const prepared = await prepare(target, content, free, checks)
  return {
    isNew: true,
    mtimeNs: free,
    commit: () => put(prepared),
    discard: () => remove(prepared.temporary)
  }
}

/** Writes only when the bytes differ; sets the mtime only when that differs. */
export async function write(
  target: string,
  content: Content,
  mtimeNs: bigint,
  checks?: Checks
): Promise<Stamp | undefined> {
  return (await prepareReplacement(target, content, mtimeNs, checks)).commit()
}

/** Undefined for what is not there anyway. */
export async function prepareRemoval(path: string): Promise<Replacement | undefined> {
  if (!(await ifThere(lstat(path)))) return undefined
  const commit = async () => {
    await remove(path)
    return undefined
  }
  return { isNew: false, commit, discard: async () => undefined }
}

async function renewMtime(
  target: string,
  mtimeNs: bigint,
  { judge }: Checks
): Promise<Stamp | undefined> {
  try {
    await setMtime(target, mtimeNs)
  } catch (error) {
    // Another user's file can be replaced, but not touched.
    if (errorCode(error) === 'EPERM')
      return writeWhole(target, { copyOf: target }, mtimeNs, { judge })
    throw error
  }
  return statOf(target)
}

async function holds(target: string, { size }: Stamp, content: Content): Promise<boolean> {
  if ('copyOf' in content) return sameBytes(content.copyOf, target)
  if (Number(size) !== content.length) return false
  const existing = await readWhole(target)
  return existing?.bytes.equals(content) ?? false
}
