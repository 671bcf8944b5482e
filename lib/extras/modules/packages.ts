// Finds packages, and tells to which one a file belongs, which files it may use, and what to do if one is missing.
import { readdir } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { dirname, join, resolve, sep } from 'node:path'
import { isRecord, nearest } from '../../runtime/check-options.ts'
import { AssetError, reasonOf } from '../../runtime/errors.ts'
import { realpathOf, stampOf, statOf, undefinedIfMissing } from '../../runtime/files/disk.ts'
import { readSnapshot } from '../../runtime/files/open-file.ts'
import { isInside, pathFrom, withSlashes } from '../../runtime/files/paths.ts'
import type { AppSettings } from '../../runtime/settings/settings.ts'
import { firstFile, foldersFrom, nodeModulesFrom } from '../../publishing/compilers/compiler.ts'
import { dependencyAmong } from '../../publishing/compilers/leads.ts'
import { findsPackages, isPackage, specifiersIn } from './options.ts'
import { hasRolldown, startedWithout } from './rolldown.ts'

export interface Package {
  /** The name under which it is installed; the one in its package.json may be different. */
  readonly name: string
  /** The real path. */
  readonly directory: string
}

/** The importer of packages that the options name. */
export const OPTION = 'the option packages'
const MODULES = `${sep}node_modules${sep}`
/** The files that package managers write with each installation. */
const INSTALLED = ['.package-lock.json', '.modules.yaml', '.yarn-state.yml', '.yarn-integrity']

export const unusable = (message: string, cause?: unknown) =>
  new AssetError('package-unusable', message, { cause })

const MAX_TOLD = 20

export function allOf(errors: readonly AssetError[]): AssetError {
  const messages = [...new Set(errors.map(({ message }) => message))]
  const [first = ''] = messages
  if (messages.length === 1) return unusable(first, errors[0]?.cause)
  const left = messages.length - MAX_TOLD
  const told = [...messages.slice(0, MAX_TOLD), ...(left > 0 ? [`… and ${left} more`] : [])]
  return unusable(`packages have ${messages.length} errors:\n- ${told.join('\n- ')}`)
}

/** Tells whether a name in the path of a file begins with a dot: neither it nor anything below is published. */
export const isHidden = (directory: string, file: string) =>
  /(?:^|\/)\./.test(pathFrom(directory, file))

/** `@a/b/c.js` -> `['@a/b', './c.js']` */
export function splitSpecifier(specifier: string): [name: string, subpath: string] {
  const [name = specifier] = /^(?:@[^/]+\/)?[^/]+/.exec(specifier) ?? []
  return [name, `.${specifier.slice(name.length)}`]
}

export class Packages {
  /** All files that show where packages are. */
  readonly looked: Set<string>
  /** The stamps of files when a build found them, before it read them; undefined for one that was missing. */
  readonly seen = new Map<string, ReturnType<typeof stampOf> | undefined>()
  readonly #root: string
  /** The names of packages outside of any `node_modules`, such as those of a workspace, by directory. */
  readonly #linked = new Map<string, string>()
  readonly #real: Record<string, Promise<string | undefined>> = {}
  readonly #found: Record<string, Promise<string | undefined>> = {}

  constructor(root: string) {
    this.#root = root
    this.looked = new Set(INSTALLED.map(file => join(root, 'node_modules', file)))
  }

  async see(file: string): Promise<boolean> {
    this.looked.add(file)
    const stats = await statOf(file)
    if (!this.seen.has(file)) this.seen.set(file, stats && stampOf(stats))
    return stats !== undefined
  }

  /** Returns the directory from which Node finds a package for a file; the project's if it is not installed. */
  async placeOf(name: string, file: string): Promise<string> {
    for (const folder of file.includes(MODULES) ? [] : foldersFrom(dirname(file))) {
      if (await this.see(join(folder, 'node_modules', name, 'package.json'))) return folder
    }
    return this.#root
  }

  async installed(name: string, importer: string, from: string): Promise<Package> {
    const folders = nodeModulesFrom(from)
    for (const folder of folders) {
      const isThere = await this.see(join(folder, name, 'package.json'))
      const directory = isThere ? await realpathOf(join(folder, name)) : undefined
      if (directory === undefined) continue
      if (!this.homeOf(directory + sep)) this.#linked.set(directory, name)
      return { name, directory }
    }
    const near = await nearestInstalled(name, folders)
    // The hint comes first, since a mistyped name may belong to somebody else's package.
    const hint = near === undefined ? 'run' : `did you mean '${near}', which is? If not, run`
    const what = `${importer} names the package ${name}, which is not installed`
    throw unusable(`${what}: ${hint} npm install ${name}`)
  }

