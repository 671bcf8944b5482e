// The files of packages that are published, and the names that specifiers mean.
import { join } from 'node:path'
import { isInside, statOf } from '../../files/disk.ts'
import { isCanonicalBelow } from '../urls/canonical-path.ts'
import {
  BUNDLE,
  labelOf,
  pathIn,
  splitSpecifier,
  unusable,
  type Package,
  type Resolver
} from './resolve.ts'

/** A file of a package that is published. */
export interface PackageFile {
  /** `npm/preact/dist/preact.mjs` */
  readonly name: string
  /** Absolute, without links. */
  readonly file: string
  readonly of: PublishedPackage
}

interface PublishedPackage {
  readonly found: Package
  /** The part of names that stands for it: `npm/preact`. */
  readonly folder: string
}

interface Published extends PackageFile {
  /** What imports it as a module, for messages; undefined: nothing does. */
  importer: string | undefined
}

export class PublishedFiles {
  /** By name, in the order in which they were added. */
  readonly all = new Map<string, Published>()
  readonly #resolver: Resolver
  readonly #root: string
  /** By name and version, so that a package that is installed twice in one version is published once. */
  readonly #packages = new Map<string, PublishedPackage>()

  constructor(resolver: Resolver, root: string) {
    this.#resolver = resolver
    this.#root = root
  }

  /**
   * The name of the module that a bare specifier means.
   * @param from a directory: that of the project or of a package
   * @param importer for messages
   * @throws AssetError for what is not installed, or not for browsers
   */
  async module(specifier: string, from: string, importer: string): Promise<string> {
    const [name, subpath] = splitSpecifier(specifier)
    return this.#entry(await this.#find(name, from, importer), subpath, importer)
  }

  /** The same for one in a module of a package. */
  async moduleFor({ of }: PackageFile, specifier: string, importer: string): Promise<string> {
    const { found } = of
    if (specifier.startsWith('#')) {
      const meant = this.#resolver.privateImport(found, specifier)
      if (meant && !meant.startsWith('./')) return this.module(meant, found.directory, importer)
      const added = meant && (await this.add(of, meant, importer))
      if (added) return added
      throw unusable(`${importer} imports '${specifier}', which is not for browsers: ${BUNDLE}`)
    }
    if (specifier.startsWith('node:'))
      throw unusable(`${importer} imports ${specifier}, which browsers do not have: ${BUNDLE}`)
    const [name, subpath] = splitSpecifier(specifier)
    const isOwn = name === found.name && found.json.exports !== undefined
    return isOwn
      ? this.#entry(of, subpath, importer)
      : this.module(specifier, found.directory, importer)
  }

  /** Adds files that the options name. */
  async addFiles(name: string, paths: readonly string[], importer: string): Promise<void> {
    const published = await this.#find(name, this.#root, importer)
    const { found } = published
    for (const path of paths) {
      if (await this.add(published, path)) continue
      throw unusable(
        `${labelOf(found)} has no file ${path}, which ${importer} names: look for it in ${found.directory}`
      )
    }
  }

  /** Its name; undefined for what is not a file of the package. @param path in the package */
  async add(of: PublishedPackage, path: string, importer?: string): Promise<string | undefined> {
    const { directory } = of.found
    const file = join(directory, path)
    const canonical = pathIn(of.found, file)
    const name = `${of.folder}/${canonical}`
    const known = this.all.get(name)
    if (known) known.importer ??= importer
    if (known) return name
    if (!isInside(directory, file) || !isCanonicalBelow(canonical)) return undefined
    if (!(await statOf(file))?.isFile()) return undefined
    this.all.set(name, { name, file, of, importer })
    return name
  }

  async #entry(of: PublishedPackage, subpath: string, importer: string): Promise<string> {
    const file = await this.#resolver.entry(of.found, subpath, importer)
    const path = pathIn(of.found, file)
    const name = await this.add(of, path, importer)
    if (name !== undefined) return name
    throw unusable(`${labelOf(of.found)} exports ${path}, which is not in the package: ${BUNDLE}`)
  }

  async #find(name: string, from: string, importer: string): Promise<PublishedPackage> {
    const found = await this.#resolver.find(name, from)
    if (!found) {
      const isOurs = from === this.#root
      const near = isOurs ? await this.#resolver.nearest(name, from) : undefined
      // First, since a mistyped name may belong to somebody else's package.
      const hint = near === undefined ? 'run' : `did you mean '${near}', which is? If not, run`
      const way = isOurs ? '' : ', or bundle what imports it'
      throw unusable(
        `${importer} names the package ${name}, which is not installed: ${hint} npm install ${name}${way}`
      )
    }
    const known = this.#packages.get(labelOf(found))
    if (known) return known
    const isTaken = [...this.#packages.values()].some(({ folder }) => folder === `npm/${name}`)
    const folder = `npm/${isTaken ? `${found.name}@${found.version}` : name}`
    this.#packages.set(labelOf(found), { found, folder })
    return { found, folder }
  }
}
