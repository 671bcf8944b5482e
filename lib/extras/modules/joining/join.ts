// Joins modules by Rolldown, which is told where each import leads.
import { isBuiltin } from 'node:module'
import { basename, dirname, join as joinPath, posix, resolve } from 'node:path'
import type { OutputChunk, Plugin, rolldown as Build } from 'rolldown'
import { CompileError } from '../../../runtime/errors.ts'
import type { Made, Script } from './script.ts'
import type { AppSettings } from '../../../runtime/settings/settings.ts'
import { decodeIfValid, encodePath } from '../../../runtime/urls/spelling.ts'
import {
  buildOptions,
  EMPTY,
  FOLDER as PACKAGES,
  isPlainSheet,
  isSheet,
  lostReason,
  NOTHING
} from '../resolving.ts'
import { facadeOf } from '../common-js.ts'
import { importsIn } from '../imports.ts'
import { problemIn, type Rolldown } from '../rolldown.ts'
import type { Plan } from './plan.ts'
import { pathFrom } from '../../../runtime/files/paths.ts'

interface Joining {
  readonly root: string
  readonly app: AppSettings
  readonly minifyTarget: readonly string[] | undefined
  readonly plan: Plan
}

/** Stands in front of the file of a CommonJS module that other files import. */
const FACADE = '\0facade:'

/** Rolldown puts files here that are none of the app's modules. */
const FOLDER = 'joined/'

interface Joined {
  readonly made: readonly Made[]
  /** The paths of modules that are not in the files of their names, but must be. */
  readonly moved: readonly string[]
}

/** @throws CompileError for a module that Rolldown cannot read */
export async function join({ rolldown, parseAst }: Rolldown, joining: Joining): Promise<Joined> {
  const { root, plan } = joining
  const scripts = new Map([...plan.modules, ...plan.apart])
  const byFile = new Map(Array.from(scripts, ([path, { source }]) => [idOf(source.file), path]))
  const pathOf = (id: string) => byFile.get(id.replace(FACADE, ''))
  const build = (entries: readonly string[], inside: ReadonlySet<string>) =>
    chunksOf(rolldown, joining, { scripts, byFile, entries, inside })
  try {
    const chunks = await build(plan.entries, new Set(plan.modules.keys()))
    const isMoved = (path: string, { fileName }: OutputChunk) =>
      plan.placed.has(path) && scripts.get(path)?.name !== fileName
    const moved = chunks.flatMap(chunk =>
      chunk.moduleIds.flatMap(id => pathOf(id) ?? []).filter(path => isMoved(path, chunk))
    )
    const others = plan.apart.size > 0 ? await build([...plan.apart.keys()], new Set()) : []
    const made = others.map(chunk => {
      const all = madeOf(chunk, joining, pathOf)
      const { code = '' } = scripts.get(all.from[0]) ?? {}
      return { ...all, code: inOrder(all.code, importsIn(code), parseAst) }
    })
    return { made: [...chunks.map(chunk => madeOf(chunk, joining, pathOf)), ...made], moved }
  } catch (error) {
    throw asCompileError(error, root, file => scripts.get(pathOf(file) ?? '')?.map === undefined)
  }
}

/** Rolldown sorts what it leaves to be imported. Statements change places only with each other: source maps stay right. */
function inOrder(
  code: string,
  written: readonly { readonly specifier: string }[],
  parse: Rolldown['parseAst']
): string {
  const placeOf = ({ source }: Statement) => {
    const at = written.findIndex(({ specifier }) => specifier === source?.value)
    return at === -1 ? written.length : at
  }
  const { body } = parse(code) as { readonly body: readonly Statement[] }
  const found = body.filter(({ source }) => source)
  const sorted = found.toSorted((one, other) => placeOf(one) - placeOf(other))
  const texts = sorted.map(({ start, end }) => code.slice(start, end))
  return found.reduceRight(
    (text, { start, end }, at) => text.slice(0, start) + (texts[at] ?? '') + text.slice(end),
    code
  )
}

interface Statement {
  readonly start: number
  readonly end: number
  /** The module that it imports from. */
  readonly source?: { readonly value: string } | null
}

