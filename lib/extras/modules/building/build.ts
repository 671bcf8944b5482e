// Makes packages fit for browsers by one build of Rolldown: a module for each specifier, and what these share. Where
// they are joined with the modules of the app, it only reads them.
import { basename, dirname, join, resolve } from 'node:path'
import type { Plugin } from 'rolldown'
import { CompileError } from '../../../runtime/errors.ts'
import type { KnownImports, SourceFile } from '../../../runtime/app/extra.ts'
import type { Compiler } from '../../../runtime/settings/options.ts'
import { facadeOf } from '../common-js.ts'
import {
  asUnusable,
  buildOptions,
  DATA,
  ENTRY,
  FOLDER,
  Resolved,
  resolving,
  type Wanted
} from '../resolving.ts'
import type { Rolldown } from '../rolldown.ts'
import { urls } from './urls.ts'

/** Everything has a name, such as `npm/preact/hooks.js`. */
export interface Built {
  readonly texts: ReadonlyMap<string, string>
  /** Other files that they refer to. */
  readonly files: readonly SourceFile[]
  /** The names of the modules, by specifier. */
  readonly modules: ReadonlyMap<string, string>
  /** The packages that are made of subpaths alone. */
  readonly withoutMain: readonly string[]
  /** The names that CommonJS modules are known to export, by specifier: another one may be missing. */
  readonly commonJs: ReadonlyMap<string, readonly string[]>
  /** A script imports these statically. */
  readonly links: ReadonlyMap<string, readonly string[]>
}

export interface Listed {
  readonly files: readonly SourceFile[]
  readonly imports: KnownImports
  /** Names by specifier, by the name of the importing module; undefined for a build, whose modules have URLs. */
  readonly inside?: ReadonlyMap<string, ReadonlyMap<string, string>>
}

/** The chunks that several modules share are in this folder. */
const SHARED = `${FOLDER}-/`

/** Returns the files that were read as well: once one of them has changed, another build may be another one. */
export async function buildPackages({ rolldown }: Rolldown, wanted: Wanted) {
  const resolved = new Resolved(wanted.root)
  const commonJs = new Map<string, readonly string[]>()
  const build = await rolldown({
    ...inputOf(wanted),
    plugins: [facades(wanted, resolved, commonJs), resolving(wanted, resolved), urls(resolved)]
  })
  const read = async () => [...resolved.packages.looked, ...(await build.watchFiles)]
  try {
    const { output } = await build.generate({
      dir: join(wanted.root, 'dist'),
      format: 'es',
      sourcemap: true,
      // Wherever a package lies, and whatever the folders there are called.
      sourcemapPathTransform: (source, map) => {
        const file = resolve(dirname(map), source)
        return `/node_modules/${resolved.packages.pathOf(file) ?? basename(file)}`
      },
      sanitizeFileName: false,
      strictExecutionOrder: true,
      hashCharacters: 'hex',
      entryFileNames: ({ name }) => entryName(name, resolved),
      chunkFileNames: ({ name }) => `${SHARED}${name.replace(/[^\w.-]+/g, '-')}-[hash].js`
    })
    const chunks = output.filter(each => each.type === 'chunk')
    resolved.requireFound(chunks.flatMap(({ imports }) => imports))
    const byFacade = (specifier: string) =>
      chunks.find(each => each.facadeModuleId === ENTRY + specifier)?.fileName ?? ''
    const built = {
      texts: new Map(
        output.map(each => [each.fileName, String(each.type === 'chunk' ? each.code : each.source)])
      ),
      files: resolved.otherFiles(),
      commonJs,
      modules: new Map([...resolved.entries.keys()].map(each => [each, byFacade(each)])),
      withoutMain: [...wanted.specifiers.keys()].filter(each => !resolved.entries.has(each)),
      links: new Map(
        chunks.map(each => [each.fileName, each.imports.filter(name => name.startsWith(FOLDER))])
      )
    }
    return { built, inputs: await read() }
  } catch (error) {
    return { error: asUnusable(error, wanted.root), inputs: await read() }
  } finally {
    await build.close()
  }
}

function inputOf({ root, specifiers, condition }: Wanted) {
  return {
    input: Object.fromEntries(Array.from(specifiers.keys(), each => [FOLDER + each, ENTRY + each])),
    cwd: root,
    preserveEntrySignatures: 'strict' as const,
    ...buildOptions(condition)
  } as const
}

