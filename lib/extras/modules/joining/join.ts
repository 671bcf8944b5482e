// Joins modules with Rolldown, for which it resolves each import.
import { isBuiltin } from 'node:module'
import { basename, dirname, join as joinPath, posix, resolve } from 'node:path'
import type { OutputChunk, Plugin } from 'rolldown'
import { CompileError } from '../../../runtime/errors.ts'
import { pathFrom } from '../../../runtime/files/paths.ts'
import type { AppSettings } from '../../../runtime/settings/settings.ts'
import { decodeIfValid, encodePath } from '../../../runtime/urls/spelling.ts'
import { facadeOf } from '../common-js.ts'
import { importsIn } from '../imports.ts'
import {
  buildOptions,
  DATA,
  ELSEWHERE,
  EMPTY,
  findIn,
  FOLDER as PACKAGES,
  isPlainSheet,
  isSheet,
  lostReason,
  NOTHING
} from '../resolving.ts'
import { problemIn, refuseDeep, type Rolldown } from '../rolldown.ts'
import type { Plan } from './plan.ts'
import type { Nodes, Script } from './scripts.ts'

export interface Joining {
  readonly root: string
  readonly app: AppSettings
  /** The browsers for which it is minified, none for any; undefined if it is not minified. */
  readonly minifyTarget: readonly string[] | undefined
  readonly plan: Plan
  readonly nodes: Nodes
}

export interface Made {
  readonly name: string
  /** The code, which refers to assets by plain URLs, absolute or relative to its own. */
  readonly code: string
  readonly map: string | undefined
  /** The paths of the scripts from which it was made; the first one represents it. */
  readonly from: readonly [string, ...string[]]
}

/** The prefix of a CommonJS file that others import; `.js` is appended, as the facade is an ES module. */
const FACADE = '\0facade:'
const fileOf = (id: string) => (id.startsWith(FACADE) ? id.slice(FACADE.length, -'.js'.length) : id)

/** The folder for files of Rolldown that are not modules of the app. */
const FOLDER = 'joined/'

type PathOf = (id: string) => string | undefined

/** @returns `moved` has the paths of modules that are not in the files of their names, but must be */
export async function join(rolldown: Rolldown, joining: Joining) {
  const { plan } = joining
  const { modules, apart, placed } = plan
  const byFile = new Map(Array.from(modules, ([path, { source }]) => [idOf(source.file), path]))
  const pathOf: PathOf = id => byFile.get(fileOf(id))
  try {
    const chunks = await chunksOf(rolldown, joining, pathOf)
    const moved = chunks.flatMap(({ fileName, isEntry, moduleIds, facadeModuleId }) => {
      const paths = [...moduleIds, facadeModuleId ?? ''].flatMap(id => pathOf(id) ?? [])
      // Rolldown changes one of two names that differ only in case.
      const entry = isEntry ? pathOf(facadeModuleId ?? '') : undefined
      const isMeant = (path: string) => placed.has(path) || path === entry
      return paths.filter(path => isMeant(path) && modules.get(path)?.source.name !== fileName)
    })
    const made = chunks.map(chunk => madeOf(chunk, joining, pathOf))
    if (moved.length > 0 || apart.size === 0) return { made, moved }
    const alone = { ...plan, entries: [...apart], apart: new Set(modules.keys()) }
    for (const chunk of await chunksOf(rolldown, { ...joining, plan: alone }, pathOf)) {
      const file = madeOf(chunk, joining, pathOf)
      const script = chunk.isEntry ? modules.get(file.from[0]) : undefined
      const code = inOrder(file.code, rolldown.parseAst, script?.code)
      made.push({ ...file, name: script?.source.name ?? file.name, code })
    }
    return { made, moved }
  } catch (error) {
    const isAsWritten = (id: string) => modules.get(pathOf(id) ?? '')?.map === undefined
    throw asCompileError(error, joining.root, isAsWritten)
  }
}

