// Which process something belongs to, on a disk that machines and containers may share.
import { readFileSync, readlinkSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { errorCode } from '../disk.ts'
import { digestOf } from '../digest.ts'

/** A process, for as long as it lives: its number is given to others later. */
export interface Owner {
  /** Among the processes of which space the number counts. */
  readonly space: string
  readonly pid: number
  /** Clock ticks from the start of the machine to that of the process; undefined without /proc. */
  readonly start: string | undefined
}

// Containers on one machine may bear one host name and have processes of the same numbers; what tells
// them apart is the machine's start and the namespace of the numbers (pid_namespaces(7)).
const BOOT = atStart(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'))
const NAMESPACE = atStart(() => readlinkSync('/proc/self/ns/pid'))
const SPACE = digestOf(Buffer.from(BOOT && NAMESPACE ? `${BOOT} ${NAMESPACE}` : hostname())).slice(
  0,
  8
)

export const SELF: Owner = {
  space: SPACE,
  pid: process.pid,
  start: readStat(atStart(() => readFileSync('/proc/self/stat', 'utf8')))?.start
}

const SEPARATOR = '-'
const UNKNOWN = 'x'

/** In one word: `1a2b3c4d-4711-88612`. */
export function formatOwner({ space, pid, start = UNKNOWN }: Owner): string {
  return [space, pid, start].join(SEPARATOR)
}

export function readOwner(text: string): Owner {
  const [space = '', pid = '', start = UNKNOWN] = text.split(SEPARATOR)
  return { space, pid: Number(pid), start: start === UNKNOWN ? undefined : start }
}

/** Whether the process has ended; undefined when that cannot be told from here. */
export async function hasEnded({ space, pid, start }: Owner): Promise<boolean | undefined> {
  if (space !== SPACE || !Number.isSafeInteger(pid) || pid < 1) return undefined
  if (!isAlive(pid)) return true
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(unlessUnreadable)
  const current = readStat(text)
  if (current === undefined || start === undefined) return undefined
  // A zombie has ended, although nobody has asked how.
  return current.start !== start || current.state === 'Z'
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // EPERM: it is another user's.
    return errorCode(error) !== 'ESRCH'
  }
}

/** proc_pid_stat(5): the name of the program may hold anything, so that fields are counted behind it. */
function readStat(text: string | undefined): { state: string; start: string } | undefined {
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

/** Not every system has /proc, and not every process may read it. */
function unlessUnreadable(error: unknown): undefined {
  if (errorCode(error) === undefined) throw error
}
