// Finds packages and what a specifier means in them for a browser, as Node and bundlers do.
import { readdir } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { exports, imports } from 'resolve.exports'
import { AssetError, reasonOf } from '../../errors.ts'
import { undefinedIfMissing, realpathOf, statOf } from '../../files/disk.ts'
import { readSnapshot } from '../../files/open-file.ts'
import { nearest } from '../../nearest.ts'
import { isRecord, isText } from '../../check-options.ts'
import { nodeModulesFrom } from '../../assets/compilers/compiler.ts'
import { isCanonicalBelow } from '../../assets/urls/canonical-path.ts'
import { moduleIn } from './alternative.ts'
import { pathFrom } from '../../files/paths.ts'

export interface Package {
  /** The name in its package.json. */
  readonly name: string
  /** Messages call it by this label: `bootstrap 5.3.8`. */
  readonly label: string
  /** The real path. */
  readonly directory: string
  /** The package's part of names: `npm/bootstrap`. */
  readonly folder: string
  readonly json: Json
}

type Json = Readonly<Record<string, unknown>>

/** The remedy for everything that a browser cannot load. */
export const BUNDLE = 'bundle it (docs/bundlers.md)'

/** Returns the remedy for a package, with a file of it that a browser could use. */
export async function wayOut(of: Package): Promise<string> {
  const path = await moduleIn(of)
  if (path === undefined) return BUNDLE
  const [name, asset] = [of.name, `${of.folder}/${path}`]
  return `use its ${path}, packages: { '${name}': ['${path}'] } with imports: { '${name}': '${asset}' }, or ${BUNDLE}`
}

export function unusable(message: string, cause?: unknown): AssetError {
  return new AssetError('package-unusable', message, { cause })
}

const MAX_TOLD = 20
const ADAPTED =
  '. Precompile takes packages that are not for browsers only where it joins modules (docs/npm-assets.md)'

/** One error for several, each once. */
export function allOf(errors: readonly AssetError[], isAsItIs: boolean): AssetError {
  const other = isAsItIs ? ADAPTED : ''
  const messages = [...new Set(errors.map(({ message }) => message))]
  const [first = ''] = messages
  if (messages.length === 1) return unusable(first + other, errors[0]?.cause)
  const told = messages.slice(0, MAX_TOLD).map(message => `\n- ${message}`)
  const rest =
    messages.length > told.length ? `\n- … and ${messages.length - told.length} more` : ''
  return unusable(
    `packages have ${messages.length} errors:${told.join('')}${rest}${other && `\n${other.slice(2)}`}`
  )
}

/** `@a/b/c.js` -> `['@a/b', './c.js']` */
export function splitSpecifier(specifier: string): [name: string, subpath: string] {
  const [name = specifier] = /^(?:@[^/]+\/)?[^/]+/.exec(specifier) ?? []
  return [name, `.${specifier.slice(name.length)}`]
}

/** `dist/esm/index.js`, with slashes on every system. */
export function pathIn({ directory }: Package, file: string): string {
  return pathFrom(directory, file)
}

export class Resolver {
  /** Every `package.json` that was read or looked for. */
  readonly looked = new Set<string>()
  readonly #root: string
  readonly #options: { readonly unsafe: true; readonly conditions: readonly string[] }
  readonly #read = new Map<string, Promise<Installed | undefined>>()
  /** Packages are found by directory: the name in a package.json may be another's. */
  readonly #found = new Map<string, Package>()

  /** @param condition `development` or `production` */
  constructor(root: string, condition: string) {
    this.#root = root
    this.#options = { unsafe: true, conditions: ['browser', 'import', condition] }
  }

