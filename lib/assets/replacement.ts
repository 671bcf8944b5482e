// A target's new bytes, prepared beside it and put in its place: at once, or with others at the end.
import { lstat } from 'node:fs/promises'
import { errorCode, missing, readWhole, sameBytes, statOf, type Mark } from './disk.ts'
import {
  isStamped,
  prepare,
  put,
  remove,
  stamp,
  writeWhole,
  type Checks,
  type Content
} from './write-whole.ts'

export interface Replacement {
  /** False: the target holds these bytes already, and gets their mtime at most. */
  readonly isNew: boolean
  /** The mark that the target has then; undefined when another process has replaced it meanwhile. */
  commit(): Promise<Mark | undefined>
  discard(): Promise<void>
}

/** Compares first, so that what is there already is not written again. A link is no target. */
export async function prepareReplacement(
  target: string,
  content: Content,
  mtimeNs: bigint,
  judge?: Checks['judge']
): Promise<Replacement> {
  const existing = await missing(lstat(target, { bigint: true }))
  if (existing?.isFile() && (await holds(target, content))) {
    return {
      isNew: false,
      commit: async () =>
        isStamped(existing, mtimeNs) ? existing : restamp(target, mtimeNs, judge),
      discard: async () => undefined
    }
  }
  const prepared = await prepare(target, content, mtimeNs, { judge })
  return {
    isNew: true,
    commit: () => put(prepared),
    discard: () => remove(prepared.temporary)
  }
}

/** Writes only when the bytes differ; sets the mtime only when that differs. */
export async function write(
  target: string,
  content: Content,
  mtimeNs: bigint,
  judge?: Checks['judge']
): Promise<Mark | undefined> {
  return (await prepareReplacement(target, content, mtimeNs, judge)).commit()
}

/** Undefined for what is not there anyway. */
export async function prepareRemoval(path: string): Promise<Replacement | undefined> {
  if (!(await missing(lstat(path)))) return undefined
  const commit = async () => {
    await remove(path)
    return undefined
  }
  return { isNew: false, commit, discard: async () => undefined }
}

async function restamp(
  target: string,
  mtimeNs: bigint,
  judge: Checks['judge']
): Promise<Mark | undefined> {
  try {
    await stamp(target, mtimeNs)
  } catch (error) {
    // Another user's file can be replaced, but not touched.
    if (errorCode(error) === 'EPERM')
      return writeWhole(target, { copyOf: target }, mtimeNs, { judge })
    throw error
  }
  return statOf(target)
}

async function holds(target: string, content: Content): Promise<boolean> {
  if ('copyOf' in content) return sameBytes(content.copyOf, target)
  const existing = await readWhole(target)
  return existing?.bytes.equals(content) ?? false
}
