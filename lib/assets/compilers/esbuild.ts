// Compiles TypeScript and JSX with esbuild.
import { basename } from 'node:path'
import type * as Esbuild from 'esbuild'
import { CompileError } from '../../errors.ts'
import { wantsMap, type BuiltInCompiler, type CompilerInput } from './compiler.ts'
import { loadPeer } from './peers.ts'

const PEERS = ['esbuild']
const LOADERS = ['ts', 'tsx', 'jsx'] as const
type Loader = (typeof LOADERS)[number]

export const esbuildCompilers: readonly BuiltInCompiler[] = LOADERS.map(loader => ({
  extensions: `.${loader}`,
  target: '.js',
  peers: PEERS,
  compile: (input, peer) => compile(peer as typeof Esbuild, input, loader)
}))

/** @param purpose what needs esbuild, for the error when it is not installed */
export async function loadEsbuild(purpose: string, from: string, load = loadPeer) {
  return (await load(PEERS, purpose, from)) as typeof Esbuild
}

async function compile(esbuild: typeof Esbuild, input: CompilerInput, loader: Loader) {
  const { code, path } = input
  try {
    const result = await esbuild.transform(code, {
      loader,
      sourcefile: basename(path),
      sourcemap: wantsMap(input) ? 'inline' : false,
      target: 'es2022'
    })
    return { code: result.code, dependencies: [] }
  } catch (error) {
    throw asCompileError(error, path)
  }
}

/** A failure of esbuild as a `CompileError` with its place; any other error stays as it is. */
export function asCompileError(error: unknown, path: string): unknown {
  const [first] = (error as Partial<Esbuild.TransformFailure>).errors ?? []
  if (!first) return error
  const { line, column = 0, lineText } = first.location ?? {}
  const location = { file: path, line, column: column + 1, excerpt: lineText }
  return new CompileError(first.text, location, { cause: error })
}
