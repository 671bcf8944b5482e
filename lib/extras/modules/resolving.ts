// Resolves the imports of packages for Rolldown.
import { isBuiltin } from 'node:module'
import { dirname, isAbsolute, join } from 'node:path'
import type { ImportKind, Plugin, PluginContext } from 'rolldown'
import { errorCode } from '../../runtime/files/disk.ts'
import { readSnapshot } from '../../runtime/files/open-file.ts'
import { pathFrom } from '../../runtime/files/paths.ts'
import type { AssetError } from '../../runtime/errors.ts'
import type { SourceFile } from '../../runtime/app/extra.ts'
import type { Constants } from '../../runtime/settings/constants.ts'
import { isCanonicalBelow } from '../../runtime/urls/spelling.ts'
import { isPackage } from './options.ts'
import { allOf, Packages, splitSpecifier, unusable } from './packages.ts'
import { problemIn, refuseDeep } from './rolldown.ts'

export interface Needed {
  readonly root: string
  readonly condition: 'development' | 'production'
  readonly constants: Constants
  /** The specifiers that the option `imports` maps: they are left to the import map. */
  readonly mapped: readonly string[]
  readonly specifiers: ReadonlyMap<string, Import>
}

export interface Import {
  /** The option, or a script of the app. */
  readonly importer: string
  /** The directory from which Node would look for the package. */
  readonly from: string
  /** The names that the app imports, as a lexer does not find all exports of CommonJS. */
  readonly names: readonly string[]
}

const textOf = (value: unknown) => (JSON.stringify(value) as string | undefined) ?? 'undefined'
const codeOf = (values: Constants) =>
  Object.fromEntries(Object.entries(values).map(([name, each]) => [name, textOf(each)]))

/** The options with which Rolldown reads packages, joined or not. */
export const buildOptions = (condition: Needed['condition'], constants: Constants) => ({
  platform: 'browser' as const,
  tsconfig: false as const,
  logLevel: 'silent' as const,
  resolve: {
    conditionNames: ['browser', 'module', condition as string],
    mainFields: ['browser', 'module', 'main']
  },
  experimental: { attachDebugInfo: 'none' as const },
  transform: { define: codeOf({ ...constants, 'process.env.NODE_ENV': condition }) }
})

/** The files from which Rolldown makes modules whose exports depend on what is imported. */
export const DATA = /\.(?:json|txt)$/

export const FOLDER = 'npm/'

/** The prefix of inputs of the build that stand for a specifier of the app; no import of a package begins like this. */
export const ENTRY = '\0package:'
/** The prefix of a module of Node that CommonJS requires: in browsers it is an empty object. */
export const EMPTY = '\0empty:'
export const NOTHING = { code: 'module.exports = {}', moduleType: 'js' } as const
const CSS_MODULE = /\btype["']?\s*:\s*["']css["']/
/** Browsers load these without us. */
export const ELSEWHERE = /^(?:(?:https?|data|blob):|\/\/)/i
/** Replaces a file of a package in built code. */
export const PLACEHOLDER = 'npm-file:'

/** The results of reading the modules. */
export class Resolved {
  readonly entries = new Map<string, string>()
  /** The imports of each module: files by specifier. */
  readonly targets = new Map<string, Map<string, string>>()
  /** The files that are not modules, by the name below `npm/` under which they are published. */
  readonly files = new Map<string, string>()
  readonly workers = new Set<string>()
  /** The names that CommonJS modules export, by specifier. */
  readonly commonJs = new Map<string, readonly string[]>()
  /** The specifiers that lead nowhere, each with a file that imports it. */
  readonly lost = new Map<string, string>()
  /** The reasons why a requested module cannot be built, by its specifier. */
  readonly failures = new Map<string, readonly AssetError[]>()
  readonly root: string
  readonly packages: Packages

  constructor(root: string) {
    this.root = root
    this.packages = new Packages(root)
  }

  /** Returns the name of a package's file, below `npm/`. @throws AssetError for one that no URL can have */
  nameOf(file: string): string {
    const path = this.packages.pathOf(file)
    if (path !== undefined && isCanonicalBelow(path)) return path
    throw unusable(`${pathFrom(this.root, file)} has a name that no URL can have`)
  }

  otherFiles(): SourceFile[] {
    return Array.from(this.files, ([name, file]) => this.sourceOf(FOLDER + name, file))
  }

  sourceOf(name: string, file: string): SourceFile {
    const { directory = dirname(file), name: packageName } = this.packages.homeOf(file) ?? {}
    return { name, file, directory, packageName }
  }

  requireNoFailure(): void {
    if (this.failures.size > 0) throw allOf([...this.failures.values()].flat())
  }

  /** @param used the imports of the module of a specifier, and of all modules that it reaches */
  requireFound(specifier: string, used: Iterable<string>): void {
    const problems = new Map<string, AssetError>()
    for (const each of used) {
      const importer = this.lost.get(each)
      if (importer === undefined) continue
      const error = unusable(`${pathFrom(this.root, importer)} ${lostReason(each)}`)
      // A package has one stylesheet or a hundred.
      const { name = '' } = (isSheet(each) && this.packages.homeOf(importer)) || {}
      problems.set(name || error.message, problems.get(name) ?? error)
    }
    if (problems.size > 0) this.failures.set(specifier, [...problems.values()])
  }
}

export const isSheet = (specifier: string) => specifier.endsWith('.css')

/** Tells whether an import is of a stylesheet without `with { type: 'css' }`, which browsers do not accept. */
export const isPlainSheet = (specifier: string, importing = '') =>
  isSheet(specifier) && !CSS_MODULE.test(importing)

