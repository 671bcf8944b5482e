// Finds what the application's own modules import, whether they are JavaScript or sources that are compiled to it.
import { observe, observeAll, type Observation } from '../../publishing/sources/observation.ts'
import { leadsFor } from '../../publishing/compilers/leads.ts'
import { tsconfigFor, type Tsconfig } from '../../publishing/compilers/tsconfig.ts'
import { loadModuleLexer } from '../../publishing/references/modules.ts'
import type { SourceFile } from '../../runtime/app/extra.ts'
import { inParallel } from '../../runtime/concurrency.ts'
import { errorCode } from '../../runtime/files/disk.ts'
import { readSnapshot } from '../../runtime/files/open-file.ts'

interface Import {
  readonly specifier: string
  /** False for `import()`. */
  readonly isStatic: boolean
  readonly names: readonly string[]
}

export interface Imported extends Import {
  /** The absolute path of the script, without links. */
  readonly file: string
  /** The absolute path of the file to which `paths` of tsconfig.json lead. */
  readonly leadsTo?: string | undefined
  /** True for what JSX is compiled to, whichever packages the option names. */
  readonly isImplied?: boolean
}

export type OwnScript = Pick<SourceFile, 'name' | 'file'>

/** Returns the imports by bare specifiers and relative paths, and the files that were read. */
export async function importedBy(
  scripts: readonly OwnScript[],
  root: string
): Promise<{ imports: readonly Imported[]; read: readonly Observation[] }> {
  const lexer = await loadModuleLexer()
  const found = await inParallel(scripts, 16, async ({ file }) => {
    const readAt = Date.now()
    const snapshot = await readSnapshot(file)
    if (!snapshot) return { imports: [], read: [] }
    const code = snapshot.bytes.toString()
    const { references, unparsedAt } = lexer.find(code)
    const known = new Set(references.map(({ path }) => path))
    const written = importsIn(code).filter(({ specifier, line }) =>
      unparsedAt === undefined ? known.has(specifier) : !COMMENT.test(line)
    )
    const isCompiled = /\.(?:[cm]?ts|[jt]sx)$/i.test(file)
    const tsconfig = isCompiled ? await tsconfigFor(file, root).catch(noneIfBroken) : undefined
    const leads = leadsFor(file, root, 'development')
    const added = tsconfig && /x$/i.test(file) ? importsOfJsx(code, tsconfig) : []
    const implied = added.map(each => ({ ...each, isStatic: true, isImplied: true }))
    const all = [...written, ...implied].map(async (each): Promise<Imported> => {
      const isPath = /^[./]/.test(each.specifier)
      const lead = isPath || !tsconfig ? undefined : await leads.find(each.specifier)
      return { ...each, file, leadsTo: lead?.file }
    })
    const read = await observeAll(tsconfig?.files ?? [])
    return { imports: await Promise.all(all), read: [observe(file, snapshot, readAt), ...read] }
  })
  return { imports: found.flatMap(each => each.imports), read: found.flatMap(each => each.read) }
}

// A source with JSX or types is no JavaScript yet: the lexer finds only some imports of it, or none.
const IMPORT =
  /\b(?:import|export)\b(?<clause>[\w$*{}\s,]*?)(?:\bfrom\s*)?(["'])(?<specifier>[^"'\n]+)\2|\bimport\s*\(\s*(["'`])(?<lazy>[^"'`\n]+)\4/g

/** Matches the lines that are comments, where the lexer cannot tell. */
const COMMENT = /^\s*(?:\/\/|\*)/

/**
 * Leaves out imports of types. Comments are not told apart.
 * @returns with each its line, as far as the import
 */
export function importsIn(code: string): (Import & { readonly line: string })[] {
  return Array.from(code.matchAll(IMPORT)).flatMap(({ groups = {}, index }) => {
    const { clause = '', specifier, lazy = '' } = groups
    if (/^\s*type\b/.test(clause)) return []
    const line = code.slice(code.lastIndexOf('\n', index) + 1, index)
    const isStatic = specifier !== undefined
    return { line, specifier: specifier ?? lazy, isStatic, names: namesIn(clause) }
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

/** The source itself tells of it. */
function noneIfBroken(error: unknown): undefined {
  if (errorCode(error) !== 'compile-failed') throw error
}

const IMPORT_SOURCE = /@jsxImportSource\s+(\S+)/
const RUNTIME = /@jsxRuntime\s+(\w+)/

/** Returns the imports that compiling JSX adds to a source. */
function importsOfJsx(code: string, { compilerOptions }: Tsconfig) {
  const { jsx, jsxImportSource = 'react' } = compilerOptions
  const [, source = String(jsxImportSource)] = IMPORT_SOURCE.exec(code) ?? []
  const [, runtime = jsx === 'react-jsx' ? 'automatic' : 'classic'] = RUNTIME.exec(code) ?? []
  if (runtime !== 'automatic' || !/<[\w>]/.test(code)) return []
  const functions = { specifier: `${source}/jsx-runtime`, names: ['Fragment', 'jsx', 'jsxs'] }
  const whole = { specifier: source, names: ['createElement'] }
  return SPREAD_KEY.test(code) ? [functions, whole] : [functions]
}
