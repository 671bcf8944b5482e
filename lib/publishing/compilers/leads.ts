// Finds the files that a module imports: a path may lack its extension or be that of a folder, and settings may give a
// path to a bare specifier.
import { basename, dirname, join, sep } from 'node:path'
import { isRecord } from '../../runtime/check-options.ts'
import { firstAnswer, once } from '../../runtime/concurrency.ts'
import { CompileError, reasonOf } from '../../runtime/errors.ts'
import { realpathOf } from '../../runtime/files/disk.ts'
import { readSnapshot } from '../../runtime/files/open-file.ts'
import { isInside } from '../../runtime/files/paths.ts'
import type { CompilerInput } from '../../runtime/settings/compiler.ts'
import { firstFile, foldersFrom, nodeModulesFrom, rootFor, type Search } from './compiler.ts'
import { NONE, PACKAGES, tsconfigFor } from './tsconfig.ts'

/** A file or another specifier that settings give to a bare specifier. */
export interface Lead {
  /** The absolute path of an existing file, or of the first that was looked for. */
  readonly file?: string
  readonly specifier?: string
  /** The setting, for messages: `paths of tsconfig.json` */
  readonly by: string
}

const FIRST = ['.ts', '.tsx', '.js', '.jsx']
const LATER = ['.mts', '.mjs', '.cts']
/** An import may name the compiled file instead of the source, as in TypeScript. */
const WRITTEN: Readonly<Record<string, readonly string[]>> = {
  js: ['.ts', '.tsx', '.jsx'],
  jsx: ['.tsx', '.ts', '.js'],
  mjs: ['.mts'],
  cjs: ['.cts']
}

/** Lists them like TypeScript (`moduleResolution: bundler`), then bundlers. @param isFolder if no file has the path */
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

export type Leads = ReturnType<typeof leadsFor>

/** Reads `paths` of tsconfig.json, then `imports` of package.json. @param environment is a condition there */
export function leadsFor(source: string, root: string, environment: string) {
  const files = new Set<string>()
  const tsconfig = once(async () => {
    const found = await tsconfigFor(source, root)
    found.files.forEach(file => files.add(file))
    return found
  })
  // An unreadable tsconfig.json is an error only for TypeScript, and for specifiers that cannot be packages.
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
    /** The absolute paths of the files with settings that were looked for, existing or not. */
    files: files as ReadonlySet<string>,
    /** @returns undefined for a specifier that no setting mentions, or that may be a package */
    async find(specifier: string): Promise<Lead | undefined> {
      const { pathsFor } = await tsconfig().catch(unlessNeeded(specifier))
      const { paths, by } = pathsFor?.(specifier) ?? { paths: [], by: '' }
      // Files of packages are found in the same way as the package.
      const file = await firstCandidate(paths.filter(path => !`${path}${sep}`.includes(PACKAGES)))
      if (file !== undefined) return { file, by }
      const named = specifier.startsWith('#') ? await nearest() : undefined
      const targets = named && targetsIn(fieldsOf(named)['imports'], specifier, conditions)
      if (named && targets) return ledBy(named.directory, targets)
      return !paths[0] || PACKAGE.test(specifier) ? undefined : { file: paths[0], by }
    }
  }
}

const PLAIN = /\.m?js$/i
/** Without a file, `@/dial.ts` is missing, but `dial` may be a package. */
const PACKAGE = /^(?:@[\w.~-]+\/)?\w/
const URL = /^(?!node:)[a-z][a-z\d+.-]*:/i

/** Returns undefined if no target is a file or a package: Node accepts neither null nor URLs nor absolute paths. */
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

const fieldsOf = (found?: { readonly json: unknown }) => (isRecord(found?.json) ? found.json : {})

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

// Returns the first of `names` among the dependencies of a package.json above a source, or else of the project's; for a
// source in `node_modules`, only of the project's. `looked` gets the files that were looked for.
export async function dependencyAmong(
  names: readonly string[],
  source: string,
  root: string,
  looked: Set<string>
): Promise<string | undefined> {
  const above = source.includes(PACKAGES) ? [] : foldersFrom(dirname(source))
  const own = above.filter(folder => !isInside(folder, root))
  for (const folder of [...own, ...foldersFrom(root)]) {
    const found = await jsonIn(folder, looked)
    const { dependencies, devDependencies, peerDependencies } = fieldsOf(found)
    const lists = [dependencies, devDependencies, peerDependencies].filter(isRecord)
    const name = names.find(each => lists.some(list => Object.hasOwn(list, each)))
    if (name !== undefined || (found && isInside(folder, root))) return name
  }
  return undefined
}

