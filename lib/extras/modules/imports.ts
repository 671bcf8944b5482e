// Finds imports in a text, whether it is JavaScript or a source that is compiled to it.
import { tsconfigFor, type Tsconfig } from '../../publishing/compilers/tsconfig.ts'
import { errorCode } from '../../runtime/files/disk.ts'

// A source with JSX or types is no JavaScript yet: the lexer finds only some imports of it, or none.
const IMPORT =
  /\b(?:import|export)\b(?<clause>[\w$*{}\s,]*?)(?:\bfrom\s*)?(["'])(?<specifier>[^"'\n]+)\2|\bimport\s*\(\s*(["'`])(?<lazy>[^"'`\n]+)\4/g

interface Import {
  readonly index: number
  readonly specifier: string
  /** False for `import()`. */
  readonly isStatic: boolean
  /** The names that are imported. */
  readonly names: readonly string[]
}

/** Leaves out imports of types. Comments are not told apart. */
export function importsIn(code: string): Import[] {
  return Array.from(code.matchAll(IMPORT)).flatMap(({ groups = {}, index }) => {
    const { clause = '', specifier, lazy = '' } = groups
    if (/^\s*type\b/.test(clause)) return []
    const isStatic = specifier !== undefined
    return { index, specifier: specifier ?? lazy, isStatic, names: namesIn(clause) }
  })
}

/** `{ a, b as c, type D }` -> `['a', 'b']` */
function namesIn(clause: string): string[] {
  const [, list = ''] = /\{([^}]*)\}/.exec(clause) ?? []
  const names = list.split(',').map(each => /^\s*(?!type\s)([\w$]+)/.exec(each)?.[1])
  return names.filter(name => name !== undefined && name !== 'default') as string[]
}

/** A key after a spread is compiled to `createElement`. */
const SPREAD_KEY = /\{\s*\.\.\.[^<]*?\}[^<]*?\bkey=/

/** Returns the imports that compiling a source adds to it, and the files that decide on them. */
export async function importsOfJsx(code: string, file: string, root: string) {
  const tsconfig = /\.[jt]sx$/i.test(file) && (await tsconfigFor(file, root).catch(noneIfBroken))
  if (!tsconfig) return { added: [], files: [] }
  const { files } = tsconfig
  const source = jsxSourceIn(code, tsconfig)
  if (source === undefined) return { added: [], files }
  const runtime = { specifier: `${source}/jsx-runtime`, names: ['Fragment', 'jsx', 'jsxs'] }
  const whole = { specifier: source, names: ['createElement'] }
  return { added: SPREAD_KEY.test(code) ? [runtime, whole] : [runtime], files }
}

/** The source itself tells of it. */
function noneIfBroken(error: unknown): undefined {
  if (errorCode(error) !== 'compile-failed') throw error
}

const IMPORT_SOURCE = /@jsxImportSource\s+(\S+)/
const RUNTIME = /@jsxRuntime\s+(\w+)/

/** Returns the package whose `jsx-runtime` the compiled text imports; undefined for none. */
function jsxSourceIn(code: string, { compilerOptions }: Tsconfig): string | undefined {
  const { jsx, jsxImportSource = 'react' } = compilerOptions
  const [, source = String(jsxImportSource)] = IMPORT_SOURCE.exec(code) ?? []
  const [, runtime = jsx === 'react-jsx' ? 'automatic' : 'classic'] = RUNTIME.exec(code) ?? []
  return runtime === 'automatic' && /<[\w>]/.test(code) ? source : undefined
}
