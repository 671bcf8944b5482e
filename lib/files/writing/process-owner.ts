// Which process owns a file, on a disk that machines and containers may share.
import { readFileSync, readlinkSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { errorCode } from '../disk.ts'
import { digestOf } from '../digest.ts'

/** Identifies a process permanently: the system reuses a pid. */
export interface Owner {
  /** The machine and pid namespace in which `pid` is valid. */
  readonly space: string
  readonly pid: number
  /** The start of the process in clock ticks since boot; undefined without /proc. */
  readonly start: string | undefined
}

// Containers on one machine may share its host name and each have a process 1. The boot id and the pid
// namespace tell them apart (pid_namespaces(7)).
const BOOT = atStart(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'))
const NAMESPACE = atStart(() => readlinkSync('/proc/self/ns/pid'))
const SPACE = digestOf(BOOT && NAMESPACE ? `${BOOT} ${NAMESPACE}` : hostname()).slice(0, 8)

export const SELF: Owner = {
  space: SPACE,
  pid: process.pid,
  start: parseStat(atStart(() => readFileSync('/proc/self/stat', 'utf8')))?.start
}

const SEPARATOR = '-'
const UNKNOWN = 'x'

/** Returns a single word: `1a2b3c4d-4711-88612`. */
export function formatOwner({ space, pid, start = UNKNOWN }: Owner): string {
  return [space, pid, start].join(SEPARATOR)
}

export function parseOwner(text: string): Owner {
  const [space = '', pid = '', start = UNKNOWN] = text.split(SEPARATOR)
  return { space, pid: Number(pid), start: start === UNKNOWN ? undefined : start }
}

/** Whether the process has ended; undefined when this process cannot find out. */
export async function hasEnded({ space, pid, start }: Owner): Promise<boolean | undefined> {
  if (space !== SPACE || !Number.isSafeInteger(pid) || pid < 1) return undefined
  if (!isAlive(pid)) return true
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(unlessUnreadable)
  const current = parseStat(text)
  if (current === undefined || start === undefined) return undefined
  // A zombie has ended, but its parent has not waited for it.
  return current.start !== start || current.state === 'Z'
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // EPERM: the process belongs to another user.
    return errorCode(error) !== 'ESRCH'
  }
}

/** proc_pid_stat(5). The program's name may contain anything, so fields are counted after its `)`. */
function parseStat(text: string | undefined): { state: string; start: string } | undefined {
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, start] = [fields?.[0], fields?.[19]]
  return state !== undefined && start !== undefined ? { state, start } : undefined
}

function atStart(read: () => string): string | undefined {
  try {
    return read()
  } catch (error) {
    return unlessUnreadable(error)
  }
}

/** Some systems lack /proc, and some processes may not read it. */
function unlessUnreadable(error: unknown): undefined {
  if (errorCode(error) === undefined) throw error
}
