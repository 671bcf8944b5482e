// Joins modules by Rolldown, which is told where each import leads.
import { isBuiltin } from 'node:module'
import { basename, dirname, join as joinPath, posix, resolve } from 'node:path'
import type { OutputChunk, Plugin, rolldown as Build } from 'rolldown'
import { stripVTControlCharacters } from 'node:util'
import { CompileError } from '../../errors.ts'
import type { Made, Script } from './combining.ts'
import type { AppSettings } from '../../assets/settings/settings.ts'
import { decodeIfValid, encodePath } from '../../assets/urls/canonical-path.ts'
import type { Plan } from './plan.ts'
import { pathFrom } from '../../files/paths.ts'

export interface Rolldown {
  readonly rolldown: typeof Build
}

interface Joining {
  readonly root: string
  readonly app: AppSettings
  readonly isMinified: boolean
  readonly plan: Plan
}

/** Rolldown puts files here that are none of the app's modules. */
const FOLDER = 'joined/'

interface Joined {
  readonly made: readonly Made[]
  /** The paths of modules that are not in the files of their names, but must be. */
  readonly moved: readonly string[]
}

/** @throws CompileError for a module that Rolldown cannot read */
export async function join({ rolldown }: Rolldown, joining: Joining): Promise<Joined> {
  const { root, plan } = joining
  const scripts = new Map([...plan.modules, ...plan.apart])
  const byFile = new Map(Array.from(scripts, ([path, { source }]) => [source.file, path]))
  const pathOf = (id: string) => byFile.get(id)
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
    return { made: [...chunks, ...others].map(chunk => madeOf(chunk, joining, pathOf)), moved }
  } catch (error) {
    const isAsWritten = (file: string) => scripts.get(pathOf(file) ?? '')?.map === undefined
    throw asCompileError(error, root, isAsWritten)
  }
}

interface Modules {
  readonly scripts: ReadonlyMap<string, Script>
  /** Their paths by file. */
  readonly byFile: ReadonlyMap<string, string>
  readonly entries: readonly string[]
  /** The paths of modules that are joined with what imports them. */
  readonly inside: ReadonlySet<string>
}

async function chunksOf(
  rolldown: typeof Build,
  { root, app, isMinified, plan: { groups } }: Joining,
  modules: Modules
): Promise<OutputChunk[]> {
  const { scripts, byFile, entries } = modules
  const nameOf = (path: string) => scripts.get(path)?.name ?? ''
  const fileOf = (path: string) => scripts.get(path)?.source.file ?? ''
  const withEnding = (name: string) => (name.endsWith('.js') ? name : `${name}.js`)
  const lost: Lost = new Map()
  const build = await rolldown({
    input: Object.fromEntries(entries.map(path => [nameOf(path), fileOf(path)])),
    cwd: root,
    platform: 'browser',
    tsconfig: false,
    logLevel: 'silent',
    experimental: { attachDebugInfo: 'none' },
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
    plugins: [modulesFrom(modules, app, lost)]
  })
  const { output } = await build.generate({
    format: 'es',
    minify: isMinified,
    sourcemap: 'hidden',
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

function lostReason(specifier: string): string {
  if (isStylesheet(specifier)) {
    return `imports '${specifier}', which is a stylesheet: no browser takes it for a module, and with it the whole file; use another file of the package, and stylesheet() for the styles`
  }
  const what = isBuiltin(specifier) ? 'a module of Node, which no browser has' : 'not installed'
  return `imports '${specifier}', which is ${what}: name another module for it in the option imports`
}

const URL = /^(?:(?!node:)[a-z]{2,}:|\/)/i

const isStylesheet = (specifier: string) => specifier.endsWith('.css')

/** Browsers take `with { type: 'css' }`. */
const CSS_MODULE = /\btype["']?\s*:\s*["']css["']/

/** The application's imports lead where ours do; those of packages where a bundler's do, whatever a package is made for. */
function modulesFrom(
  { scripts, byFile, inside }: Modules,
  { imports }: AppSettings,
  lost: Lost
): Plugin {
  const scriptAt = (file: string) => scripts.get(byFile.get(file) ?? '')
  const outside = (path: string) => ({ id: encodePath(path), external: 'absolute' }) as const
  return {
    name: 'modules',
    async resolveId(specifier, importer) {
      const from = importer === undefined ? undefined : scriptAt(importer)
      const isOwn = importer === undefined || (from && from.source.packageName === undefined)
      const path = importer === undefined ? byFile.get(specifier) : (decodeIfValid(specifier) ?? '')
      const script = scripts.get(path ?? '')
      const isInside = importer === undefined || inside.has(path ?? '')
      if (isOwn)
        return script && isInside ? resolved(script) : { id: specifier, external: 'absolute' }
      const file = script?.source.file
      // By its field `browser` a package may replace a file by another.
      const wanted = file === undefined ? specifier : `./${pathFrom(dirname(importer), file)}`
      const found = URL.test(wanted)
        ? undefined
        : await this.resolve(wanted, importer, { skipSelf: true })
      const to = byFile.get(found?.id ?? '')
      if (to !== undefined && !inside.has(to)) return outside(to)
      const isElsewhere = URL.test(specifier) || imports.has(specifier)
      const isPlainSheet =
        isStylesheet(specifier) && !CSS_MODULE.test(scriptAt(importer)?.code ?? '')
      if (isElsewhere ? isPlainSheet : !found) lost.set(specifier, importer)
      return found ?? (isElsewhere ? { id: specifier, external: 'absolute' } : null)
    },
    load(id) {
      const script = scriptAt(id)
      if (!script) return null
      const [code, map = script.map] = withoutMap(script.code)
      return { code, map: map ?? null, moduleType: 'js' }
    }
  }
}

function resolved({ source: { file, directory, packageName } }: Script) {
  if (packageName === undefined) return { id: file }
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
    return path === undefined
      ? basename(file)
      : posix.relative(here, posix.join(dirname(path), basename(file)))
  })
  return {
    name: fileName,
    code: code.endsWith('\n') ? code : `${code}\n`,
    map: map ? JSON.stringify({ ...map, sources }) : undefined,
    from: [first ?? plan.entries[0] ?? '', ...new Set(rest.filter(path => path !== first))]
  }
}

interface Log {
  readonly message: string
  readonly id?: string
  readonly loc?: { readonly file?: string; readonly line: number; readonly column: number }
}

/** @param isAsWritten returns true if places in a file are those of its source */
function asCompileError(error: unknown, root: string, isAsWritten: (file: string) => boolean) {
  const [first] = (error as { errors?: readonly Log[] }).errors ?? []
  if (!first) return error
  // Only the first line is shown, without colours and the name of the rule; the others show the text.
  const [line = ''] = stripVTControlCharacters(first.message).split('\n')
  const file = first.loc?.file ?? first.id ?? root
  const { line: at, column = 0 } = (isAsWritten(file) && first.loc) || {}
  const place = at === undefined ? { file } : { file, line: at, column: column + 1 }
  return new CompileError(line.replace(/^\[\w+\] /, ''), place, { cause: error })
}