interface Modules {
  readonly scripts: ReadonlyMap<string, Script>
  /** The paths of scripts by file. */
  readonly byFile: ReadonlyMap<string, string>
  readonly entries: readonly string[]
  /** The paths of modules that are joined with what imports them. */
  readonly inside: ReadonlySet<string>
}

async function chunksOf(
  rolldown: typeof Build,
  { root, app, minifyTarget, plan: { groups, commonJs, hasCommonJs } }: Joining,
  modules: Modules
): Promise<OutputChunk[]> {
  const { scripts, byFile, entries, inside } = modules
  const nameOf = (path: string) => scripts.get(path)?.name ?? ''
  const inputOf = (path: string) =>
    (commonJs.has(path) ? FACADE : '') + idOf(scripts.get(path)?.source.file ?? '')
  const withEnding = (name: string) => (name.endsWith('.js') ? name : `${name}.js`)
  const lost: Lost = new Map()
  const build = await rolldown({
    input: Object.fromEntries(entries.map(path => [nameOf(path), inputOf(path)])),
    cwd: root,
    ...buildOptions('production'),
    // With strictExecutionOrder, ES modules that need no wrapper have none; some would run before CommonJS in front of them.
    experimental: { attachDebugInfo: 'none', onDemandWrapping: !hasCommonJs },
    plugins: [modulesFrom(modules, app, lost)]
  })
  const { output } = await build.generate({
    format: 'es',
    minify: minifyTarget?.length
      ? { compress: { target: [...minifyTarget] }, mangle: true, codegen: true }
      : minifyTarget !== undefined,
    sourcemap: 'hidden',
    // Modules that are not joined are a file each, and the browser runs them.
    strictExecutionOrder: inside.size > 0,
    sanitizeFileName: false,
    entryFileNames: '[name]',
    chunkFileNames: ({ name }) => FOLDER + withEnding(name),
    codeSplitting: {
      // A group takes what its modules import as well, but for what those in front of it have.
      groups: Array.from(groups, ([name, paths]) => ({
        name,
        test: id => paths.has(byFile.get(id) ?? '')
      }))
    }
  })
  await build.close()
  const chunks = output.filter(each => each.type === 'chunk')
  for (const specifier of chunks.flatMap(({ imports }) => imports)) {
    const file = lost.get(specifier)
    if (file !== undefined) throw new CompileError(lostReason(specifier), { file })
  }
  return chunks
}

/** Maps specifiers that lead nowhere to a file of a package that imports them. An unused one may be missing. */
type Lost = Map<string, string>

const URL = /^(?:(?!node:)[a-z]{2,}:|\/)/i

/** Finds listed modules by their names, and leaves other files of packages to Rolldown. */
function modulesFrom(
  { scripts, byFile, inside }: Modules,
  { imports }: AppSettings,
  lost: Lost
): Plugin {
  const scriptAt = (file: string) => scripts.get(byFile.get(file) ?? '')
  const elsewhere = (id: string) => ({ id, external: 'absolute' }) as const
  return {
    name: 'modules',
    async resolveId(specifier, importer, { kind }) {
      if (specifier.startsWith(FACADE)) return { id: specifier, moduleSideEffects: true }
      if (importer?.startsWith(FACADE)) return resolved(scriptAt(specifier) as Script)
      const from = importer === undefined ? undefined : scriptAt(importer)
      const isOwn = importer === undefined || (from && from.source.packageName === undefined)
      const path = importer === undefined ? byFile.get(specifier) : (decodeIfValid(specifier) ?? '')
      const script = scripts.get(path ?? '')
      if (script && (importer === undefined || inside.has(path ?? ''))) return resolved(script)
      if (isOwn) return elsewhere(specifier)
      if (script || URL.test(specifier) || imports.has(specifier)) {
        if (isPlainSheet(specifier, from?.code)) lost.set(specifier, importer)
        return elsewhere(specifier)
      }
      const found = await this.resolve(specifier, importer, { skipSelf: true })
      const to = byFile.get(found?.id ?? '')
      if (to !== undefined && !inside.has(to)) return elsewhere(encodePath(to))
      if (found && !isSheet(found.id)) return found
      if (kind === 'require-call' && isBuiltin(specifier)) return EMPTY + specifier
      lost.set(specifier, importer)
      return elsewhere(specifier)
    },
    async load(id) {
      if (id.startsWith(EMPTY)) return NOTHING
      if (id.startsWith(FACADE)) {
        const file = id.slice(FACADE.length)
        const names = namesFrom(byFile.get(file) ?? '', scripts.values())
        return { code: (await facadeOf(this, file, names)).code, moduleType: 'js' }
      }
      const script = scriptAt(id)
      if (!script) return null
      const [code, map = script.map] = withoutMap(script.code)
      return { code, map: map ?? null, moduleType: 'js' }
    }
  }
}

