// A target's new bytes, prepared beside it and put in its place: at once, or with others at the end.
import { lstat } from 'node:fs/promises'
import {
  errorCode,
  ifThere,
  readSnapshot,
  removeFile,
  sameBytes,
  statOf,
  type Stamp
} from '../disk.ts'
import type { Content } from '../content.ts'
import { commitFile, stageFile, writeAtomically, type WriteChecks } from './atomic-write.ts'
import { addSeconds, secondsLater, setMtime } from './mtime.ts'

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
  checks: WriteChecks = {}
): Promise<ContentReplacement> {
  const stats = await ifThere(lstat(target, { bigint: true }))
  const existing = stats?.isFile() ? stats : undefined
  const seconds = existing && secondsLater(existing, mtimeNs)
  if (existing && (await holds(target, existing, content))) {
    return {
      isNew: false,
      mtimeNs: addSeconds(mtimeNs, seconds ?? 0),
      commit: async () => (seconds === undefined ? renewMtime(target, mtimeNs, checks) : existing),
      discard: async () => undefined
    }
  }
  const free = seconds === undefined ? mtimeNs : addSeconds(mtimeNs, seconds + 1)
  const staged = await stageFile(target, content, free, checks)
  return {
    isNew: true,
    mtimeNs: free,
    commit: () => commitFile(staged),
    discard: () => removeFile(staged.temporary)
  }
}

/** Writes only when the bytes differ; sets the mtime only when that differs. */
export async function writeIfChanged(
  target: string,
  content: Content,
  mtimeNs: bigint,
  checks?: WriteChecks
): Promise<Stamp | undefined> {
  return (await prepareReplacement(target, content, mtimeNs, checks)).commit()
}

/** Undefined for what is not there anyway. */
export async function prepareRemoval(path: string): Promise<Replacement | undefined> {
  if (!(await ifThere(lstat(path)))) return undefined
  const commit = async () => {
    await removeFile(path)
    return undefined
  }
  return { isNew: false, commit, discard: async () => undefined }
}

async function renewMtime(
  target: string,
  mtimeNs: bigint,
  { checkLocation }: WriteChecks
): Promise<Stamp | undefined> {
  try {
    await setMtime(target, mtimeNs)
  } catch (error) {
    // Another user's file can be replaced, but not touched.
    if (errorCode(error) === 'EPERM')
      return writeAtomically(target, { copyOf: target }, mtimeNs, { checkLocation })
    throw error
  }
  return statOf(target)
}

async function holds(target: string, { size }: Stamp, content: Content): Promise<boolean> {
  if ('copyOf' in content) return sameBytes(content.copyOf, target)
  if (Number(size) !== content.length) return false
  const existing = await readSnapshot(target)
  return existing?.bytes.equals(content) ?? false
}
