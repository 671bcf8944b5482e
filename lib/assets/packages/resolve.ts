// Finds packages and what a specifier means in them, as Node and bundlers do, for a browser.
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { exports, imports } from 'resolve.exports'
import { AssetError, reasonOf } from '../../errors.ts'
import { ifThere, realpathOf, statOf } from '../../files/disk.ts'
import { nearest } from '../../nearest.ts'
import { isRecord } from '../../options.ts'
import { nodeModulesFrom } from '../compilers/compiler.ts'

export interface Package {
  /** As in its package.json. */
  readonly name: string
  readonly version: string
  /** Real path. */
  readonly directory: string
  readonly json: Json
}

interface Json {
  readonly name?: unknown
  readonly version?: unknown
  readonly exports?: unknown
  readonly imports?: unknown
  readonly browser?: unknown
  readonly module?: unknown
  readonly main?: unknown
}

/** What messages call a package: `bootstrap 5.3.8`. */
export function labelOf({ name, version }: Package): string {
  return `${name} ${version}`
}

export function unusable(message: string, cause?: unknown): AssetError {
  return new AssetError('package-unusable', message, { cause })
}

/** The remedy for everything that a browser cannot load. */
export const BUNDLE = 'bundle it (docs/bundlers.md)'

/** `@a/b/c.js` -> `['@a/b', './c.js']` */
export function splitSpecifier(specifier: string): [name: string, subpath: string] {
  const [name = specifier] = /^(?:@[^/]+\/)?[^/]+/.exec(specifier) ?? []
  return [name, `.${specifier.slice(name.length)}`]
}

export class Resolver {
  /** Every `package.json` that was read or looked for. */
  readonly looked = new Set<string>()
  readonly #conditions: readonly string[]
  readonly #read = new Map<string, Promise<Package | undefined>>()

  /** @param condition `development` or `production` */
  constructor(condition: string) {
    this.#conditions = ['browser', 'import', condition]
  }

  /** @param from a directory: that of the project or of a package */
  async find(name: string, from: string): Promise<Package | undefined> {
    for (const folder of nodeModulesFrom(from)) {
      const directory = join(folder, name)
      const reading = this.#read.get(directory) ?? this.#readPackage(directory)
      this.#read.set(directory, reading)
      const found = await reading
      if (found) return found
    }
    return undefined
  }

  /** The name of an installed package that one which is not installed most likely stands for. */
  async nearest(name: string, from: string): Promise<string | undefined> {
    const scope = /^@[^/]+\//.exec(name)?.[0] ?? ''
    const lists = nodeModulesFrom(from).map(folder => ifThere(readdir(join(folder, scope))))
    const names = (await Promise.all(lists)).flatMap(list => list ?? [])
    const installed = names.map(each => scope + each)
    return nearest(name, installed)
  }

  /**
   * Absolute path of the file that a subpath (`.`, `./hooks`) means.
   * @param importer for messages
   * @throws AssetError for a subpath that the package does not offer to a browser
   */
  async entry(found: Package, subpath: string, importer: string): Promise<string> {
    const { json, directory } = found
    const paths =
      json.exports === undefined ? byFields(json, subpath) : this.#byExports(json, subpath)
    const file = await firstFile(paths.map(path => join(directory, path)))
    if (file !== undefined) return file
    const known = isRecord(json.exports)
      ? Object.keys(json.exports).filter(key => key[0] === '.')
      : []
    const near = subpath === '.' ? undefined : nearest(subpath, known)
    const what = subpath === '.' ? 'no module for browsers' : `no export '${subpath}' for browsers`
    const rest =
      near === undefined
        ? `name files of it, packages: { '${found.name}': […] }, or ${BUNDLE}`
        : `did you mean '${near}'?`
    throw unusable(`${labelOf(found)} has ${what}, though ${importer} names it: ${rest}`)
  }

  /** What a specifier that begins with `#` means in a package; undefined for one that is not defined. */
  privateImport({ json }: Package, specifier: string): string | undefined {
    return attempt(() => imports(json, specifier, this.#options))?.[0]
  }

  #byExports(json: Json, subpath: string): readonly string[] {
    return attempt(() => exports(json, subpath, this.#options)) ?? []
  }

  get #options() {
    return { unsafe: true, conditions: this.#conditions }
  }

  async #readPackage(path: string): Promise<Package | undefined> {
    const file = join(path, 'package.json')
    this.looked.add(file)
    const [text, directory] = await Promise.all([ifThere(readFile(file, 'utf8')), realpathOf(path)])
    if (text === undefined || directory === undefined) return undefined
    const json = parse(text, file)
    const { name, version } = json
    return { name: String(name), version: String(version), directory, json }
  }
}

function parse(text: string, file: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    throw unusable(`${file} cannot be read: ${reasonOf(error)}; install the package again`, error)
  }
}

/** The library throws for what is not defined. */
function attempt(resolve: () => readonly string[] | void): readonly string[] | undefined {
  try {
    return resolve() ?? undefined
  } catch (error) {
    if (/^(?:Missing|No known conditions)/.test(reasonOf(error))) return undefined
    throw error
  }
}

/** By the fields that bundlers read where there are no `exports`. */
function byFields(json: Json, subpath: string): readonly string[] {
  const { browser, module, main } = json
  const given = subpath === '.' ? [module, browser, main, 'index.js'] : [subpath]
  const paths = given.filter(path => typeof path === 'string')
  return paths.flatMap(path => {
    const inBrowser = forBrowser(json, path)
    return [inBrowser, `${inBrowser}.js`, join(inBrowser, 'index.js')]
  })
}

/** What the field `browser` puts in place of a file. @param path in the package */
function forBrowser({ browser }: Pick<Json, 'browser'>, path: string): string {
  if (!isRecord(browser)) return path
  const other = browser[`./${join(path)}`] ?? browser[path]
  return typeof other === 'string' ? other : path
}

async function firstFile(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) if ((await statOf(path))?.isFile()) return path
  return undefined
}

/** `dist/esm/index.js`, with slashes on every system. */
export function pathIn({ directory }: Package, file: string): string {
  return relative(directory, file).replaceAll('\\', '/')
}
