// Finds what the application's own modules import from packages.
import { inParallel } from '../../../runtime/concurrency.ts'
import { observe, observeAll, type Observation } from '../../../publishing/building/observation.ts'
import { readSnapshot } from '../../../runtime/files/open-file.ts'
import { importsIn, importsOfJsx } from '../imports.ts'
import { loadModuleLexer } from '../../../publishing/references/module-references.ts'

export interface Script {
  readonly name: string
  /** An absolute path without links. */
  readonly file: string
}

export interface Imported {
  readonly specifier: string
  readonly file: string
  /** False for `import()`. */
  readonly isStatic: boolean
  readonly names: readonly string[]
  /** True for what JSX is compiled to, whichever packages the option names. */
  readonly isImplied?: boolean
}

/** Matches the lines that are comments, where the lexer cannot tell. */
const COMMENT = /^\s*(?:\/\/|\*)/

/** Returns the imports by bare specifiers and relative paths, and the files that were read. */
export async function importedBy(
  scripts: readonly Script[],
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
    const imports = importsIn(code).flatMap(({ index, ...each }) => {
      const line = code.slice(code.lastIndexOf('\n', index) + 1, index)
      const isImport = unparsedAt === undefined ? known.has(each.specifier) : !COMMENT.test(line)
      return isImport ? { ...each, file } : []
    })
    const { added, files } = await importsOfJsx(code, file, root)
    const implied = added.map(each => ({ ...each, file, isStatic: true, isImplied: true }))
    const read = [observe(file, snapshot, readAt), ...(await observeAll(files))]
    return { imports: [...imports, ...implied], read }
  })
  return {
    imports: found.flatMap(({ imports }) => imports),
    read: found.flatMap(({ read }) => read)
  }
}
