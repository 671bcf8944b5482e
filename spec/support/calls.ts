// Calls of Node that do something else for a while.
import fs from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import type { ExecutionContext } from './test.ts'

/** Replaces calls of `node:fs`, and of its `promises.`, until the spec, or what comes first, is over. */
export function replaceCalls(t: ExecutionContext, calls: object): () => void {
  const restored = Object.entries(calls).map(([name, call]) => {
    const key = name.replace('promises.', '')
    const owner = key === name ? fs : promises
    const original: unknown = Reflect.get(owner, key)
    Reflect.set(owner, key, call)
    return () => Reflect.set(owner, key, original)
  })
  syncBuiltinESMExports()
  const restore = () => {
    for (const each of restored) each()
    syncBuiltinESMExports()
  }
  t.teardown(restore)
  return restore
}