/** Restores the order of imports, which Rolldown sorts. Only these statements move, so source maps stay right. */
function inOrder(code: string, parse: Rolldown['parseAst'], written = '') {
  const found = parse(code).body.flatMap(each => ('source' in each && each.source ? each : []))
  const all = importsIn(written).map(({ specifier }) => specifier)
  const places = [...all, ...found.map(({ source }) => source?.value)]
  const placeOf = ({ source }: (typeof found)[number]) => places.indexOf(source?.value)
  const sorted = found.toSorted((one, other) => placeOf(one) - placeOf(other))
  const texts = sorted.map(({ start, end }) => code.slice(start, end))
  return found.reduceRight(
    (text, { start, end }, at) => text.slice(0, start) + (texts[at] ?? '') + text.slice(end),
    code
  )
}

async function chunksOf({ rolldown }: Rolldown, joining: Joining, pathOf: PathOf) {
  const { root, app, minifyTarget: target, plan } = joining
  const { modules, apart, entries, folders, groups, commonJs, hasCommonJs } = plan
  const isOwn = (path: string) => modules.get(path)?.source.packageName === undefined
  if (entries.length === 0) return []
  const inputs = entries.map(path => {
    const { name, file } = (modules.get(path) as Script).source
    const id = idOf(file)
    return [name, commonJs.has(path) ? `${FACADE}${id}.js` : id]
  })
  /** Maps specifiers that lead nowhere to a package's file that imports them. An unused one may be missing. */
  const lost = new Map<string, string>()
  const build = await rolldown({
    input: Object.fromEntries(inputs),
    cwd: root,
    ...buildOptions('production', app.constants),
    // On-demand wrapping leaves some ES modules bare: these would run before CommonJS modules in front of them.
    experimental: { attachDebugInfo: 'none', onDemandWrapping: !hasCommonJs },
    plugins: [modulesFrom(joining, pathOf, lost)]
  })
  const generated = build.generate({
    format: 'es',
    minify: target?.length
      ? { compress: { target: [...target] }, mangle: true, codegen: true }
      : target !== undefined,
    sourcemap: 'hidden',
    // Modules that are not joined are separate files, which the browser runs in order.
    strictExecutionOrder: apart.size < modules.size,
    sanitizeFileName: false,
    entryFileNames: '[name]',
    chunkFileNames({ name, moduleIds }) {
      const path = moduleIds.flatMap(id => pathOf(id) ?? []).find(isOwn)
      const folder = posix.relative(app.urlPrefix, folders.get(path ?? '') ?? app.urlPrefix)
      return posix.join(folder, FOLDER, name.endsWith('.js') ? name : `${name}.js`)
    },
    codeSplitting: {
      // A group also takes the imports of its modules, except those in earlier groups.
      groups: Array.from(groups, ([name, paths]) => ({
        name,
        test: id => !id.startsWith(FACADE) && paths.has(pathOf(id) ?? '')
      }))
    }
  })
  const { output } = await generated.finally(() => build.close())
  const chunks = output.filter(each => each.type === 'chunk')
  for (const specifier of chunks.flatMap(({ imports }) => imports)) {
    const file = lost.get(specifier)
    if (file !== undefined) throw new CompileError(lostReason(specifier), { file })
  }
  return chunks
}

