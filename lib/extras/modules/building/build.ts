// Builds packages for browsers with Rolldown, all at once: a module for each specifier, and shared chunks.
import { basename, dirname, join, resolve } from 'node:path'
import type { Plugin, RolldownOutput } from 'rolldown'
import type { KnownImports, SourceFile } from '../../../runtime/app/extra.ts'
import type { AssetError } from '../../../runtime/errors.ts'
import { importOrder } from '../../../runtime/views/modules.ts'
import { facadeOf } from '../common-js.ts'
import {
  asUnusable,
  buildOptions,
  DATA,
  ENTRY,
  FOLDER,
  Resolved,
  resolving,
  type Needed
} from '../resolving.ts'
import { allOf, OPTION } from '../packages.ts'
import type { Rolldown } from '../rolldown.ts'
import { urls } from './urls.ts'

/** A build, whose files are known by their names, such as `npm/preact/hooks.js`. */
export interface Built {
  readonly texts: ReadonlyMap<string, string>
  readonly files: readonly SourceFile[]
  readonly imports: KnownImports
  /** The packages that consist only of subpaths. */
  readonly withoutMain: readonly string[]
  /** The names that CommonJS modules are known to export, by specifier; others may be missing. */
  readonly commonJs: ReadonlyMap<string, readonly string[]>
  /** The reason why a module cannot be built, by specifier; only modules that import it fail. */
  readonly failed: ReadonlyMap<string, string>
}

/** Rolldown numbers these functions across all modules of a build. */
const NUMBERED = /\binit_\w+_cjs_\d+\b/g
/** The folder of chunks that several modules share. */
export const SHARED = `${FOLDER}-/`

/** Builds packages. A broken module fails the build if the option names it, otherwise only scripts that import it. */
export async function buildPackages(loaded: Rolldown, wanted: Needed) {
  const resolved = new Resolved(wanted.root)
  const plugins = [facades(wanted, resolved), resolving(wanted, resolved), urls(resolved, loaded)]
  const build = await loaded.rolldown({ ...inputOf(wanted), plugins })
  const { looked, seen } = resolved.packages
  const read = async () => new Set([...looked, ...(await build.watchFiles)])
  try {
    const { output } = await build.generate({
      dir: join(wanted.root, 'dist'),
      format: 'es',
      sourcemap: true,
      // The path does not depend on where a package is installed.
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
    return { built: builtFrom(output, wanted, resolved), seen, inputs: await read() }
  } catch (error) {
    return { error: asUnusable(error, wanted.root), seen, inputs: await read() }
  } finally {
    await build.close()
  }
}

/** @throws AssetError if a module that the option names fails */
function builtFrom(
  output: RolldownOutput['output'],
  { specifiers }: Needed,
  resolved: Resolved
): Built {
  const chunks = output.filter(each => each.type === 'chunk')
  const byFacade = (specifier: string) =>
    chunks.find(each => each.facadeModuleId === ENTRY + specifier)?.fileName ?? ''
  const byName = new Map(chunks.map(each => [each.fileName, each]))
  const nextOf = (name: string) => {
    const { imports = [], dynamicImports = [] } = byName.get(name) ?? {}
    return [...imports, ...dynamicImports]
  }
  const { entries, failures, commonJs } = resolved
  for (const specifier of entries.keys()) {
    const reached = [...importOrder([byFacade(specifier)], nextOf)]
    const used = reached.flatMap(each => byName.get(each)?.imports ?? [])
    resolved.requireFound(specifier, used)
  }
  const isNamed = (specifier: string) => specifiers.get(specifier)?.importer === OPTION
  if ([...failures.keys()].some(isNamed)) resolved.requireNoFailure()
  const told = (specifier: string, errors: readonly AssetError[]) => {
    const { importer = '' } = specifiers.get(specifier) ?? {}
    const { message } = allOf(errors)
    if (message.includes(importer)) return message
    return `${importer} imports '${specifier}', which cannot be built: ${message}`
  }
  const made = [...entries.keys()].filter(each => !failures.has(each))
  // No other module imports the script of one that fails or is missing.
  const unused = new Set([...specifiers.keys()].filter(each => !made.includes(each)).map(byFacade))
  const kept = output.filter(({ fileName }) => !unused.has(fileName.replace(/\.map$/, '')))
  return {
    failed: new Map(Array.from(failures, ([each, errors]) => [each, told(each, errors)])),
    texts: new Map(
      kept.map(each => [each.fileName, String(each.type === 'chunk' ? each.code : each.source)])
    ),
    files: resolved.otherFiles(),
    imports: {
      names: new Map(made.map(each => [each, byFacade(each)])),
      links: new Map(
        chunks.map(each => [each.fileName, each.imports.filter(name => name.startsWith(FOLDER))])
      )
    },
    commonJs,
    withoutMain: [...specifiers.keys()].filter(each => !entries.has(each) && !failures.has(each))
  }
}

export function inputOf({ root, specifiers, condition, constants }: Needed) {
  return {
    input: Object.fromEntries(Array.from(specifiers.keys(), each => [FOLDER + each, ENTRY + each])),
    cwd: root,
    preserveEntrySignatures: 'strict' as const,
    ...buildOptions(condition, constants)
  } as const
}

function facades({ specifiers }: Needed, { entries, commonJs }: Resolved): Plugin {
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
        const hasDefault = exports.includes('default') || DATA.test(file)
        const main = hasDefault ? `export { default } from ${from}\n` : ''
        return { code: `${main}export * from ${from}`, moduleType: 'js' }
      }
    },
    // Chunks with numbers of their own keep their hash if others are added, so open pages can still use them.
    renderChunk: {
      filter: { code: '_cjs_' },
      handler(code) {
        const names = [...new Set(code.match(NUMBERED))]
        const renamed = (name: string) => name.replace(/\d+$/, String(names.indexOf(name)))
        return { code: code.replace(NUMBERED, renamed), map: null }
      }
    }
  }
}

/** Names a module. A file cannot have the name of a folder, so `chart` makes room for files of `chart.js`. */
function entryName(name: string, { entries, files }: Resolved): string {
  if (/\.m?js$/.test(name) && !entries.has(name.slice(FOLDER.length))) return name
  const folder = `${name.slice(FOLDER.length)}.js/`
  const isTaken = [...entries.keys(), ...files.keys()].some(each => each.startsWith(folder))
  return isTaken ? `${SHARED}${folder.slice(0, -1).replaceAll('/', '+')}` : `${name}.js`
}