/** The forms of names that stylesheets may shorten. The field of package.json and the condition have the key's name. */
const FORMS = {
  css: ['*.css'],
  sass: ['*.scss', '_*.scss', '*.sass', '_*.sass', '*.css', '_*.css'],
  less: ['*.less', '*.css'],
  module: []
}

const IN_PACKAGE = /^(@[\w.~-]+\/[\w.~-]+|\w[\w.~-]*)(?:\/(.+))?$/

/** Advises on a path that leads nowhere, and may be a package's. @param takesAll accepts any installed one */
export async function packageAdvice(path: string, source: string, root: string, takesAll = false) {
  const [, meant] = /^(?:~|(?:.*\/)?node_modules\/)(\w.*|@.*)$/.exec(path) ?? []
  if (meant !== undefined) return `write '${meant}'`
  const [, name] = IN_PACKAGE.exec(path) ?? []
  if (name === undefined) return undefined
  const folders = [dirname(source), root].flatMap(nodeModulesFrom)
  const found = await firstFile(folders.map(each => join(each, name, 'package.json')))
  const isDependency = (await dependencyAmong([name], source, root, new Set())) !== undefined
  if (found && (isDependency || takesAll)) return undefined
  const install = `run npm install ${name}`
  if (found) return `${name} is installed, but is not a dependency in package.json: ${install}`
  if (isDependency) return `${name} is not installed: ${install}`
  const isLikely = /^@|\/[^./]+$|\/.+\.(?:css|less|s[ac]ss)$/.test(path)
  return isLikely ? `if ${name} is a package, ${install}` : undefined
}

export async function withAdvice(message: string, path = '', input: CompilerInput) {
  const advice = await packageAdvice(path, input.path, rootFor(input), true)
  return advice === undefined ? message : `${message.replace(/\.$/, '')}: ${advice}`
}

/** Finds the file of a package, or of a path in one, that a stylesheet refers to, like bundlers, folder by folder. */
export async function sheetOf(path: string, kind: Kind, folders: string[], looked: Set<string>) {
  const [, name, rest] = IN_PACKAGE.exec(path) ?? []
  if (name === undefined) return undefined
  const real = await Promise.all(folders.map(async each => (await realpathOf(each)) ?? each))
  for (const folder of new Set(real.flatMap(nodeModulesFrom))) {
    const directory = join(folder, name)
    const found = await jsonIn(directory, looked)
    if (!found) continue
    const { exports, [kind]: own, style, main } = fieldsOf(found)
    const isTable = isRecord(exports) && Object.keys(exports).some(key => key.startsWith('.'))
    const table = isTable ? exports : { '.': exports }
    const exported = (...by: string[]) =>
      targetsIn(table, path.replace(name, '.'), new Set(by)) ?? []
    const conditions = kind === 'module' ? ['browser', 'import'] : ['style']
    const all = exported(kind, ...conditions, 'default')
    // Sass finds an index by itself.
    const whole = [own, kind === 'sass' && 'index', ...all, style, main, 'index']
    const candidates = [...exported(kind), ...(rest === undefined ? whole : [...all, rest])]
      .filter(each => typeof each === 'string')
      .flatMap(each => ['*', ...FORMS[kind]].map(form => formed(join(directory, each), form)))
      .filter(each => kind === 'module' || !/\.[cm]?[jt]sx?$/.test(each))
      .filter(each => isInside(directory, each))
    candidates.forEach(each => looked.add(each))
    return { name, directory, rest, file: await firstFile(candidates) }
  }
  return undefined
}

type Kind = keyof typeof FORMS
const formed = (path: string, form: string) =>
  join(dirname(path), form.split('*').join(basename(path)))

/** Calls `sheetOf` for a compiler, and adds the files that were looked for to its searches. */
export async function sheetFor(
  path: string,
  kind: Kind,
  directory: string,
  input: CompilerInput,
  searches: Search[]
) {
  const looked = new Set<string>()
  const found = await sheetOf(path, kind, [directory, rootFor(input)], looked)
  searches.push(...Array.from(looked, each => [each]))
  return found
}

/** Follows PACKAGE_IMPORTS_RESOLVE of https://nodejs.org/api/esm.html#resolution-algorithm-specification */
function targetsIn(table: unknown, specifier: string, conditions: ReadonlySet<string>) {
  const found = Object.entries(isRecord(table) ? table : {}).flatMap(([key, target]) => {
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
