// Finds the files that a module means by an import: a path may lack its extension, or be that of a folder, and settings
// may give a path to a bare specifier.
import { dirname, join, sep } from 'node:path'
import { isRecord } from '../../runtime/check-options.ts'
import { firstAnswer, once } from '../../runtime/concurrency.ts'
import { CompileError, reasonOf } from '../../runtime/errors.ts'
import { readSnapshot } from '../../runtime/files/open-file.ts'
import { isInside } from '../../runtime/files/paths.ts'
import { firstFile, foldersFrom } from './compiler.ts'
import { NONE, PACKAGES, tsconfigFor } from './tsconfig.ts'

/** A file, or another specifier, that settings give to a bare specifier. */
export interface Lead {
  /** The absolute path of a file that is there, or of the first that was looked for. */
  readonly file?: string
  readonly specifier?: string
  /** The setting, for messages: `paths of tsconfig.json` */
  readonly by: string
}

const FIRST = ['.ts', '.tsx', '.js', '.jsx']
const LATER = ['.mts', '.mjs', '.cts']
/** TypeScript takes the name that a source has after it was compiled for that of the source. */
const WRITTEN: Readonly<Record<string, readonly string[]>> = {
  js: ['.ts', '.tsx', '.jsx'],
  jsx: ['.tsx', '.ts', '.js'],
  mjs: ['.mts'],
  cjs: ['.cts']
}

/**
 * Returns the files that paths may mean, in the order of TypeScript (`moduleResolution: bundler`), and behind these what
 * bundlers find as well.
 * @param isFolder is true if the path, as written, can only be one
 */
export function candidatesFor(paths: readonly string[], isFolder = false): string[] {
  return [FIRST, LATER].flatMap(added =>
    paths.flatMap(path => {
      const [, stem = '', ending = ''] = /^(.*)\.([cm]?jsx?)$/i.exec(path) ?? []
      const written = WRITTEN[ending.toLowerCase()] ?? []
      const exact = added === LATER ? [] : [path, ...written.map(each => stem + each)]
      const beside = isFolder ? [] : [...exact, ...added.map(each => path + each)]
      return [...beside, ...added.map(each => join(path, `index${each}`))]
    })
  )
}

export const firstCandidate = (paths: readonly string[]) => firstFile(candidatesFor(paths))

export interface Leads {
  /** The absolute paths of the files with settings that were looked for, there or not. */
  readonly files: ReadonlySet<string>
  /** @returns undefined for a specifier that no setting mentions, or that may be a package */
  readonly find: (specifier: string) => Promise<Lead | undefined>
}

/**
 * Finds what settings make of the bare specifiers of a module: `paths` of tsconfig.json, then `imports` of package.json.
 * @param root the project directory, above which no tsconfig.json is looked for
 * @param environment is a condition of package.json
 */
export function leadsFor(source: string, root: string, environment: string): Leads {
  const files = new Set<string>()
  const tsconfig = once(async () => {
    const found = await tsconfigFor(source, root)
    found.files.forEach(file => files.add(file))
    return found
  })
  // A tsconfig.json that cannot be read is an error of TypeScript, and of what can be no package.
  const unlessNeeded = (specifier: string) => (error: unknown) => {
    if (!(error instanceof CompileError) || !PLAIN.test(source) || !PACKAGE.test(specifier))
      throw error
    files.add(error.location.file)
    return NONE
  }
  const folders = source.includes(PACKAGES) ? [] : foldersFrom(dirname(source))
  const nearest = once(() => firstAnswer(folders, folder => jsonIn(folder, files)))
  const conditions = new Set(['import', 'browser', 'module', 'default', environment])
  return {
    files,
    async find(specifier) {
      const { pathsFor } = await tsconfig().catch(unlessNeeded(specifier))
      const { paths, by } = pathsFor?.(specifier) ?? { paths: [], by: '' }
      // Files of packages are found as the package is.
      const file = await firstCandidate(paths.filter(path => !`${path}${sep}`.includes(PACKAGES)))
      if (file !== undefined) return { file, by }
      const named = specifier.startsWith('#') ? await nearest() : undefined
      const targets = named && targetsIn(named.json, specifier, conditions)
      if (named && targets) return ledBy(named.directory, targets)
      const [first] = paths
      return first === undefined || PACKAGE.test(specifier) ? undefined : { file: first, by }
    }
  }
}

