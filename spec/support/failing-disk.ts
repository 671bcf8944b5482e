// A disk on which one call fails, or on which nothing happens any more, as after a kill. It replaces Node's calls
// in this process, for what is below one directory.
import fs from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { words } from './texts.ts'

const TEXTS = { EIO: 'i/o error', ENOSPC: 'no space left on device', EACCES: 'permission denied' }

export const CODES = Object.keys(TEXTS) as readonly (keyof typeof TEXTS)[]

interface Fault {
  /** Which call fails, from 1, or the first that is like this. Default: none. */
  readonly at?: number | ((call: DiskCall) => boolean)
  readonly code?: keyof typeof TEXTS
  /** Whether no later call has an effect either. */
  readonly isEnd?: boolean
}

export interface DiskCall {
  readonly syscall: string
  readonly path: string
}

/** By the last part of their names, the system calls whose names differ; of an open file below. */
const SYSCALLS: Readonly<Record<string, string>> = {
  ...{ readdir: 'scandir', utimes: 'utime', readFile: 'read', writeFile: 'write' },
  ...{ appendFile: 'write' }
}
const OF_OPEN_FILES: Readonly<Record<string, string>> = {
  ...{ futimes: 'futime', stat: 'fstat', chmod: 'fchmod', utimes: 'futime' },
  ...{ sync: 'fsync', truncate: 'ftruncate' }
}
const NAMES = words(`appendFile chmod close copyFile datasync fchmod fstat fsync futimes link lstat
  mkdir open read readdir readFile realpath rename rm rmdir stat sync truncate unlink utimes write
  writeFile`)

type Call = (this: unknown, ...words: unknown[]) => unknown
type Style = 'promise' | 'callback' | 'sync'

/** Runs something on such a disk. */
export async function onFailingDisk<T>(
  directory: string,
  { at: wanted, code = 'EIO', isEnd = false }: Fault,
  run: () => Promise<T>
) {
  const opened = new Map<unknown, string>()
  const calls: DiskCall[] = []
  let at = typeof wanted === 'number' ? wanted : undefined
  const fail = (name: string, file: unknown, dest: unknown): Error | undefined => {
    const path = typeof file === 'string' ? file : opened.get(file)
    const isBelow = path === directory || path?.startsWith(join(directory, '/'))
    if (path === undefined || !isBelow) return undefined
    const isNamed = typeof file === 'string' && !name.endsWith('File')
    const syscall =
      (typeof file === 'string' ? undefined : OF_OPEN_FILES[name]) ?? SYSCALLS[name] ?? name
    const call = { syscall, path }
    calls.push(call)
    if (typeof wanted === 'function' && wanted(call)) at ??= calls.length
    if (calls.length !== at && !(isEnd && calls.length > Number(at))) return undefined
    const to = typeof dest === 'string' && /^(?:link|rename)$/.test(name) ? { dest } : {}
    const place = isNamed ? ` '${path}'${to.dest === undefined ? '' : ` -> '${to.dest}'`}` : ''
    const error = new Error(`${code}: ${TEXTS[code]}, ${syscall}${place}`)
    return Object.assign(error, { code, syscall, ...(isNamed && { path, ...to }) })
  }
  const wrap = (style: Style, name: string, call: Call): Call =>
    function (this: unknown, ...words) {
      const file = opened.has(this) ? this : words[0]
      const error = fail(name, file, words[1])
      const finish = words.at(-1) as Call
      if (!error) {
        if (name === 'close') opened.delete(file)
        if (name !== 'open') return call.apply(this, words)
        const remember = (it: unknown) => (opened.set(it, String(file)), it)
        if (style === 'sync') return remember(call.apply(this, words))
        if (style === 'promise') return (call.apply(this, words) as Promise<unknown>).then(remember)
        const done: Call = (failure, fd) => finish(failure, failure ? fd : remember(fd))
        return call.apply(this, [...words.slice(0, -1), done])
      }
      const left = calls.length === at || name === 'close' ? leave(name, words, isEnd) : undefined
      const done = left && call.apply(this, left)
      if (style === 'sync') throw error
      if (style === 'promise') return Promise.resolve(done).then(() => Promise.reject(error))
      return setImmediate(() => {
        // As Node has it for what nobody waits for.
        if (typeof finish !== 'function') throw error
        finish(error)
      })
    }
  const restore = await replaceCalls(wrap)
  try {
    const result = await run()
    return { result, calls, failed: at === undefined ? undefined : calls[at - 1] }
  } finally {
    restore()
  }
}

/** With which words a call that fails is made all the same: a file is closed, and what was written stays. */
function leave(name: string, words: readonly unknown[], isEnd: boolean): unknown[] | undefined {
  if (name === 'close') return [...words]
  if (!/^(?:write|append)/.test(name)) return undefined
  const part = isEnd ? 0 : 0.5
  return words.map((word, at) => {
    // The length of what is written from a buffer.
    if (typeof word === 'number' && at === 3) return Math.floor(word * part)
    const isContent =
      typeof words[3] !== 'number' &&
      (Buffer.isBuffer(word) || (typeof word === 'string' && at > 0 && !/^(?:utf8|a)$/.test(word)))
    return isContent ? word.slice(0, word.length * part) : word
  })
}

async function replaceCalls(wrap: (style: Style, name: string, call: Call) => Call) {
  const handle = await promises.open(process.execPath)
  const ofHandles: unknown = Object.getPrototypeOf(handle)
  await handle.close()
  const replaced: (() => void)[] = []
  for (const [object, style, ending] of [
    [promises, 'promise', ''],
    [ofHandles, 'promise', ''],
    [fs, 'callback', ''],
    [fs, 'sync', 'Sync']
  ] as const) {
    const calls = object as Record<string, Call>
    for (const name of NAMES) {
      const [key, call] = [name + ending, calls[name + ending]]
      if (!call) continue
      calls[key] = wrap(style, name, call)
      replaced.push(() => (calls[key] = call))
    }
  }
  syncBuiltinESMExports()
  return () => {
    for (const restore of replaced) restore()
    syncBuiltinESMExports()
  }
}
