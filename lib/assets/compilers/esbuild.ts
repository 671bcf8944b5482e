// Compiles TypeScript and JSX with esbuild.
import { basename } from 'node:path'
import type * as Esbuild from 'esbuild'
import { CompileError } from '../../errors.ts'
import type { CompilerInput } from './compiler.ts'

export async function compileByEsbuild(
  esbuild: typeof Esbuild,
  { code, path, sourceMap }: CompilerInput,
  loader: 'ts' | 'tsx' | 'jsx'
) {
  try {
    const result = await esbuild.transform(code, {
      loader,
      sourcefile: basename(path),
      sourcemap: sourceMap ? 'inline' : false,
      target: 'es2022'
    })
    return { code: result.code }
  } catch (error) {
    throw asCompileError(error, path)
  }
}

/** Turns an esbuild failure into a `CompileError` with its location, and returns any other error unchanged. */
export function asCompileError(error: unknown, path: string): unknown {
  const [first] = (error as Partial<Esbuild.TransformFailure>).errors ?? []
  if (!first) return error
  const { line, column = 0, lineText } = first.location ?? {}
  const location = { file: path, line, column: column + 1, excerpt: lineText }
  return new CompileError(first.text, location, { cause: error })
}