  async isDependency(name: string, script: string, app: AppSettings): Promise<boolean> {
    if (!findsPackages(app)) return false
    const key = JSON.stringify([name, dirname(script)])
    const found = (this.#found[key] ??= dependencyAmong([name], script, this.#root, this.looked))
    return (await found) !== undefined
  }

  /** Watches for what is missing, in case it is installed later. */
  async awaited(specifier: string, importer: string): Promise<void> {
    const [name] = splitSpecifier(specifier)
    const folders = isPackage(name) ? nodeModulesFrom(dirname(importer)) : []
    await this.see(dirname(importer))
    if (!specifier.includes('\0')) await this.see(resolve(dirname(importer), specifier))
    for (const folder of folders) await this.see(join(folder, name, 'package.json'))
  }

  /** Returns the package of a file: the one below the last `node_modules`, or a linked one. */
  homeOf(file: string): Package | undefined {
    const at = file.lastIndexOf(MODULES) + MODULES.length
    if (at >= MODULES.length) {
      const [name] = splitSpecifier(withSlashes(file.slice(at)))
      const directory = join(file.slice(0, at), name)
      if (isPackage(name)) return { name, directory }
    }
    const linked = [...this.#linked].find(([directory]) => isInside(directory, file))
    return linked && { name: linked[1], directory: linked[0] }
  }

  /** Returns the path from the package's name on; other versions, and stores such as pnpm's, have folders in front. */
  pathOf(file: string): string | undefined {
    const home = this.homeOf(file)
    const at = file.indexOf(MODULES)
    if (at < 0 || file.lastIndexOf(MODULES) === at)
      return home && `${home.name}/${pathFrom(home.directory, file)}`
    const path = withSlashes(file.slice(at + MODULES.length))
    return path.replace(/(?:^|\/)\.[^/]+\/([^/]+)\/node_modules\//g, '-/$1/')
  }

  // Whatever the modules and the fields of a package say, only its own files are published, and packages that are
  // installed where it would look for them, but no file whose name begins with a dot. `file` is a real path.
  async requireReach(specifier: string, importer: string, file: string): Promise<void> {
    const directory = await this.#reach(specifier, importer, file)
    if (directory !== undefined && !isHidden(directory, file)) return
    const [from, shown] = [importer, file].map(path => pathFrom(this.#root, path))
    const why =
      directory === undefined
        ? 'outside of its package: a package may use its own files and other packages'
        : 'and a file whose name begins with a dot is not published'
    throw unusable(`${from} imports '${specifier}', which is ${shown}, ${why}`)
  }

  /** Returns the directory of the package, the importer's own or another, whose file it may use. */
  async #reach(specifier: string, importer: string, file: string): Promise<string | undefined> {
    const home = this.homeOf(importer)
    // A linked project may have a `node_modules` of its own, with a store such as `.pnpm` in it.
    if (home && isInside(home.directory, file))
      return this.homeOf(file)?.directory ?? home.directory
    const isPath = /^\.{0,2}\//.test(specifier)
    if (isPath && !(home && isInside(home.directory, resolve(dirname(importer), specifier))))
      return undefined
    const [named] = splitSpecifier(specifier)
    for (const name of [this.homeOf(file)?.name ?? named, named]) {
      const directory = isPackage(name) && (await this.#installedFor(name, importer, file))
      if (directory) return directory
    }
    return undefined
  }

  /** Returns the directory of a package if it has the file, and is where an importer, or the project, looks for it. */
  async #installedFor(name: string, importer: string, file: string): Promise<string | undefined> {
    const folders = [dirname(importer), this.#root].flatMap(nodeModulesFrom)
    for (const path of new Set(folders.map(folder => join(folder, name)))) {
      const directory = await (this.#real[path] ??= realpathOf(path))
      if (directory === undefined || !isInside(directory, file)) continue
      if (!this.homeOf(directory + sep)) this.#linked.set(directory, name)
      return directory
    }
    return undefined
  }

  async notExported(specifier: string, importer: string, from: string): Promise<AssetError> {
    const [name, subpath] = splitSpecifier(specifier)
    const { directory } = await this.installed(name, importer, from)
    const { exports, version } = await jsonOf(join(directory, 'package.json'))
    const keys = isRecord(exports) ? Object.keys(exports).filter(key => key[0] === '.') : []
    const near = subpath === '.' ? undefined : nearest(subpath, keys)
    const what = subpath === '.' ? 'no module' : `no export '${subpath}'`
    const files = `name files of it, packages: { '${name}': […] }, or bundle it (docs/bundlers.md)`
    const way = near === undefined ? files : `did you mean '${near}'?`
    const label = `${name} ${String(version)}`
    return unusable(`${label} has ${what} for browsers, though ${importer} names it: ${way}`)
  }
}

async function jsonOf(file: string): Promise<Readonly<Record<string, unknown>>> {
  const read = await readSnapshot(file)
  try {
    return JSON.parse(read?.bytes.toString() ?? '{}') as Record<string, unknown>
  } catch (error) {
    throw unusable(`${file} cannot be read: ${reasonOf(error)}; install the package again`, error)
  }
}

async function nearestInstalled(name: string, folders: readonly string[]) {
  const scope = /^@[^/]+\//.exec(name)?.[0] ?? ''
  const read = folders.map(folder => undefinedIfMissing(readdir(join(folder, scope))))
  const installed = (await Promise.all(read)).flatMap(names => names ?? [])
  const names = installed.map(each => scope + each)
  return nearest(name, names)
}

const RESTART = 'restart the server: rolldown was not installed when it started'
const ROLLDOWN = 'run npm install --save-dev rolldown, and restart the server if it runs'

/** Returns undefined for anything but a package: `@/lib/dial.js`, `#dial` and, unless it is installed, `fs`. */
export async function adviceOn(app: AppSettings, specifier: string, root: string) {
  if (!isPackage(specifier) || !/^[@\w]/.test(specifier)) return undefined
  const [name, subpath] = splitSpecifier(specifier)
  const install = `run npm install ${name}`
  const build = !(await hasRolldown(root)) ? ROLLDOWN : startedWithout.has(app) ? RESTART : install
  const publish = findsPackages(app) ? build : `set packages: ['${specifier}']`
  const folders = [app.dir, root].flatMap(nodeModulesFrom)
  if (await firstFile(folders.map(each => join(each, name, 'package.json')))) return publish
  // `lib/dial.js` is more likely a path.
  if (isBuiltin(name) || /\/.*\.m?js$/.test(subpath)) return undefined
  const near = nearest(specifier, specifiersIn(app)) ?? (await nearestInstalled(name, folders))
  const hint = near === undefined ? '' : `did you mean '${near}'? If not, `
  return `${hint}${[...new Set([install, publish])].join(' and ')}`
}
