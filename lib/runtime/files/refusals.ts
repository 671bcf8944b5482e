// Systems refuse calls even to the owner of a file: Windows chmod and fsync of folders, WSL, CIFS, FUSE chmod, utimes.
import { dirname } from 'node:path'
import { warnOnce } from '../errors.ts'
import { errorCode, lstatOf, named } from './disk.ts'

const CONSEQUENCES = {
  chmod:
    'files get the permissions that the system gives them, and a server in front must be able to read them',
  utimes:
    'what is written twice within a second waits until that second is over, and clean counts ages from when files were written',
  fsync: 'after a power loss the last precompile may have to be run again'
} as const

type RefusableCall = keyof typeof CONSEQUENCES

/** ERR_ACCESS_DENIED: Node's permission model. */
const REFUSED = ['EPERM', 'ENOSYS', 'ENOTSUP', 'EINVAL', 'ERR_ACCESS_DENIED']
// These may be about bytes in fsync: a network file system then reports that its server did not take earlier ones.
const FORBIDDEN = ['EACCES', 'EROFS']

export function isRefusal(error: unknown, call?: RefusableCall): boolean {
  const code = errorCode(error) ?? ''
  return REFUSED.includes(code) || (call !== 'fsync' && FORBIDDEN.includes(code))
}

const refused = new Map<RefusableCall, string>()
let tell: ((message: string) => void) | undefined

/** Passes each kind of refusal in this process to a log, past and future ones. */
export function tellRefusals(log: (message: string) => void): void {
  tell = log
  refused.forEach(log)
}

export async function unlessRefused(call: RefusableCall, path: string, ask: () => unknown) {
  try {
    await ask()
    return true
  } catch (error) {
    if (!isRefusal(error, call)) throw named(error, path)
    remember(call, path, errorCode(error))
    return false
  }
}

function remember(call: RefusableCall, path: string, code = ''): void {
  // Windows always refuses these, so nobody there could change anything.
  const isUsual = process.platform === 'win32' && (call === 'chmod' || call === 'fsync')
  if (refused.has(call) || isUsual) return
  const message = `the system refuses ${call} in ${dirname(path)} (${code}), so ${CONSEQUENCES[call]}`
  refused.set(call, message)
  tell?.(message)
}

const warn = warnOnce()

// The last one comes from Node's permission model.
const DENIED = new Set(['EACCES', 'EPERM', 'ERR_ACCESS_DENIED'])

export const isDenied = (error: unknown): boolean => DENIED.has(errorCode(error) ?? '')

/** Resolves to undefined, and warns once, if this process lacks permission to read an absolute path. */
export async function ifReadable<T>(path: string, outcome: Promise<T> | T): Promise<T | undefined> {
  try {
    return await outcome
  } catch (error) {
    if (!isDenied(error)) throw error
    warn(
      `${await deniedAt(path)} is not served, because this process may not read it: correct its permissions, or move it`
    )
    return undefined
  }
}

/** Returns the path itself, or the folder above it that may not be entered, which many paths share. */
async function deniedAt(path: string): Promise<string> {
  try {
    await lstatOf(path)
    return path
  } catch (error) {
    if (!isDenied(error)) throw error
    const above = dirname(path)
    return above === path ? path : deniedAt(above)
  }
}
