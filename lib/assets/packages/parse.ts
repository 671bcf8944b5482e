// What files of packages, and the scripts that import them, refer to.
import { extname } from 'node:path'
import { inParallel } from '../../concurrency.ts'
import { observe, recheckFile, type FileObservation } from '../../files/observation.ts'
import { readSnapshot } from '../../files/open-file.ts'
import { loadModuleLexer, loadModuleTest } from '../references/module-references.ts'
import { findReferences, type Reference } from '../references/references.ts'

export interface Parsed {
  readonly seen: FileObservation
  readonly references: readonly Reference[]
  readonly isCommonJs: boolean
}

/** By absolute path. */
export type ParsedFiles = ReadonlyMap<string, Parsed>

const CONCURRENCY = 16
const SCRIPT = /\.m?js$/i
const COMMON_JS = /\bmodule\.exports\b|\bexports\s*[.[=]|\brequire\s*\(/

/** @param known is not read again unless it has changed */
export async function parseAll(
  files: readonly { readonly name: string; readonly file: string }[],
  known: ParsedFiles
): Promise<ParsedFiles> {
  const parsed = await inParallel(files, CONCURRENCY, async ({ name, file }) => {
    const type = extname(name).toLowerCase() === '.css' ? 'css' : SCRIPT.test(name) && 'js'
    if (!type) return []
    const before = known.get(file)
    const isSame = before && (await recheckFile(before.seen))
    const now = isSame ? before : await parse(type, file)
    return now ? [[file, now] as const] : []
  })
  return new Map(parsed.flat())
}

async function parse(type: 'css' | 'js', file: string): Promise<Parsed | undefined> {
  const readAt = Date.now()
  const read = await readSnapshot(file)
  if (!read) return undefined
  const { bytes, stamp } = read
  const seen = observe(file, stamp, () => bytes, readAt)
  const code = new TextDecoder().decode(bytes)
  const found = findReferences(type, code)
  if (type === 'css') return { seen, references: found, isCommonJs: false }
  const [find, isModule] = await Promise.all([loadModuleLexer(), loadModuleTest()])
  const isCommonJs = COMMON_JS.test(code) && isModule(code) === false
  return { seen, references: [...found, ...find(code)], isCommonJs }
}
