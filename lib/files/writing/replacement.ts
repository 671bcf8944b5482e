// Replaces a target, or removes it: prepared beside it first, committed at once or together with others.
import { lstat } from 'node:fs/promises'
import type { Content } from '../content.ts'
import {
  errorCode,
  ifThere,
  readSnapshot,
  removeFile,
  sameBytes,
  statOf,
  type Stamp
} from '../disk.ts'
import { commitFile, stageFile, writeAtomically, type WriteChecks } from './atomic-write.ts'
import { addSeconds, secondsLater, setMtime } from '../clock.ts'

export interface Replacement {
  /** False: the target already has these bytes; at most its mtime is set. */
  readonly isNew: boolean
  /** Returns the new stamp of the target; undefined when another process has already replaced it. */
  commit(): Promise<Stamp | undefined>
  discard(): Promise<void>
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
  mtimeNs: bigint,
  checks: WriteChecks = {}
): Promise<Replacement & { readonly mtimeNs: bigint }> {
  const stats = await ifThere(lstat(target, { bigint: true }))
  const existing = stats?.isFile() ? stats : undefined
  const seconds = existing && secondsLater(existing, mtimeNs)
  if (existing && (await hasContent(target, existing, content))) {
    return {
      ...PREPARED,
      mtimeNs: addSeconds(mtimeNs, seconds ?? 0),
      commit: async () => (seconds === undefined ? renewMtime(target, mtimeNs, checks) : existing)
    }
  }
  const unused = seconds === undefined ? mtimeNs : addSeconds(mtimeNs, seconds + 1)
  const staged = await stageFile(target, content, unused, checks)
  return {
    isNew: true,
    mtimeNs: unused,
    commit: () => commitFile(staged),
    discard: () => removeFile(staged.temporary)
  }
}

const PREPARED = { isNew: false, discard: async () => undefined }

/** Writes only when the bytes differ, and sets the mtime only when that differs. */
export async function writeIfChanged(
  ...replaced: Parameters<typeof prepareReplacement>
): Promise<Stamp | undefined> {
  return (await prepareReplacement(...replaced)).commit()
}

/** Undefined when there is nothing to remove. */
export async function prepareRemoval(path: string): Promise<Replacement | undefined> {
  if (!(await ifThere(lstat(path)))) return undefined
  return { ...PREPARED, commit: () => removeFile(path).then(() => undefined) }
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

async function hasContent(target: string, { size }: Stamp, content: Content): Promise<boolean> {
  if ('copyOf' in content) return content.copyOf === target || sameBytes(content.copyOf, target)
  if (Number(size) !== content.length) return false
  return (await readSnapshot(target))?.bytes.equals(content) ?? false
}
