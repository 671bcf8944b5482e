// Compiles TypeScript and JSX with esbuild, as the nearest tsconfig.json says.
import { basename } from 'node:path'
import type * as Esbuild from 'esbuild'
import { CompileError } from '../../errors.ts'
import { readSnapshot } from '../../files/open-file.ts'
import { rootFor, type CompilerInput, type ConfiguredOutput } from './compiler.ts'
import { jsxSourceIn, tsconfigFor } from './tsconfig.ts'

export { loadReader as loadBeforehand } from './tsconfig.ts'

export async function compileByEsbuild(
  esbuild: typeof Esbuild,
  input: CompilerInput,
  loader: 'ts' | 'tsx' | 'jsx'
): Promise<ConfiguredOutput> {
  const { code, path, sourceMap } = input
  const tsconfig = await tsconfigFor(path, rootFor(input) ?? process.cwd())
  const { files: configuration, lead, compilerOptions } = tsconfig
  await requireValid(esbuild, configuration)
  const isAutomatic = loader !== 'ts' && jsxSourceIn(code, tsconfig) !== undefined
  try {
    const result = await esbuild.transform(code, {
      loader,
      sourcefile: basename(path),
      sourcemap: sourceMap ? 'inline' : false,
      target: 'es2022',
      tsconfigRaw: { compilerOptions },
      ...(isAutomatic && { jsx: 'automatic' })
    })
    return { code: result.code, configuration, lead }
  } catch (error) {
    throw asCompileError(error, path)
  }
}

/** Rejects settings that cannot be parsed: to the reader of tsconfig.json they would be none. */
async function requireValid(esbuild: typeof Esbuild, files: readonly string[]): Promise<void> {
  for (const file of files) {
    const read = await readSnapshot(file)
    if (!read) continue
    await esbuild.transform('', { tsconfigRaw: read.bytes.toString() }).catch((error: unknown) => {
      throw asCompileError(error, file)
    })
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
