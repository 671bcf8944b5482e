// The sources of one directory, by name and by tail.
import { join, posix } from 'node:path'
import { matcherOf } from '../../globs.ts'
import { withDot, type Compiler } from '../compilers/compiler.ts'
import type { SourceDirectory } from '../settings/app-settings.ts'
import { tailsOf } from '../urls/canonical-path.ts'
import type { Tree } from './tree.ts'

type Compilers = ReadonlyMap<string, Compiler>

/** A file that somebody wrote, and the name under which it is published. */
export interface Source {
  /** Absolute. */
  readonly file: string
  /** The source directory in which it was found; absolute. */
  readonly directory: string
  /** `stylesheets/admin/menu.css.scss` */
  readonly path: string
  /** The path after compilation, below the folder `at` of its directory: `stylesheets/admin/menu.css`. */
  readonly tail: string
  /** The tail without its first folder, `admin/menu.css`; with `at` the tail. */
  readonly name: string
  /** Undefined for a file that is copied. */
  readonly compiler: Compiler | undefined
  /** The bare specifiers that mean it, if it belongs to a package. */
  readonly specifiers?: readonly string[] | undefined
}

export interface Catalog {
  /** In byte order of their paths; more than one is a collision. */
  readonly byName: ReadonlyMap<string, readonly Source[]>
  /** By every tail of every path; more than one is ambiguous. */
  readonly byTail: ReadonlyMap<string, readonly Source[]>
  /** Compiled sources beside a plain file of the same name, by that name. */
  readonly hidden: ReadonlyMap<string, readonly Source[]>
}

/** @param paths of files in the directory, with `/` */
export function makeCatalog(
  place: Pick<SourceDirectory, 'dir' | 'at'>,
  paths: Iterable<string>,
  compilers: Compilers
): Catalog {
  const sources = [...paths].toSorted().map(path => asSource(place, path, compilers))
  const [byName, byTail, hidden] = [new Sorted(), new Sorted(), new Sorted()]
  // A plain `app.css` next to `app.css.scss` hides it.
  const plain = new Set(sources.filter(({ compiler }) => !compiler).map(({ tail }) => tail))
  for (const source of sources) {
    if (source.compiler && plain.has(source.tail)) {
      hidden.add(source.name, source)
    } else {
      byName.add(source.name, source)
      const tails = place.at === undefined ? tailsOf(source.tail) : [source.tail]
      for (const tail of tails) byTail.add(tail, source)
    }
  }
  return { byName, byTail, hidden }
}

/** A source directory that an app searches, and what is in it. */
export class Searched {
  readonly source: SourceDirectory
  readonly tree: Tree
  readonly #compilers: Compilers
  readonly #isIncluded: (path: string) => boolean
  #known: { readonly version: number; readonly catalog: Catalog } | undefined

  constructor(source: SourceDirectory, tree: Tree, compilers: Compilers) {
    this.source = source
    this.tree = tree
    this.#compilers = compilers
    this.#isIncluded = source.include ? matcherOf(source.include) : () => true
  }

  get catalog(): Catalog {
    const { version } = this.tree
    if (this.#known?.version === version) return this.#known.catalog
    const paths = [...this.tree.files()].filter(path => this.#isIncluded(path))
    const catalog = makeCatalog(this.source, paths, this.#compilers)
    this.#known = { version, catalog }
    return catalog
  }
}

class Sorted extends Map<string, Source[]> {
  add(key: string, source: Source): void {
    const list = this.get(key)
    if (list) list.push(source)
    else this.set(key, [source])
  }
}

function asSource(
  { dir: directory, at }: Pick<SourceDirectory, 'dir' | 'at'>,
  path: string,
  compilers: Compilers
): Source {
  const extension = path.slice(path.lastIndexOf('.'))
  const compiler = extension.includes('/') ? undefined : compilers.get(extension.toLowerCase())
  const compiled = compiler ? compiledName(path, extension, withDot(compiler.target)) : path
  const tail = posix.join(at ?? '', compiled)
  const name = at === undefined ? tail.slice(tail.indexOf('/') + 1) : tail
  return { file: join(directory, path), directory, path, tail, name, compiler }
}

/** `app.css.scss` and `app.scss` both become `app.css`. */
function compiledName(path: string, extension: string, target: string): string {
  const rest = path.slice(0, -extension.length)
  return rest.toLowerCase().endsWith(target) ? rest : rest + target
}

/** What one source directory contains for a name. */
export interface Candidates {
  /** Absolute. */
  readonly directory: string
  /** Sources that have exactly this name. */
  readonly named: readonly Source[]
  /** Sources whose path has it as a tail. */
  readonly tailed: readonly Source[]
  /** Compiled sources that a plain file of the same name hides. */
  readonly hidden: readonly Source[]
}

export interface Choice {
  readonly source: Source | undefined
  /** Set when a directory has several sources of the name. */
  readonly clash?: string
  /** Set when a directory has several sources with the tail, which finds none of them. */
  readonly warning?: string
}

/** The verdict on several sources of one name, wherever it is found; undefined for one. */
export function clashOf(
  name: string,
  [source, ...rivals]: readonly Source[],
  hidden: readonly Source[]
): string | undefined {
  if (!source || rivals.length + hidden.length === 0) return undefined
  const others = [...rivals, ...hidden].map(({ path }) => path).join(', ')
  const found = `several sources in ${source.directory} are published as ${name}:`
  return rivals.length > 0
    ? `${found} ${source.path}, ${others}; development uses the first, precompile refuses them: rename or exclude all but one`
    : `${found} ${source.path} is used, ${others} ignored; rename or remove all but one`
}

/** A name comes before a tail, and an earlier directory before a later one. */
export function choose(name: string, all: readonly Candidates[]): Choice {
  const place = all.find(({ named }) => named.length > 0)
  if (place) {
    const clash = clashOf(name, place.named, place.hidden)
    return { source: place.named[0], ...(clash !== undefined && { clash }) }
  }
  const { directory, tailed } = all.find(each => each.tailed.length > 0) ?? { tailed: [] }
  if (tailed.length <= 1) return { source: tailed[0] }
  // A tail that several files of one directory share finds none of them.
  const tails = tailed.map(({ tail }) => tail).join(', ')
  return { source: undefined, warning: `${name} is ambiguous in ${directory}: use one of ${tails}` }
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