/** To Rolldown `.cts` and `.mts` say how the text is to be read, which by then is that of a `.js`. */
const idOf = (file: string) => (/\.[cm]ts$/i.test(file) ? `${file}.js` : file)

/** Returns the names that scripts import from the module at a path. */
function namesFrom(path: string, scripts: Iterable<Script>): string[] {
  const importers = [...scripts].filter(({ imports }) => imports.includes(path))
  return importers.flatMap(({ code }) =>
    importsIn(code).flatMap(({ specifier, names }) =>
      decodeIfValid(specifier) === path ? names : []
    )
  )
}

function resolved({ source: { file, directory, packageName } }: Script) {
  if (packageName === undefined) return { id: idOf(file) }
  return { id: file, packageJsonPath: joinPath(directory, 'package.json') }
}

const INLINE_MAP =
  /\n?\/\/# sourceMappingURL=data:application\/json;(?:charset=utf-8;)?base64,(?<data>[\w+/]+={0,2})\s*$/

function withoutMap(code: string): [code: string, map?: string] {
  const found = INLINE_MAP.exec(code)
  if (!found) return [code]
  return [
    code.slice(0, found.index),
    Buffer.from(found.groups?.['data'] ?? '', 'base64').toString()
  ]
}

function madeOf(
  { fileName, code, map, isEntry, facadeModuleId, moduleIds }: OutputChunk,
  { root, app, plan }: Joining,
  pathOf: (id: string) => string | undefined
): Made {
  const entry = plan.modules.get(pathOf(facadeModuleId ?? '') ?? '')
  // Rolldown makes names different on disks that do not distinguish case.
  if (isEntry && entry && !fileName.startsWith(FOLDER) && fileName !== entry.name) {
    const reason = 'another module has this name, but for upper and lower case: rename one'
    throw new CompileError(reason, { file: entry.source.file })
  }
  const [first, ...rest] = [facadeModuleId ?? '', ...moduleIds].flatMap(id => pathOf(id) ?? [])
  const here = posix.dirname(posix.join(app.urlPrefix, fileName))
  const sources = map?.sources.map(source => {
    const file = resolve(root, 'dist', dirname(fileName), source)
    const path = pathOf(file)
    const from = plan.modules.get(path ?? '') ?? plan.apart.get(path ?? '')
    if (path !== undefined && from) return posix.relative(here, writtenAt(from, path, app))
    // CommonJS modules require files that are no modules of their own.
    const [, required] = /(?:^|.*\/)node_modules\/(.+)/.exec(pathFrom(root, file)) ?? []
    if (required === undefined) return basename(file)
    return posix.relative(here, posix.join(app.urlPrefix, PACKAGES, required))
  })
  return {
    name: fileName,
    code: code.endsWith('\n') ? code : `${code}\n`,
    map: map ? JSON.stringify({ ...map, sources }) : undefined,
    from: [first ?? plan.entries[0] ?? '', ...new Set(rest.filter(path => path !== first))]
  }
}

/** The URL path that a source has in a source map: that of its file, whatever its name is. */
function writtenAt({ source }: Script, path: string, { urlPrefix }: AppSettings): string {
  const { file, directory, packageName } = source
  if (packageName === undefined) return posix.join(dirname(path), basename(file))
  return posix.join(urlPrefix, PACKAGES, packageName, pathFrom(directory, file))
}

/** @param isAsWritten returns true if places in a file are those of its source */
function asCompileError(error: unknown, root: string, isAsWritten: (file: string) => boolean) {
  const problem = problemIn(error)
  if (!problem) return error
  const { what, file: id = root, line, column } = problem
  const file = id.replace(/(?<=\.[cm]ts)\.js$/i, '')
  const place = line === undefined || !isAsWritten(id) ? { file } : { file, line, column }
  return new CompileError(what, place, { cause: error })
}
