// Chooses between the sources that an app has for a name or a tail.
import { join, posix } from 'node:path'
import { composed, folded, pathFrom } from '../../files/paths.ts'
import { withDot, type Compiler } from '../compilers/compiler.ts'
import { assetPath, type SourceDirectory } from '../settings/app-settings.ts'
import { meetsNames, tailsOf } from '../urls/canonical-path.ts'
import { AssetError, printable } from '../../errors.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'

/** A file that somebody wrote, and the name under which it is published. */
export interface Source {
  /** The absolute path. */
  readonly file: string
  /** The absolute path of the source directory that contains it. */
  readonly directory: string
  /** The position of that directory in the search order; 0 is the app's own. */
  readonly from: number
  /** The path in that directory: `stylesheets/admin/menu.css.scss` */
  readonly path: string
  /** The path after compilation, below the folder `at` of its directory: `stylesheets/admin/menu.css`. */
  readonly tail: string
  /** The tail without its first folder, `admin/menu.css`; with `at` the tail. */
  readonly name: string
  /** The compiler of the source; undefined for a file that is copied. */
  readonly compiler: Compiler | undefined
  /** The bare specifiers that resolve to it, if it belongs to a package. */
  readonly specifiers?: readonly string[] | undefined
  /** The name of the package that it belongs to. */
  readonly packageName?: string | undefined
}

/**
 * Makes the source of a file in a directory.
 * @param path the path in the directory, with `/`
 */
export function sourceAt(
  { dir: directory, at }: Pick<SourceDirectory, 'dir' | 'at'>,
  from: number,
  path: string,
  compilers: ReadonlyMap<string, Compiler>
): Source {
  const extension = path.slice(path.lastIndexOf('.'))
  const compiler = extension.includes('/') ? undefined : compilers.get(extension.toLowerCase())
  const compiled = compiler ? compiledName(path, extension, withDot(compiler.target)) : path
  // macOS may keep a name decomposed that views write composed.
  const tail = composed(posix.join(at ?? '', compiled))
  const name = at === undefined ? tail.slice(tail.indexOf('/') + 1) : tail
  return { file: join(directory, path), directory, from, path, tail, name, compiler }
}

/** Both `app.css.scss` and `app.scss` become `app.css`. */
function compiledName(path: string, extension: string, target: string): string {
  const rest = path.slice(0, -extension.length)
  return rest.toLowerCase().endsWith(target) ? rest : rest + target
}

/** The source that is found for a name. */
export interface Choice {
  readonly source: Source | undefined
  /** A warning: the directory has several sources of the name. */
  readonly clash?: string | undefined
  /** A warning: a directory has several sources with the tail, so the tail finds none of them. */
  readonly warning?: string
}

/** A source that has a name which is never published: its path is that of something else. */
export interface Unpublished {
  readonly source: Source
  /** The app that has the path, or assets below it; undefined: `below` is one of the same app. */
  readonly app?: AppSettings | undefined
  /** The source of a name in the folder of that name. */
  readonly below?: Source | undefined
}

/**
 * A name comes before a tail, and an earlier directory before a later one. Only what is published has tails, as
 * production knows nothing else.
 */
export class Catalog {
  readonly #byName = new Map<string, Source[]>()
  readonly #byTail = new Map<string, Source[]>()
  /** All sources but hidden ones, by their whole tail. */
  readonly #byPath = new Map<string, Source[]>()
  /** Compiled sources that are next to a plain file of the same name, by that name. */
  readonly #hidden = new Map<string, Source[]>()
  /** The folders in names, each with the source of a name in it. */
  readonly #folders = new Map<string, Source>()
  readonly #elsewhere: Unpublished[] = []
  /** The names of all folders of what is published, once a tail was asked for. */
  #folderNames: ReadonlySet<string> | undefined
  readonly #tails: boolean
  readonly #inTheWay: (name: string) => AppSettings | undefined

  /**
   * @param tails true if an asset is found by other tails of its path
   * @param inTheWay returns another app that has the path of a name
   */
  constructor(tails: boolean, inTheWay: (name: string) => AppSettings | undefined) {
    this.#tails = tails
    this.#inTheWay = inTheWay
  }

