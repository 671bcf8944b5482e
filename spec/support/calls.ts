// Calls of Node that do something else for a while.
import fs from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import type { ExecutionContext } from './test.ts'

type Call = (this: unknown, ...words: unknown[]) => unknown

/**
 * Replaces calls of `node:fs`, and of its `promises.`, until the spec, or what comes first, is over. Where two specs at
 * once replace the same one, the later calls what it found, and either ends first.
 */
export function replaceCalls(t: ExecutionContext, calls: object): () => void {
  const restored = Object.entries(calls).map(([name, call]) => {
    const key = name.replace('promises.', '')
    const owner = key === name ? fs : promises
    const original = Reflect.get(owner, key) as Call
    let current = call as Call
    const ours: Call = function (...words) {
      return current.apply(this, words)
    }
    Reflect.set(owner, key, ours)
    return () => {
      current = original
      // Below that of another spec it stays, and does nothing.
      if (Reflect.get(owner, key) === ours) Reflect.set(owner, key, original)
    }
  })
  syncBuiltinESMExports()
  const restore = () => {
    for (const each of restored) each()
    syncBuiltinESMExports()
  }
  t.teardown(restore)
  return restore
}
