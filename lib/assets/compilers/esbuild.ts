// TypeScript and JSX, by esbuild. It reads nothing but the source that it is given.
import { basename } from 'node:path'
import type * as Esbuild from 'esbuild'
import { CompileError } from '../../errors.ts'
import { projectOf, wantsMap, type CompilerInput, type CompilerOutput } from './compiler.ts'
import { ESBUILD, type Load } from './peers.ts'

export async function compileScript(
  load: Load,
  input: CompilerInput,
  loader: 'ts' | 'tsx' | 'jsx'
): Promise<CompilerOutput> {
  const { code, path } = input
  const esbuild = (await load(ESBUILD, path, projectOf(input))) as typeof Esbuild
  try {
    const result = await esbuild.transform(code, {
      loader,
      sourcefile: basename(path),
      sourcemap: wantsMap(input) ? 'inline' : false,
      target: 'es2022'
    })
    return { code: result.code, dependencies: [] }
  } catch (error) {
    throw scriptError(error, path)
  }
}

/** What esbuild says, with the place. */
export function scriptError(error: unknown, path: string): unknown {
  const [first] = (error as Partial<Esbuild.TransformFailure>).errors ?? []
  if (!first) return error
  const { line, column = 0, lineText } = first.location ?? {}
  const location = { file: path, line, column: column + 1, excerpt: lineText }
  return new CompileError(first.text, location, { cause: error })
}