  /**
   * Finds the file that a bare specifier means.
   * @param from is the package that imports it; undefined: the project does
   * @param importer is named in messages
   * @throws AssetError for what is not installed, or not for browsers
   */
  async resolve(
    specifier: string,
    from: Package | undefined,
    importer: string
  ): Promise<{ readonly of: Package; readonly path: string }> {
    if (specifier.startsWith('node:'))
      throw unusable(`${importer} imports ${specifier}, which browsers do not have: ${BUNDLE}`)
    if (from && specifier.startsWith('#')) {
      const [meant] = defined(from, () => imports(from.json, specifier, this.#options))
      // Node does not look for what begins so among the imports a second time either.
      if (meant === undefined || meant.startsWith('#'))
        throw unusable(`${importer} imports '${specifier}', which is not for browsers: ${BUNDLE}`)
      if (meant.startsWith('./')) return { of: from, path: meant }
      return this.resolve(meant, from, importer)
    }
    const [name, subpath] = splitSpecifier(specifier)
    const isOwn = name === from?.name && from.json['exports'] !== undefined
    const of = isOwn ? from : await this.find(name, from, importer)
    return { of, path: await this.#entry(of, subpath, importer) }
  }

  /** @throws AssetError for a package that is not installed */
  async find(name: string, from: Package | undefined, importer: string): Promise<Package> {
    const folders = isCanonicalBelow(name) ? nodeModulesFrom(from?.directory ?? this.#root) : []
    for (const folder of folders) {
      const directory = join(folder, name)
      const reading = this.#read.get(directory) ?? this.#readPackage(directory)
      this.#read.set(directory, reading)
      const read = await reading
      if (!read) continue
      const found = this.#found.get(read.directory) ?? this.#copyOf(read) ?? this.#added(read, name)
      this.#found.set(read.directory, found)
      return found
    }
    const near = from ? undefined : await nearestInstalled(name, folders)
    // The hint comes first, since a mistyped name may belong to somebody else's package.
    const hint = near === undefined ? 'run' : `did you mean '${near}', which is? If not, run`
    const way = from ? ', or bundle what imports it' : ''
    throw unusable(
      `${importer} names the package ${name}, which is not installed: ${hint} npm install ${name}${way}`
    )
  }

  /** A package that is installed twice in one version is published once. */
  #copyOf(read: Installed): Package | undefined {
    if (!isInOwnFolder(read)) return undefined
    return [...this.#found.values()].find(
      other => other.label === read.label && isInOwnFolder(other)
    )
  }

  #added(read: Installed, name: string): Package {
    const taken = new Set([...this.#found.values()].map(({ folder }) => folder))
    const version = /^[\w.+-]+$/.exec(String(read.json['version']))?.[0]
    let folder = `npm/${name}`
    if (taken.has(folder) && version !== undefined) folder += `@${version}`
    for (let copy = 2; taken.has(folder); copy++) folder = `npm/${name}@${version ?? ''}+${copy}`
    return { ...read, folder }
  }

  /** Returns the path of the file that a subpath (`.`, `./hooks`) means. */
  async #entry(of: Package, subpath: string, importer: string): Promise<string> {
    const { json, directory } = of
    const hasExports = json['exports'] !== undefined
    const paths = hasExports
      ? defined(of, () => exports(json, subpath, this.#options))
      : byFields(json, subpath)
    for (const path of paths.filter(isText)) {
      if ((await statOf(join(directory, path)))?.isFile()) return path
    }
    const isWhole = subpath === '.'
    const offered = isRecord(json['exports']) ? Object.keys(json['exports']) : []
    const near = isWhole
      ? undefined
      : nearest(
          subpath,
          offered.filter(key => key[0] === '.')
        )
    const what = isWhole ? 'no module for browsers' : `no export '${subpath}' for browsers`
    const files = `name files of it, packages: { '${of.name}': […] }, or ${BUNDLE}`
    const module = isWhole && (await wayOut(of))
    const others = module && module !== BUNDLE ? module : files
    const way = near === undefined ? others : `did you mean '${near}'?`
    throw unusable(`${of.label} has ${what}, though ${importer} names it: ${way}`)
  }

  async #readPackage(path: string): Promise<Installed | undefined> {
    const file = join(path, 'package.json')
    this.looked.add(file)
    const [read, directory] = await Promise.all([readSnapshot(file), realpathOf(path)])
    if (read === undefined || directory === undefined) return undefined
    try {
      const json = JSON.parse(read.bytes.toString()) as Json
      const name = String(json['name'])
      return { name, label: `${name} ${String(json['version'])}`, directory, json }
    } catch (error) {
      throw unusable(`${file} cannot be read: ${reasonOf(error)}; install the package again`, error)
    }
  }
}

type Installed = Omit<Package, 'folder'>

/** Returns true if it was installed under the name that it gives itself. */
function isInOwnFolder({ directory, name }: Installed): boolean {
  return `${sep}${directory}`.endsWith(join(sep, 'node_modules', name))
}

/** Finds the installed package that the name of one which is not installed most likely stands for. */
export async function nearestInstalled(name: string, folders: readonly string[]) {
  const scope = /^@[^/]+\//.exec(name)?.[0] ?? ''
  const lists = await Promise.all(
    folders.map(folder => undefinedIfMissing(readdir(join(folder, scope))))
  )
  return nearest(
    name,
    lists.flatMap(list => list ?? []).map(each => scope + each)
  )
}

/** The library throws for a subpath that is not defined, and for one that it cannot follow. */
function defined({ label }: Package, resolve: () => readonly string[] | void): readonly string[] {
  try {
    return resolve() ?? []
  } catch (error) {
    if (/^(?:Missing|No known conditions)/.test(reasonOf(error))) return []
    throw unusable(
      `the package.json of ${label} cannot be followed: ${reasonOf(error)}; ${BUNDLE}`,
      error
    )
  }
}

/** Uses the fields that bundlers read where there are no `exports`; `browser` may put a file in place of another. */
function byFields({ browser, module, main }: Json, subpath: string): readonly string[] {
  const given = subpath === '.' ? [module, browser, main, 'index.js'] : [subpath]
  const others = isRecord(browser) ? browser : {}
  const paths = given
    .filter(path => typeof path === 'string')
    .map(path => {
      const other = others[`./${join(path)}`] ?? others[path]
      return typeof other === 'string' ? other : path
    })
  return paths.flatMap(path => [path, `${path}.js`, join(path, 'index.js')])
}
