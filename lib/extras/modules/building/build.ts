// Makes packages fit for browsers by one build of Rolldown: a module for each specifier, and what these share.
import { isAbsolute, join } from 'node:path'
import type { OutputChunk, Plugin } from 'rolldown'
import { pathFrom } from '../../../runtime/files/paths.ts'
import type { SourceFile } from '../../../runtime/app/parts.ts'
import { facadeOf } from '../common-js.ts'
import { Packages, unusable } from '../packages.ts'
import { buildOptions, ENTRY, FOLDER, Resolved, resolving, type Wanted } from '../resolving.ts'
import { problemIn, type Rolldown } from '../rolldown.ts'
import { urls } from './urls.ts'

/** Everything has a name, such as `npm/preact/hooks.js`. */
export interface Built {
  /** Scripts and their source maps. */
  readonly texts: ReadonlyMap<string, string>
  /** Other files that they refer to. */
  readonly files: readonly SourceFile[]
  /** The names of the modules, by specifier. */
  readonly modules: ReadonlyMap<string, string>
  /** The packages that are made of subpaths alone. */
  readonly withoutMain: readonly string[]
  /** The names that CommonJS modules are known to export, by specifier: another one may be missing. */
  readonly commonJs: ReadonlyMap<string, readonly string[]>
  /** The names of what a script imports statically. */
  readonly links: ReadonlyMap<string, readonly string[]>
  /** Another build may be another one once one of these files has changed. */
  readonly inputs: readonly string[]
}

/** A module of a package, as it was written. */
export interface ScannedModule {
  readonly file: string
  /** The files that its imports mean, by specifier. */
  readonly imports: ReadonlyMap<string, string>
}

/** The modules of packages, for a build that joins them with those of the app. */
export interface Scanned {
  readonly entries: ReadonlyMap<string, string>
  readonly modules: readonly ScannedModule[]
  readonly files: readonly SourceFile[]
  readonly packages: Packages
}

/** The chunks that several modules share are in this folder. */
const SHARED = `${FOLDER}-/`
const FACADE = '\0package:'

export interface BuildFailure {
  readonly error: unknown
  /** The files that were read until then. */
  readonly inputs: readonly string[]
}

/** @returns a failure for what cannot be built */
export async function buildPackages(
  { rolldown }: Pick<Rolldown, 'rolldown'>,
  wanted: Wanted
): Promise<Built | BuildFailure> {
  const resolved = new Resolved(new Packages(wanted.root), wanted.root)
  const read = new Set<string>()
  const inputs = () => [...resolved.packages.looked, ...read]
  const commonJs = new Map<string, readonly string[]>()
  try {
    const build = await rolldown({
      ...inputOf(wanted),
      plugins: [
        facades(wanted, resolved, commonJs),
        resolving(wanted, resolved),
        urls(resolved),
        reading(read)
      ]
    })
    const { output } = await build.generate({
      dir: join(wanted.root, 'dist'),
      format: 'es',
      sourcemap: true,
      sanitizeFileName: false,
      strictExecutionOrder: true,
      hashCharacters: 'hex',
      entryFileNames: ({ name }) => entryName(name, resolved),
      chunkFileNames: ({ name }) => `${SHARED}${name.replace(/[^\w.-]+/g, '-')}-[hash].js`
    })
    await build.close()
    const chunks = output.filter(each => each.type === 'chunk')
    resolved.requireFound(chunks.flatMap(({ imports }) => imports))
    const texts = output.map((each): [string, string] => [
      each.fileName,
      each.type === 'chunk' ? each.code : String(each.source)
    ])
    return {
      texts: new Map(texts),
      files: resolved.otherFiles(),
      commonJs,
      modules: modulesIn(chunks, resolved),
      withoutMain: [...wanted.specifiers.keys()].filter(each => !resolved.entries.has(each)),
      links: new Map(chunks.map(({ fileName, imports }) => [fileName, imports.filter(isOurs)])),
      inputs: inputs()
    }
  } catch (error) {
    return { error: resolved.refused ?? asUnusable(error, wanted.root), inputs: inputs() }
  }
}

