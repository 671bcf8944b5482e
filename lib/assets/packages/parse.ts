// What files of packages, and the scripts that import them, refer to.
import { extname } from 'node:path'
import { inParallel } from '../../concurrency.ts'
import { observe, recheck, type FileObservation } from '../../files/observation.ts'
import { readSnapshot } from '../../files/open-file.ts'
import { loadModuleLexer } from '../references/module-references.ts'
import { findReferences, type Reference } from '../references/references.ts'

export interface Script {
  readonly name: string
  /** Absolute, without links. */
  readonly file: string
}

interface Parsed {
  readonly seen: FileObservation
  readonly references: readonly Reference[]
  readonly isCommonJs: boolean
}

/** By absolute path. */
export type ParsedFiles = Map<string, Parsed>

const CONCURRENCY = 16
const COMMON_JS = /\bmodule\.exports\b|\bexports\s*[.[=]|\brequire\s*\(/

/** @param known is not read again unless it has changed */
export async function parseAll(
  files: readonly Script[],
  known: ParsedFiles,
  into: ParsedFiles
): Promise<void> {
  await inParallel(files, CONCURRENCY, async ({ name, file }) => {
    const type = TYPES[extname(name).toLowerCase()]
    if (!type) return
    const before = known.get(file)
    const isSame = before && (await recheck(before.seen))
    const parsed = isSame ? before : await parse(type, file)
    if (parsed) into.set(file, parsed)
  })
}

const TYPES: Readonly<Record<string, 'css' | 'js'>> = { '.css': 'css', '.js': 'js', '.mjs': 'js' }

async function parse(type: 'css' | 'js', file: string): Promise<Parsed | undefined> {
  const readAt = Date.now()
  const read = await readSnapshot(file)
  if (!read) return undefined
  const seen = observe(file, read.stamp, () => read.bytes, readAt)
  const code = new TextDecoder().decode(read.bytes)
  const found = findReferences(type, code)
  if (type === 'css') return { seen, references: found, isCommonJs: false }
  const { find, isModule } = await loadModuleLexer()
  const isCommonJs = COMMON_JS.test(code) && isModule(code) === false
  return { seen, references: [...found, ...find(code)], isCommonJs }
}