  /**
   * Adds the sources of a directory, which is searched after those added before.
   * @param hasTails true if a tail of a path finds a source, too
   */
  add(sources: readonly Source[], hasTails: boolean): void {
    const plain = new Set(sources.filter(({ compiler }) => !compiler).map(({ tail }) => tail))
    for (const source of sources.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
      const { name, tail } = source
      const app = this.#inTheWay(name)
      if (app) this.#elsewhere.push({ source, app })
      else if (source.compiler && plain.has(tail)) push(this.#hidden, name, source)
      else this.#addVisible(source, hasTails && this.#tails)
    }
  }

  #addVisible(source: Source, hasTails: boolean): void {
    const { name, tail } = source
    const isPublished = !this.#byName.has(name)
    push(this.#byName, name, source)
    push(this.#byPath, tail, source)
    if (!isPublished) return
    for (let at = name.indexOf('/'); at !== -1; at = name.indexOf('/', at + 1))
      this.#folders.set(name.slice(0, at), source)
    if (!hasTails) return
    for (const each of tailsOf(tail)) if (each !== name) push(this.#byTail, each, source)
  }

  /** The names of what is published. */
  get names(): readonly string[] {
    return [...this.#byName.keys()].filter(name => !this.#folders.has(name))
  }

  /** The sources whose names are never published. */
  get unpublished(): readonly Unpublished[] {
    const below = [...this.#byName].flatMap(([name, [source]]) => {
      const other = this.#folders.get(name)
      return source && other ? [{ source, below: other }] : []
    })
    return [...this.#elsewhere, ...below]
  }

  named(name: string): readonly Source[] {
    return (!this.#folders.has(name) && this.#byName.get(name)) || []
  }

  /** Returns the published sources that have a tail, other than their name. */
  tailed(tail: string): readonly Source[] {
    const all = this.#byTail.get(tail)?.filter(({ name }) => !this.#folders.has(name)) ?? []
    if (all.length === 0) return all
    this.#folderNames ??= new Set(
      this.names.flatMap(name => this.named(name)[0]?.tail.split('/').slice(0, -1) ?? [])
    )
    return meetsNames(tail, this.#folderNames, name => this.named(name).length > 0) ? [] : all
  }

  /** Returns the sources that have a path as their whole tail. */
  at(path: string): readonly Source[] {
    const all = this.#byPath.get(path) ?? []
    return all.filter(({ name }) => !this.#folders.has(name))
  }

  /** Tells whether a source is there, even where a plain file of its name hides it. */
  has({ file, name, tail }: Source): boolean {
    const all = [...this.at(tail), ...(this.#hidden.get(name) ?? [])]
    return all.some(source => source.file === file)
  }

  /** Returns the source that is published under a name, and the others that have the name. */
  first(name: string) {
    const [source, ...others] = this.named(name)
    if (!source) return undefined
    const isNear = ({ from }: Source) => from === source.from
    const hidden = this.#hidden.get(name) ?? []
    const rivals = others.filter(isNear)
    // Packages ship compiled files next to their sources on purpose.
    const ignored = source.from === 0 ? hidden.filter(isNear) : []
    return {
      source,
      /** Other sources of that name in the same directory. */
      rivals,
      /** Other sources of that name: next to a plain file of the name, and in directories that are searched later. */
      shadowed: [...hidden, ...others.filter(other => !isNear(other))],
      /** The warning about rivals, or about a plain file that hides a source of the app's own. */
      clash: clashOf(name, source, rivals, ignored)
    }
  }

  choose(name: string): Choice {
    const found = this.first(name)
    if (found) return found
    const tailed = this.tailed(name)
    const [source, ...others] = tailed.filter(({ from }) => from === tailed[0]?.from)
    if (!source || others.length === 0) return { source }
    const all = [source, ...others].map(({ tail }) => tail).join(', ')
    const warning = `${name} is ambiguous in ${source.directory}: use one of ${all}`
    return { source: undefined, warning }
  }
}

function push(lists: Map<string, Source[]>, key: string, source: Source): void {
  const list = lists.get(key)
  if (list) list.push(source)
  else lists.set(key, [source])
}

function clashOf(
  name: string,
  source: Source,
  rivals: readonly Source[],
  ignored: readonly Source[]
): string | undefined {
  if (rivals.length + ignored.length === 0) return undefined
  const others = [...rivals, ...ignored].map(({ path }) => path).join(', ')
  const found = `several sources in ${source.directory} are published as ${name}:`
  return rivals.length > 0
    ? `${found} ${source.path}, ${others}; development uses the first, precompile refuses them: rename or exclude all but one`
    : `${found} ${source.path} is used, ${others} ignored; rename or remove all but one`
}

/**
 * The message about paths in a directory that are one file where case, or how accents are written, does not count.
 */
export function oneElsewhere(directory: string, paths: readonly string[]): string | undefined {
  const known = new Map<string, string>()
  const twins = paths.flatMap(path => {
    const [key, other] = [folded(path), known.get(folded(path))]
    known.set(key, path)
    return other === undefined ? [] : [`${other} and ${path}`]
  })
  if (twins.length === 0) return undefined
  const are = `are one file on Windows and macOS, so nobody can check this project out there`
  return `${directory}: ${twins.join(', ')} ${are}; rename one`
}

/** Calls `make` once for each key. */
export function memoized<K, V>(make: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>()
  return key => {
    const value = known.get(key) ?? make(key)
    known.set(key, value)
    return value
  }
}

export interface Unusable {
  /** The plain URL path, decoded. */
  readonly path: string
  readonly error: AssetError
}

export function unusableName(
  { root }: Settings,
  app: AppSettings,
  { source, app: other, below }: Unpublished
): Unusable {
  const shown = (file: string) => printable(pathFrom(root, file))
  const path = assetPath(app, source.name)
  const isIn = other && path.startsWith(`${other.urlPrefix}/`)
  const taken = other && `the assets of the app '${other.name}' (${shown(other.dir)})`
  const where = isIn
    ? `where ${taken} are: rename or exclude it, or set apps.${other.name}.path`
    : `a folder in the URL of ${taken ?? shown(below?.file ?? '')}: rename one of them`
  const message = `${shown(source.file)} cannot be published as ${printable(path)}, ${where}`
  return { path, error: new AssetError('name-unusable', message) }
}
