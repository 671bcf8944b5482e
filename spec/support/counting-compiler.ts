import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Compiler } from '../../lib/runtime/settings/compiler.ts'

/** Copies, after each `import <path>` was replaced by that file; counts how often. */
export function makeCounter(extension = '.inc', target = '.css') {
  const calls: string[] = []
  const compiler: Compiler = {
    extensions: extension,
    target,
    compile({ code, path }) {
      calls.push(path)
      const dependencies: string[] = []
      const replaced = code.replace(/^import (.*)$/gm, (_, name: string) => {
        const file = join(dirname(path), name)
        dependencies.push(file)
        return readFileSync(file, 'utf8')
      })
      return { code: replaced, dependencies }
    }
  }
  return { calls, compiler }
}
