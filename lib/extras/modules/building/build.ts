// Makes packages fit for browsers by one build of Rolldown: a module for each specifier, and what these share.
import { basename, dirname, join, resolve } from 'node:path'
import type { Plugin } from 'rolldown'
import type { SourceFile } from '../../../runtime/app/extra.ts'
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
  /** Why a module cannot be built, by specifier: what imports it fails, and nothing else does. */
  readonly failed: ReadonlyMap<string, string>
}

/** The chunks that several modules share are in this folder. */
export const SHARED = `${FOLDER}-/`

interface Attempt {
  readonly built?: Built
  readonly error?: unknown
  /** The files that were read: once one of them has changed, another build may be another one. */
  readonly inputs: readonly string[]
}

const NOTHING_BUILT: Built = {
  texts: new Map(),
  files: [],
  modules: new Map(),
  withoutMain: [],
  commonJs: new Map(),
  links: new Map(),
  failed: new Map()
}

/** Builds the others where a module fails that a script imports; what the option names has to be there. */
export async function buildPackages(rolldown: Rolldown, wanted: Needed): Promise<Attempt> {
  const { failures, ...outcome } = await buildAll(rolldown, wanted)
  const { specifiers } = wanted
  const isNamed = (specifier: string) => specifiers.get(specifier)?.importer === OPTION
  if (failures.size === 0 || [...failures.keys()].some(isNamed)) return outcome
  const left = new Map([...specifiers].filter(([each]) => !failures.has(each)))
  const rest: Attempt =
    left.size > 0
      ? await buildPackages(rolldown, { ...wanted, specifiers: left })
      : { built: NOTHING_BUILT, inputs: [] }
  const inputs = [...outcome.inputs, ...rest.inputs]
  if (!rest.built) return { error: rest.error, inputs }
  const failed = new Map(rest.built.failed)
  for (const [specifier, errors] of failures) {
    const { importer = '' } = specifiers.get(specifier) ?? {}
    const { message } = allOf(errors)
    const what = `${importer} imports '${specifier}', which cannot be built: `
    failed.set(specifier, message.includes(importer) ? message : what + message)
  }
  return { built: { ...rest.built, failed }, inputs }
}

async function buildAll({ rolldown }: Rolldown, wanted: Needed) {
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
    const byFacade = (specifier: string) =>
      chunks.find(each => each.facadeModuleId === ENTRY + specifier)?.fileName ?? ''
    const byName = new Map(chunks.map(each => [each.fileName, each]))
    for (const specifier of resolved.entries.keys()) {
      const reached = new Set([byFacade(specifier)])
      const used = new Set<string>()
      for (const name of reached) {
        const { imports = [], dynamicImports = [] } = byName.get(name) ?? {}
        for (const each of imports) used.add(each)
        for (const each of [...imports, ...dynamicImports]) reached.add(each)
      }
      resolved.requireFound(specifier, used)
    }
    resolved.requireNoFailure()
    const built: Built = {
      failed: new Map(),
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
    return { built, failures: resolved.failures, inputs: await read() }
  } catch (error) {
    const { failures } = resolved
    return { error: asUnusable(error, wanted.root), failures, inputs: await read() }
  } finally {
    await build.close()
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

function facades(
  { specifiers }: Needed,
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
        const hasDefault = exports.includes('default') || DATA.test(file)
        const main = hasDefault ? `export { default } from ${from}\n` : ''
        return { code: `${main}export * from ${from}`, moduleType: 'js' }
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