/** Only reads the modules. @throws AssetError for what cannot be built */
export async function scanPackages(
  { rolldown }: Pick<Rolldown, 'rolldown'>,
  wanted: Wanted
): Promise<Scanned> {
  const packages = new Packages(wanted.root)
  const resolved = new Resolved(packages, wanted.root)
  const modules = new Map<string, readonly string[]>()
  const { entries, targets } = resolved
  const scanning: Plugin = {
    name: 'scan',
    resolveId: specifier =>
      specifier.startsWith(ENTRY) ? (entries.get(specifier.slice(ENTRY.length)) ?? NOTHING) : null,
    load: id => (id === NOTHING ? 'export {}' : null),
    moduleParsed({ id, inputFormat, importedIds, dynamicallyImportedIds }) {
      // Rolldown follows what CommonJS requires.
      modules.set(id, inputFormat === 'es' ? [...importedIds, ...dynamicallyImportedIds] : [])
    }
  }
  try {
    const build = await rolldown({
      ...inputOf(wanted),
      plugins: [scanning, resolving(wanted, resolved), urls(resolved)]
    })
    await build.generate({ dir: join(wanted.root, 'dist'), format: 'es' })
    await build.close()
  } catch (error) {
    throw resolved.refused ?? asUnusable(error, wanted.root)
  }
  const reached = new Set([...entries.values(), ...resolved.workers])
  for (const id of reached)
    for (const to of modules.get(id) ?? []) if (modules.has(to)) reached.add(to)
  const scanned = [...reached].map(file => ({ file, imports: targets.get(file) ?? new Map() }))
  return { entries, modules: scanned, files: resolved.otherFiles(), packages }
}

const NOTHING = '\0nothing'

function inputOf({ root, specifiers, condition }: Wanted) {
  return {
    input: Object.fromEntries(Array.from(specifiers.keys(), each => [FOLDER + each, ENTRY + each])),
    cwd: root,
    preserveEntrySignatures: 'strict' as const,
    ...buildOptions(condition)
  } as const
}

/** Makes a module for each specifier, with the names that it exports. */
function facades(
  { specifiers }: Wanted,
  { entries }: Resolved,
  commonJs: Map<string, readonly string[]>
): Plugin {
  return {
    name: 'facades',
    resolveId: (specifier, importer) => {
      if (specifier.startsWith(ENTRY))
        return { id: FACADE + specifier.slice(ENTRY.length), moduleSideEffects: true }
      return importer?.startsWith(FACADE) ? { id: specifier } : null
    },
    load: {
      filter: { id: /^\0package:/ },
      async handler(id) {
        const specifier = id.slice(FACADE.length)
        const file = entries.get(specifier)
        if (file === undefined) return { code: 'export {}', moduleType: 'js' }
        const { inputFormat, exports } = await this.load({ id: file })
        if (inputFormat === 'cjs') {
          const facade = await facadeOf(this, file, specifiers.get(specifier)?.names ?? [])
          commonJs.set(specifier, facade.names)
          return { code: facade.code, moduleType: 'js' }
        }
        const from = JSON.stringify(file)
        const named = exports.includes('default') ? `export { default } from ${from}\n` : ''
        return { code: `${named}export * from ${from}`, moduleType: 'js' }
      }
    }
  }
}

/** Remembers every module that is read. */
function reading(read: Set<string>): Plugin {
  return {
    name: 'reading',
    moduleParsed({ id }) {
      if (isAbsolute(id)) read.add(id)
    }
  }
}

/** A file cannot have the name of a folder: `chart` stands aside for files of `chart.js`. */
function entryName(name: string, { entries, files }: Resolved): string {
  if (/\.m?js$/.test(name) && !entries.has(name.slice(FOLDER.length))) return name
  const folder = `${name.slice(FOLDER.length)}.js/`
  const isTaken = [...entries.keys(), ...files.keys()].some(each => each.startsWith(folder))
  return isTaken ? `${SHARED}${folder.slice(0, -1).replaceAll('/', '+')}` : `${name}.js`
}

function modulesIn(chunks: readonly OutputChunk[], { entries }: Resolved): Map<string, string> {
  const found = chunks.map(({ facadeModuleId, fileName }): [string, string] => [
    facadeModuleId?.startsWith(FACADE) ? facadeModuleId.slice(FACADE.length) : '',
    fileName
  ])
  return new Map(found.filter(([specifier]) => entries.has(specifier)))
}

const isOurs = (name: string) => name.startsWith(FOLDER)

function asUnusable(error: unknown, root: string): unknown {
  const problem = problemIn(error)
  if (!problem) return error
  const { what, file = root, line, column } = problem
  const place = line === undefined ? '' : `:${line}:${column}`
  return unusable(`${pathFrom(root, file)}${place} cannot be built: ${what}`, error)
}
