// Compiles TypeScript and JSX with esbuild, according to the nearest tsconfig.json.
import { basename } from 'node:path'
import type * as Esbuild from 'esbuild'
import { CompileError } from '../../runtime/errors.ts'
import { pathFrom } from '../../runtime/files/paths.ts'
import type { CompilerInput } from '../../runtime/settings/compiler.ts'
import { rootFor, type ConfiguredOutput } from './compiler.ts'
import { dependencyAmong } from './leads.ts'
import { tsconfigFor } from './tsconfig.ts'

/** If no setting says what JSX means, the one of these that is a dependency in package.json does. */
const RUNTIMES = ['react', 'preact']
/** The comment `@jsxImportSource` does not match, as it needs a runtime too. The option `imports` may provide React. */
const PRAGMA = /@jsx(?:Runtime)?\s|\bimport\s+(?:\*\s*as\s+)?React\b/
const UNBOUND =
  'has JSX that calls React.createElement, and does not import React: set "jsx": "react-jsx" in tsconfig.json'

/** The texts of tsconfig.json files that esbuild has parsed, by path: an edited module does not wait for that again. */
const parsed = new Map<string, string>()

export async function compileByEsbuild(
  esbuild: typeof Esbuild,
  input: CompilerInput,
  loader: 'ts' | 'tsx' | 'jsx'
): Promise<ConfiguredOutput> {
  const { code, path, sourceMap } = input
  const root = rootFor(input)
  const { files, texts, compilerOptions } = await tsconfigFor(path, root)
  const looked = new Set<string>()
  const isLeft = loader !== 'ts' && !compilerOptions['jsx'] && !compilerOptions['jsxFactory']
  const jsxImportSource =
    isLeft && !PRAGMA.test(code) ? await dependencyAmong(RUNTIMES, path, root, looked) : undefined
  const jsx = jsxImportSource === undefined ? {} : { jsx: 'react-jsx' as const, jsxImportSource }
  let [file, tsconfigRaw] = [path, '']
  try {
    // The reader treats a file that cannot be parsed as empty.
    for ([file, tsconfigRaw] of texts) {
      if (parsed.get(file) !== tsconfigRaw) await esbuild.transform('', { tsconfigRaw })
      parsed.set(file, tsconfigRaw)
    }
    file = path
    const result = await esbuild.transform(code, {
      loader,
      sourcefile: basename(path),
      sourcemap: sourceMap ? 'inline' : false,
      target: 'es2022',
      // A browser refuses to import a stylesheet or data without them.
      supported: { 'import-attributes': true },
      tsconfigRaw: { compilerOptions: { ...compilerOptions, ...jsx } }
    })
    const isUnbound = result.code.includes('React.createElement(') && !/\bReact\b/.test(code)
    const warnings = isUnbound ? [`${pathFrom(root, path)} ${UNBOUND}`] : []
    return { code: result.code, configuration: [...files, ...looked], warnings }
  } catch (error) {
    throw asCompileError(error, file)
  }
}

export function asCompileError(error: unknown, path: string): unknown {
  const [first] = (error as Partial<Esbuild.TransformFailure>).errors ?? []
  if (!first) return error
  const { line, column = 0, lineText } = first.location ?? {}
  const location = { file: path, line, column: column + 1, excerpt: lineText }
  return new CompileError(first.text, location, { cause: error })
}