/** Finds listed modules by their names, and leaves other files of packages to Rolldown. */
function modulesFrom(
  { root, plan: { modules, apart }, app: { imports }, nodes }: Joining,
  pathOf: PathOf,
  lost: Map<string, string>
): Plugin {
  const elsewhere = (id: string) => ({ id, external: 'absolute' }) as const
  return {
    name: 'modules',
    transform: refuseDeep,
    async resolveId(specifier, importer, { kind }) {
      if (specifier.startsWith(FACADE)) return { id: specifier, moduleSideEffects: true }
      if (importer === undefined || importer.startsWith(FACADE))
        return resolved(modules.get(pathOf(specifier) ?? '') as Script)
      const from = modules.get(pathOf(importer) ?? '')
      const path = decodeIfValid(specifier) ?? ''
      const script = modules.get(path)
      if (script && !apart.has(path)) return resolved(script)
      if (from && from.source.packageName === undefined) return elsewhere(specifier)
      if (nodes.has(path) || ELSEWHERE.test(specifier) || imports.has(specifier)) {
        if (isPlainSheet(specifier, from?.code)) lost.set(specifier, importer)
        return elsewhere(specifier)
      }
      const found = await findIn(this, root, specifier, importer, kind)
      const to = pathOf(found?.id ?? '')
      if (to !== undefined && apart.has(to)) return elsewhere(encodePath(to))
      if (found && !isSheet(found.id)) return found
      if (kind === 'require-call' && isBuiltin(specifier)) return EMPTY + specifier
      lost.set(specifier, importer)
      return elsewhere(specifier)
    },
    async load(id) {
      if (id.startsWith(EMPTY)) return NOTHING
      if (id.startsWith(FACADE)) {
        const names = namesFrom(pathOf(id) ?? '', modules.values())
        const { code } = await facadeOf(this, fileOf(id), names)
        return { code, moduleType: 'js' }
      }
      const script = modules.get(pathOf(id) ?? '')
      if (!script || DATA.test(id)) return null
      return { code: script.code, map: script.map ?? null, moduleType: 'js' }
    }
  }
}

/** Returns a file's ID: Rolldown would parse `.cts` and `.mts` by extension, but the text is already JavaScript. */
const idOf = (file: string) => (/\.[cm]ts$/i.test(file) ? `${file}.js` : file)

function namesFrom(path: string, scripts: Iterable<Script>): string[] {
  const importers = [...scripts].filter(({ imports }) => imports.has(path))
  const found = importers.flatMap(({ code }) => importsIn(code))
  return found.flatMap(({ specifier, names }) => (decodeIfValid(specifier) === path ? names : []))
}

function resolved({ source: { file, directory, packageName } }: Script) {
  if (packageName === undefined) return { id: idOf(file) }
  return { id: idOf(file), packageJsonPath: joinPath(directory, 'package.json') }
}

function madeOf(
  { fileName, code, map, facadeModuleId, moduleIds }: OutputChunk,
  { root, app, plan: { modules, entries } }: Joining,
  pathOf: PathOf
): Made {
  const [first, ...rest] = [facadeModuleId ?? '', ...moduleIds].flatMap(id => pathOf(id) ?? [])
  const here = posix.dirname(posix.join(app.urlPrefix, fileName))
  /** Returns the path of a source in a source map: that of its file, whatever its name. */
  const writtenAt = (source: string) => {
    const file = resolve(root, 'dist', dirname(fileName), source)
    const path = pathOf(file)
    const script = modules.get(path ?? '')
    const { packageName, directory = '' } = script?.source ?? {}
    if (path !== undefined && script && packageName === undefined)
      return posix.relative(here, posix.join(dirname(path), basename(script.source.file)))
    // CommonJS modules also require files that are not listed.
    const [, required] = /(?:^|.*\/)node_modules\/(.+)/.exec(pathFrom(root, file)) ?? []
    const inPackage = script
      ? `${packageName}/${pathFrom(directory, script.source.file)}`
      : required
    if (inPackage === undefined) return basename(file)
    return posix.relative(here, posix.join(app.urlPrefix, PACKAGES, inPackage))
  }
  return {
    name: fileName,
    code: code.endsWith('\n') ? code : `${code}\n`,
    map: map
      ? JSON.stringify({ ...map, sources: map.sources.map(source => source && writtenAt(source)) })
      : undefined,
    from: [first ?? entries[0] ?? '', ...new Set(rest.filter(path => path !== first))]
  }
}

function asCompileError(error: unknown, root: string, isAsWritten: (file: string) => boolean) {
  const problem = problemIn(error)
  if (!problem) return error
  const { what, file: id = root, line, column } = problem
  const file = id.replace(/(?<=\.[cm]ts)\.js$/i, '')
  const place = line === undefined || !isAsWritten(id) ? { file } : { file, line, column }
  return new CompileError(what, place, { cause: error })
}
