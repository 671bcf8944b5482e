// Lists the files of packages that stylesheets refer to, from when they are rendered: nothing is compiled to find them.
import { dirname, resolve } from 'node:path'
import { oneAtATime } from '../../../runtime/concurrency.ts'
import { realpathOf } from '../../../runtime/files/disk.ts'
import { isInside, pathFrom } from '../../../runtime/files/paths.ts'
import type { Project, SourceFile, SourceList } from '../../../runtime/app/extra.ts'
import { sheetOf } from '../../../publishing/compilers/leads.ts'
import { hasSameInputs, observeAll } from '../../../publishing/sources/observation.ts'
import { Packages, unusable, type Package } from '../packages.ts'
import { FOLDER } from '../resolving.ts'
import { fileIn } from './files.ts'

export class AskedFiles implements SourceList {
  readonly place = 'node_modules'
  version = 0
  files: readonly SourceFile[] = []
  readonly #root: string
  #packages: Packages
  #seen: Awaited<ReturnType<typeof seen>>[] = []

  constructor({ root }: Project) {
    this.#root = root
    this.#packages = new Packages(root)
  }

  owns(name: string): boolean {
    return name.startsWith(FOLDER)
  }

  /** After a change all are forgotten: every stylesheet is rendered again, and asks again. */
  readonly verify = oneAtATime(async () => {
    const same = await Promise.all(this.#seen.map(hasSameInputs))
    if (same.every(Boolean)) return
    this.#packages = new Packages(this.#root)
    this.#seen = []
    this.files = []
    this.version++
  })

  async nameAt(path: string) {
    const real = this.files.length > 0 ? await realpathOf(path) : undefined
    return this.files.find(({ file }) => file === real)?.name
  }

  async fileFor(path: string, from: SourceFile, compiled: readonly string[]) {
    const { looked } = this.#packages
    const before = new Set(looked)
    const found = await this.#find(path, from, compiled)
    const added = [...looked].filter(each => !before.has(each))
    if (added.length > 0) this.#seen.push(await seen(added))
    const known = this.files.find(({ name }) => name === found?.name)
    if (found && known && known.file !== found.file) {
      const files = [known, found].map(({ file }) => pathFrom(this.#root, file)).join(' and ')
      throw unusable(`${files} would both be ${found.name}: install one version of the package`)
    }
    if (found && !known) this.files = [...this.files, found]
    return found?.name
  }

  /** Finds a file beside what was compiled into a stylesheet, or one of a package that it may use. */
  async #find(path: string, from: SourceFile, compiled: readonly string[]) {
    const { directory, packageName: name } = from
    for (const file of [from.file, ...compiled]) {
      const target = resolve(dirname(file), path)
      const isOwn = name !== undefined && isInside(directory, target)
      const home = isOwn ? { name, directory } : this.#packages.homeOf(target)
      const found = home && (await this.#fileIn(home, target, from, isInside(home.directory, file)))
      if (found) return found
    }
    const folders = [dirname(from.file), this.#root]
    const found = await sheetOf(path, 'css', folders, this.#packages.looked)
    return found?.file === undefined ? undefined : this.#fileIn(found, found.file, from)
  }

  async #fileIn({ name, directory }: Package, file: string, from: SourceFile, isBeside = false) {
    const isOwn = isBeside || from.packageName !== undefined
    if (!isOwn && !(await this.#packages.isDependency(name, from.file))) return undefined
    const real = await realpathOf(directory)
    return real === undefined
      ? undefined
      : fileIn({ name, directory: real }, pathFrom(directory, file))
  }
}

const seen = async (paths: Iterable<string>) => ({ inputs: await observeAll(paths) })
