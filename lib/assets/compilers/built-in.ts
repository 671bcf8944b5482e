// The built-in compilers, from optional peer dependencies. Each, with our file for it, is loaded when the first
// source needs it; to add one, add a file and a row here.
import { basename, dirname } from 'node:path'
import type * as Esbuild from 'esbuild'
import type * as Sass from 'sass'
import type { BuiltInCompiler, Compiler } from './compiler.ts'
import type { LessModule } from './less.ts'

const sass = (extensions: string, syntax: Sass.Syntax): BuiltInCompiler => ({
  extensions,
  target: '.css',
  peers: ['sass-embedded', 'sass'],
  compile: async (input, peer) =>
    (await import('./sass.ts')).compileSass(peer as typeof Sass, input, syntax)
})

const esbuild = (loader: 'ts' | 'tsx' | 'jsx'): BuiltInCompiler => ({
  extensions: `.${loader}`,
  target: '.js',
  peers: ['esbuild'],
  compile: async (input, peer) =>
    (await import('./esbuild.ts')).compileByEsbuild(peer as typeof Esbuild, input, loader)
})

export const TABLE: readonly BuiltInCompiler[] = [
  sass('.scss', 'scss'),
  sass('.sass', 'indented'),
  {
    extensions: '.less',
    target: '.css',
    peers: ['less'],
    compile: async (input, peer) =>
      (await import('./less.ts')).compileLess(peer as LessModule, input)
  },
  esbuild('ts'),
  esbuild('tsx'),
  esbuild('jsx')
]

export function withPeer({ extensions, target, peers, compile }: BuiltInCompiler): Compiler {
  return {
    extensions,
    target,
    compile: async input => {
      const { loadPeer } = await import('./load-peer.ts')
      const nodeModules = input.loadPaths.find(path => basename(path) === 'node_modules')
      return compile(input, await loadPeer(peers, input.path, nodeModules && dirname(nodeModules)))
    }
  }
}

export const builtInCompilers: readonly Compiler[] = TABLE.map(withPeer)

export function isBuiltIn(compiler: Compiler): boolean {
  return builtInCompilers.includes(compiler)
}

/** The packages that these compilers load. */
export const PEERS = [...new Set(TABLE.flatMap(({ peers }) => peers))]