/** Where there is no file, `@/dial.ts` is missing, and `dial` may be a package. */
const PLAIN = /\.m?js$/i
const PACKAGE = /^(?:@[\w.~-]+\/)?\w/
const URL = /^(?!node:)[a-z][a-z\d+.-]*:/i

/** Returns undefined where no target is a file or a package: Node takes neither null nor URLs and absolute paths. */
async function ledBy(directory: string, targets: readonly string[]): Promise<Lead | undefined> {
  const by = 'imports of package.json'
  const other = targets.find(target => PACKAGE.test(target) && !URL.test(target))
  if (other !== undefined) return { specifier: other, by }
  const paths = targets
    .filter(target => target.startsWith('.'))
    .map(target => join(directory, target))
    .filter(path => isInside(directory, path))
  const file = (await firstCandidate(paths)) ?? paths[0]
  return file === undefined ? undefined : { file, by }
}

async function jsonIn(directory: string, looked: Set<string>) {
  const file = join(directory, 'package.json')
  looked.add(file)
  const read = await readSnapshot(file)
  try {
    return read && { directory, json: JSON.parse(read.bytes.toString()) as unknown }
  } catch (error) {
    throw new CompileError(reasonOf(error), { file }, { cause: error })
  }
}

/**
 * Returns the first of several packages that a package.json above a source, or above the project for a source in
 * `node_modules`, has among its dependencies.
 * @param root the project directory: the nearest package.json from there upwards is the last
 * @param looked gets the absolute paths of the files that were looked for
 */
export async function dependencyAmong(
  names: readonly string[],
  source: string,
  root: string,
  looked: Set<string>
): Promise<string | undefined> {
  const from = source.includes(PACKAGES) ? root : dirname(source)
  for (const folder of foldersFrom(from)) {
    const found = await jsonIn(folder, looked)
    const json = isRecord(found?.json) ? found.json : {}
    const lists = [json['dependencies'], json['devDependencies']].filter(isRecord)
    const name = names.find(each => lists.some(list => Object.hasOwn(list, each)))
    if (name !== undefined || (found && isInside(folder, root))) return name
  }
  return undefined
}

/** Follows PACKAGE_IMPORTS_RESOLVE of https://nodejs.org/api/esm.html#resolution-algorithm-specification */
function targetsIn(json: unknown, specifier: string, conditions: ReadonlySet<string>) {
  const { imports } = isRecord(json) ? json : { imports: undefined }
  const found = Object.entries(isRecord(imports) ? imports : {}).flatMap(([key, target]) => {
    const [begin = '', end] = key.split('*')
    if (end === undefined) return key === specifier ? { length: Infinity, star: '', target } : []
    const isMeant = specifier.startsWith(begin) && specifier.endsWith(end)
    const star = specifier.slice(begin.length, specifier.length - end.length)
    return isMeant && star !== '' ? { length: begin.length, star, target } : []
  })
  const [first] = found.toSorted((one, other) => other.length - one.length)
  return first && targetsOf(first.target, first.star, conditions)
}

function targetsOf(
  target: unknown,
  star: string,
  conditions: ReadonlySet<string>
): readonly string[] | undefined {
  if (typeof target === 'string') return [target.replaceAll('*', () => star)]
  if (Array.isArray(target)) return target.flatMap(each => targetsOf(each, star, conditions) ?? [])
  if (target === null) return []
  for (const [condition, each] of Object.entries(target ?? {})) {
    const targets = conditions.has(condition) && targetsOf(each, star, conditions)
    if (targets) return targets
  }
  return undefined
}
