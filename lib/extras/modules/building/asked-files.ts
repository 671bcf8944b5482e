// Lists the files of packages that stylesheets refer to, from when they are rendered: nothing is compiled to find them.
import { dirname, join, resolve } from 'node:path'
import { oneAtATime } from '../../../runtime/concurrency.ts'
import { realpathOf } from '../../../runtime/files/disk.ts'
import { isInside, pathFrom } from '../../../runtime/files/paths.ts'
import type { SourceFile, SourceList } from '../../../runtime/app/extra.ts'
import type { AppSettings } from '../../../runtime/settings/settings.ts'
import { sheetOf } from '../../../publishing/compilers/leads.ts'
import { hasSameInputs, observeAll } from '../../../publishing/sources/observation.ts'
import { Packages, type Package } from '../packages.ts'
import { FOLDER } from '../resolving.ts'
import { fileIn } from './files.ts'

export class AskedFiles implements SourceList {
  readonly place = 'node_modules'
  readonly prefix = FOLDER
  version = 0
  asked = { files: new Array<SourceFile>(), seen: new Array<Parameters<typeof hasSameInputs>[0]>() }
  readonly #root: string
  readonly #from: string
  #packages: Packages

  constructor(root: string, { dir }: AppSettings) {
    this.#root = root
    this.#from = join(dir, 'index.css')
    this.#packages = new Packages(root)
  }

  get files() {
    return this.asked.files
  }

  /** After a change all are forgotten: every stylesheet is rendered again, and asks again. */
  readonly verify = oneAtATime(async () => {
    const same = await Promise.all(this.asked.seen.map(hasSameInputs))
    if (same.every(Boolean)) return
    this.#packages = new Packages(this.#root)
    this.asked = { files: [], seen: [] }
    this.version++
  })

  async nameAt(path: string) {
    const real = this.files.length > 0 ? await realpathOf(path) : undefined
    return this.files.find(({ file }) => file === real)?.name
  }

  async fileFor(path: string, from: SourceFile, compiled: readonly string[]) {
    const { looked } = this.#packages
    const before = new Set(looked)
    try {
      const found = await this.#find(path, from, compiled)
      const isKnown = this.files.some(({ name }) => name === found?.name)
      if (found && !isKnown) this.asked.files = [...this.files, { ...found, isAsked: true }]
      return found?.name
    } finally {
      const added = [...looked].filter(each => !before.has(each))
      if (added.length > 0) this.asked.seen.push({ inputs: await observeAll(added) })
    }
  }

  /** Finds a file beside what was compiled into a stylesheet, or one of a package that it may use. */
  async #find(path: string, from: SourceFile, compiled: readonly string[]) {
    const { directory, packageName: name } = from
    for (const file of [from.file, ...compiled]) {
      const target = resolve(dirname(file), path)
      const isOwn = name !== undefined && isInside(directory, target)
      const home = isOwn ? undefined : this.#packages.homeOf(target)
      const found = isOwn
        ? await fileIn({ name, directory }, pathFrom(directory, target))
        : home && (await this.#fileIn(home, target, from, isInside(home.directory, file)))
      if (found) return found
    }
    const folders = [dirname(from.file), this.#root]
    const found = await sheetOf(path, 'css', folders, this.#packages.looked)
    return found?.file === undefined ? undefined : this.#fileIn(found, found.file, from)
  }

  async #fileIn({ name, directory }: Package, file: string, from: SourceFile, isBeside = false) {
    const isOwn = isBeside || from.packageName !== undefined
    const mayUse = isOwn || (await this.#packages.isDependency(name, from.file))
    const real = mayUse ? await realpathOf(directory) : undefined
    if (real === undefined) return undefined
    // Whatever is asked for first, the version that the app itself would get has the plain name.
    const place = await this.#packages.placeOf(name, this.#from)
    const isPlain = (await realpathOf(join(place, 'node_modules', name))) === real
    const folder = pathFrom(this.#root, real).replace(/^node_modules\//, '')
    const shown = isPlain ? name : `-/${folder.replaceAll(/(?<![^/])\.+/g, '-')}`
    return fileIn({ name: shown, directory: real }, pathFrom(directory, file))
  }
}