function facades(
  { specifiers }: Wanted,
  { entries }: Resolved,
  commonJs: Map<string, readonly string[]>
): Plugin {
  return {
    name: 'facades',
    resolveId: (specifier, importer) => {
      if (specifier.startsWith(ENTRY)) return { id: specifier, moduleSideEffects: true }
      return importer?.startsWith(ENTRY) ? { id: specifier } : null
    },
    load: {
      filter: { id: /^\0package:/ },
      async handler(id) {
        const specifier = id.slice(ENTRY.length)
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

/** A file cannot have the name of a folder: `chart` stands aside for files of `chart.js`. */
function entryName(name: string, { entries, files }: Resolved): string {
  if (/\.m?js$/.test(name) && !entries.has(name.slice(FOLDER.length))) return name
  const folder = `${name.slice(FOLDER.length)}.js/`
  const isTaken = [...entries.keys(), ...files.keys()].some(each => each.startsWith(folder))
  return isTaken ? `${SHARED}${folder.slice(0, -1).replaceAll('/', '+')}` : `${name}.js`
}

/** Only reads the modules, and lists them as they were written. @throws AssetError for what cannot be built */
export async function readPackages({ rolldown, transform }: Rolldown, wanted: Wanted) {
  const resolved = new Resolved(wanted.root)
  const { entries, workers } = resolved
  const modules = new Map<string, readonly string[]>()
  const reading: Plugin = {
    name: 'reading',
    resolveId: specifier =>
      specifier.startsWith(ENTRY)
        ? (entries.get(specifier.slice(ENTRY.length)) ?? specifier)
        : null,
    load: id => (id.startsWith(ENTRY) ? 'export {}' : null),
    moduleParsed({ id, inputFormat, importedIds, dynamicallyImportedIds }) {
      // Rolldown follows what CommonJS requires.
      modules.set(id, inputFormat === 'es' ? [...importedIds, ...dynamicallyImportedIds] : [])
    }
  }
  const plugins = [reading, resolving(wanted, resolved), urls(resolved)]
  const build = await rolldown({ ...inputOf(wanted), plugins })
  try {
    await build.generate({ dir: join(wanted.root, 'dist'), format: 'es' })
  } catch (error) {
    throw asUnusable(error, wanted.root)
  } finally {
    await build.close()
  }
  const reached = new Set([...entries.values(), ...workers])
  for (const id of reached)
    for (const to of modules.get(id) ?? []) if (modules.has(to)) reached.add(to)
  return listRead([...reached].toSorted(), resolved, transform)
}

export function specifiersOf(to: string, targets: ReadonlyMap<string, string>) {
  const found = [...targets].flatMap(([specifier, target]) => (target === to ? specifier : []))
  return found.length > 0 ? found : undefined
}

/** The module of a specifier has the name that it has in a build, `npm/preact/hooks.js`; others that of their file. */
function listRead(
  modules: readonly string[],
  resolved: Resolved,
  transform: Rolldown['transform']
): Listed {
  const { entries, packages, targets } = resolved
  const names = new Map<string, string>()
  for (const [specifier, file] of entries)
    names.set(file, names.get(file) ?? `${FOLDER}${specifier}.js`)
  const taken = new Set(names.values())
  const files = modules.map((file): SourceFile => {
    const path = packages.pathOf(file) ?? ''
    const own = /\.m?js$/.test(path) ? path : `${path}.js`
    const name = names.get(file) ?? (taken.has(FOLDER + own) ? SHARED : FOLDER) + own
    names.set(file, name)
    // Two versions may have one name, in a store outside of the project.
    taken.add(name)
    const [specifiers, compiler] = [specifiersOf(file, entries), compilerFor(file, transform)]
    return { ...resolved.sourceOf(name, file), specifiers, compiler }
  })
  const namesOf = (found: ReadonlyMap<string, string> = new Map()) =>
    new Map(
      [...found].flatMap(([from, file]) => (names.has(file) ? [[from, names.get(file) ?? '']] : []))
    )
  return {
    files: [...files, ...resolved.otherFiles()],
    imports: { names: namesOf(entries), links: new Map() },
    inside: new Map(modules.map(file => [names.get(file) ?? '', namesOf(targets.get(file))]))
  }
}

/** Makes JavaScript of what Rolldown takes for something else by the name of its file. */
function compilerFor(file: string, transform: Rolldown['transform']): Compiler | undefined {
  const [extension] = /\.(?:json|txt|[cm]?ts|[jt]sx)$/.exec(file) ?? []
  if (extension === undefined) return undefined
  const compile: Compiler['compile'] = async ({ code, path, sourceMap }) => {
    // Rolldown reads it again, and gives it the names that its readers need.
    if (DATA.test(path)) return { code: `export default ${JSON.stringify(code)}` }
    const made = await transform(basename(path), code, { sourcemap: sourceMap === true })
    const [error] = made.errors
    if (error) throw new CompileError(error.message, { file: path })
    if (!made.map) return { code: made.code }
    const map = Buffer.from(JSON.stringify(made.map)).toString('base64')
    return { code: `${made.code}//# sourceMappingURL=data:application/json;base64,${map}` }
  }
  return { extensions: extension, target: '.js', compile }
}