/** Returns why a module that imports it cannot be used, worded to follow the module's file. */
export function lostReason(specifier: string): string {
  const other = 'name another module for it in the option imports'
  if (isSheet(specifier))
    return `imports '${specifier}', a stylesheet, which browsers do not accept as a module: use another module of the package, or remove the import if the package is yours, and @import the stylesheet in one of the app, or name it as a file of the package, for stylesheet()`
  if (isBuiltin(specifier))
    return `imports '${specifier}', a module of Node, which browsers do not have: ${other}`
  if (!isPackage(specifier))
    return `imports '${specifier}', which does not exist: install the package again`
  const [name, subpath] = splitSpecifier(specifier)
  const version = `, or not exported by the installed version (see npm ls ${name})`
  return `imports '${specifier}', which is not installed${subpath === '.' ? '' : version}: run npm install ${name}, or ${other}`
}

type Asked = readonly [specifier: string, importer: string, kind: ImportKind]

/** Resolves an import; a package in a store outside of the project falls back on the project's packages. */
export async function findIn(build: PluginContext, root: string, ...[name, from, kind]: Asked) {
  const found = await build.resolve(name, from, { skipSelf: true, kind })
  if (found || !isPackage(name)) return found
  return build.resolve(name, join(root, 'index.js'), { skipSelf: true, kind })
}

export function resolving({ mapped, specifiers }: Needed, resolved: Resolved): Plugin {
  const { entries, targets, files, lost, packages, root } = resolved
  return {
    name: 'packages',
    transform: refuseDeep,
    async buildStart() {
      for (const [specifier, asked] of specifiers) {
        try {
          const file = await fileOf(this, specifier, asked, resolved)
          if (file === undefined && isOptional(specifier, specifiers)) continue
          if (file === undefined)
            throw await packages.notExported(specifier, asked.importer, asked.from)
          entries.set(specifier, file)
        } catch (error) {
          if (errorCode(error) !== 'package-unusable') throw error
          resolved.failures.set(specifier, [error as AssetError])
        }
      }
    },
    async resolveId(specifier, importer, { kind }) {
      if (importer === undefined || importer.startsWith('\0') || specifier.startsWith('\0'))
        return null
      if (mapped.includes(specifier) || ELSEWHERE.test(specifier))
        return { id: specifier, external: 'absolute' }
      const find = () => findIn(this, root, specifier, importer, kind)
      const first = await find()
      const isLost = !first || first.external
      if (isLost) await packages.awaited(specifier, importer)
      const found = isLost ? await find() : first
      const isFile = found && !found.external && isAbsolute(found.id)
      if (isFile) await packages.see(found.id)
      if (!isFile && isBuiltin(specifier) && kind === 'require-call') return EMPTY + specifier
      if (!isFile && found && !found.external) return found
      const importing = isFile && isSheet(found.id) ? await readSnapshot(importer) : undefined
      if (!isFile || isPlainSheet(found.id, String(importing?.bytes))) {
        lost.set(specifier, importer)
        return { id: specifier, external: 'absolute' }
      }
      await packages.requireReach(specifier, importer, found.id)
      const known = targets.get(importer) ?? new Map<string, string>()
      targets.set(importer, known.set(specifier, found.id))
      if (!isSheet(found.id)) return found
      files.set(resolved.nameOf(found.id), found.id)
      return { id: `${PLACEHOLDER}${resolved.nameOf(found.id)}`, external: 'absolute' }
    },
    load: id => (id.startsWith(EMPTY) ? NOTHING : null)
  }
}

async function fileOf(
  context: PluginContext,
  specifier: string,
  { importer, from }: Import,
  { packages }: Resolved
): Promise<string | undefined> {
  const [name] = splitSpecifier(specifier)
  const shown = JSON.stringify(specifier)
  if (!isCanonicalBelow(specifier))
    throw unusable(`${importer} imports ${shown}, which is not the name of a package`)
  const { directory } = await packages.installed(name, importer, from)
  const find = () => context.resolve(specifier, join(from, 'index.js'))
  const found = (await find()) ?? ((await packages.see(directory)) ? await find() : undefined)
  if (!found || found.external || !isAbsolute(found.id)) return undefined
  await packages.see(found.id)
  if (isSheet(found.id)) {
    const path = pathFrom(directory, found.id)
    throw unusable(
      `${importer} imports '${specifier}', a stylesheet: write @import '${specifier}' in a stylesheet of the app, or packages: { '${name}': ['${path}'] }, and stylesheet('npm/${name}/${path}') in the page`
    )
  }
  await packages.requireReach(`./${specifier}`, join(directory, 'package.json'), found.id)
  return found.id
}

/** Tells whether a package's main module may be missing: it may consist only of subpaths, but be named as a whole. */
export const isOptional = (specifier: string, specifiers: Needed['specifiers']) =>
  [...specifiers.keys()].some(each => each !== specifier && splitSpecifier(each)[0] === specifier)

/** Returns the error of a failed build as one about packages, and any other error unchanged. */
export function asUnusable(error: unknown, root: string): unknown {
  const problem = problemIn(error)
  if (!problem) return error
  const { first, what, file = root, line, column } = problem
  if (first.pluginCode === 'package-unusable') return unusable(first.message, first.cause)
  const place = line === undefined ? '' : `:${line}:${column}`
  return unusable(`${pathFrom(root, file)}${place} cannot be built: ${what}`, error)
}
