// Lists the files of packages that are published unchanged: those that the option names by their paths, and those to
// which texts refer, once these are rendered, so nothing is compiled to find them.
import { dirname, join, resolve } from 'node:path'
import { entriesGiven } from '../../../runtime/check-options.ts'
import { oneAtATime } from '../../../runtime/concurrency.ts'
import type { AssetError } from '../../../runtime/errors.ts'
import { realpathOf, statOf } from '../../../runtime/files/disk.ts'
import { isInside, pathFrom } from '../../../runtime/files/paths.ts'
import type { SourceFile, SourceList } from '../../../runtime/app/extra.ts'
import type { AppSettings } from '../../../runtime/settings/settings.ts'
import { isCanonicalBelow } from '../../../runtime/urls/spelling.ts'
import { sheetOf } from '../../../publishing/compilers/leads.ts'
import { textType } from '../../../publishing/rendering/draft.ts'
import { hasSameInputs, observeAll } from '../../../publishing/sources/observation.ts'
import { allOf, isHidden, OPTION, Packages, unusable, type Package } from '../packages.ts'
import { FOLDER } from '../resolving.ts'

/** @throws AssetError for missing files */
export async function namedFiles(
  { packages: given, dir }: Pick<AppSettings, 'packages' | 'dir'>,
  packages: Packages
) {
  const found = new Array<SourceFile>()
  const problems = new Array<AssetError>()
  const records = given.filter(each => typeof each === 'object')
  for (const [name, paths] of records.flatMap(entriesGiven)) {
    const from = await packages.placeOf(name, join(dir, 'index.js'))
    const of = await packages.installed(name, OPTION, from)
    for (const path of [paths].flat()) {
      const file = await fileAt(of, path)
      packages.looked.add(join(of.directory, path))
      const advice = `look for it in ${of.directory}`
      if (file) found.push({ ...file, asItIs: 'named' })
      else problems.push(unusable(`${name} has no file ${path}, which ${OPTION} names: ${advice}`))
    }
  }
  if (problems.length > 0) throw allOf(problems)
  return found
}

async function fileAt({ name, directory }: Package, path: string): Promise<SourceFile | undefined> {
  const file = isCanonicalBelow(path) ? await realpathOf(join(directory, path)) : undefined
  if (file === undefined || !isInside(directory, file)) return undefined
  if (isHidden(directory, file) || !(await statOf(file))?.isFile()) return undefined
  return { name: `${FOLDER}${name}/${path}`, file, directory, packageName: name }
}

export class AskedFiles implements SourceList {
  readonly place = 'node_modules'
  readonly prefix = FOLDER
  version = 0
  asked = { files: new Array<SourceFile>(), seen: new Array<Parameters<typeof hasSameInputs>[0]>() }
  readonly #root: string
  readonly #app: AppSettings
  #packages: Packages

  constructor(root: string, app: AppSettings) {
    this.#root = root
    this.#app = app
    this.#packages = new Packages(root)
  }

  get files() {
    return this.asked.files
  }

  /** Forgets all files after a change: every text is rendered again, and adds them again. */
  readonly verify = oneAtATime(async () => {
    const same = await Promise.all(this.asked.seen.map(each => hasSameInputs(each)))
    if (same.every(Boolean)) return
    this.#packages = new Packages(this.#root)
    this.asked = { files: [], seen: [] }
    this.version++
  })

  async addFile(path: string, from: SourceFile, compiled: readonly string[]) {
    const { looked } = this.#packages
    const before = new Set(looked)
    try {
      const found = await this.#find(path, from, compiled)
      const isKnown = this.files.some(({ name }) => name === found?.name)
      if (found && !isKnown) this.asked.files = [...this.files, { ...found, asItIs: 'asked' }]
      return found?.name
    } finally {
      const added = [...looked].filter(each => !before.has(each))
      if (added.length > 0) this.asked.seen.push({ inputs: await observeAll(added) })
    }
  }

  /** Finds a file beside those compiled into a text, or one of a package that it may use. */
  async #find(path: string, from: SourceFile, compiled: readonly string[]) {
    const { directory, packageName: name } = from
    for (const file of [from.file, ...compiled]) {
      const target = resolve(dirname(file), path)
      const isOwn = name !== undefined && isInside(directory, target)
      const home = isOwn ? undefined : this.#packages.homeOf(target)
      const found = isOwn
        ? await fileAt({ name, directory }, pathFrom(directory, target))
        : home && (await this.#usable(home, target, from, isInside(home.directory, file)))
      if (found) return found
    }
    const folders = [dirname(from.file), this.#root]
    const kind = textType(from.name) === 'css' ? 'css' : 'module'
    const found = await sheetOf(path, kind, folders, this.#packages.looked)
    return found?.file === undefined ? undefined : this.#usable(found, found.file, from)
  }

  async #usable({ name, directory }: Package, file: string, from: SourceFile, isBeside = false) {
    const isOwn = isBeside || from.packageName !== undefined
    const mayUse = isOwn || (await this.#packages.isDependency(name, from.file, this.#app))
    const real = mayUse ? await realpathOf(directory) : undefined
    if (real === undefined) return undefined
    // Whichever is requested first, the version that the app itself would get has the plain name.
    const place = await this.#packages.placeOf(name, join(this.#app.dir, 'index.css'))
    const isPlain = (await realpathOf(join(place, 'node_modules', name))) === real
    const folder = pathFrom(this.#root, real).replace(/^node_modules\//, '')
    const shown = isPlain ? name : `-/${folder.replaceAll(/(?<![^/])\.+/g, '-')}`
    return fileAt({ name: shown, directory: real }, pathFrom(directory, file))
  }
}
