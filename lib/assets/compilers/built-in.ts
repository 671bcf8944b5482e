// The built-in compilers, each of an optional peer dependency: another one is a file of its own and a line here.
import { basename, dirname } from 'node:path'
import type { BuiltInCompiler, Compiler } from './compiler.ts'
import { esbuildCompilers } from './esbuild.ts'
import { lessCompilers } from './less.ts'
import { loadPeer } from './peers.ts'
import { sassCompilers } from './sass.ts'

const TABLE: readonly BuiltInCompiler[] = [...sassCompilers, ...lessCompilers, ...esbuildCompilers]

export function withPeer({ extensions, target, peers, compile }: BuiltInCompiler): Compiler {
  return {
    extensions,
    target,
    compile: async input => {
      const nodeModules = input.loadPaths.find(path => basename(path) === 'node_modules')
      return compile(input, await loadPeer(peers, input.path, nodeModules && dirname(nodeModules)))
    }
  }
}

export const builtInCompilers: readonly Compiler[] = TABLE.map(withPeer)

export function isBuiltIn(compiler: Compiler): boolean {
  return builtInCompilers.includes(compiler)
}

/** The packages that these load. */
export const PEERS = [...new Set(TABLE.flatMap(({ peers }) => peers))]
