// The table of built-in compilers: another one is a file of its own and a line here.
import { basename, dirname } from 'node:path'
import type { BuiltInCompiler, Compiler } from './compiler.ts'
import { esbuildCompilers } from './esbuild.ts'
import { lessCompilers } from './less.ts'
import { loadPeer } from './peers.ts'
import { sassCompilers } from './sass.ts'

const TABLE: readonly BuiltInCompiler[] = [...sassCompilers, ...lessCompilers, ...esbuildCompilers]

/** @param load a parameter for the specs */
export function makeBuiltInCompilers(load = loadPeer): readonly Compiler[] {
  return TABLE.map(({ extensions, target, peers, compile }) => ({
    extensions,
    target,
    compile: async input => {
      const nodeModules = input.loadPaths.find(path => basename(path) === 'node_modules')
      return compile(input, await load(peers, input.path, nodeModules && dirname(nodeModules)))
    }
  }))
}

export const builtInCompilers = makeBuiltInCompilers()

export function isBuiltIn(compiler: Compiler): boolean {
  return builtInCompilers.includes(compiler)
}

/** The packages that these load. */
export const PEERS = [...new Set(TABLE.flatMap(({ peers }) => peers))]
