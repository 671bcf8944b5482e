// Makes a snapshot of an app's sources: which are published under which names, and which never are.
import { join, posix } from 'node:path'
import { AssetError, printable } from '../../runtime/errors.ts'
import { composed, pathFrom, withDot, withSlashes } from '../../runtime/files/paths.ts'
import type { SourceFile } from '../../runtime/app/extra.ts'
import type { Compiler } from '../../runtime/settings/compiler.ts'
import { appInTheWay, assetPath, type SourceDirectory } from '../../runtime/settings/apps.ts'
import type { AppSettings, Settings } from '../../runtime/settings/settings.ts'
import { meetsNames, tailsOf } from '../../runtime/urls/spelling.ts'

export interface Source extends SourceFile {
  /** The position of its directory in the search order; 0 is the app's own. */
  readonly from: number
  /** The path in that directory: `stylesheets/admin/menu.css.scss` */
  readonly path: string
  /** The path after compilation, below `at`: `stylesheets/admin/menu.css`. Without `at`, names lack the first one. */
  readonly tail: string
}

/** An asset: a source of an app, and the plain URL path of its name, decoded: `/assets/admin/menu.css` */
export interface Sourced {
  readonly app: AppSettings
  readonly source: Source
  readonly path: string
}

export interface Listed extends Sourced {
  readonly rivals: readonly Source[]
  /** The sources beside a plain file with the name, and those in directories that are searched later. */
  readonly shadowed: readonly Source[]
  /** The warning about rivals, or about a plain file that hides one of the app's own sources. */
  readonly clash: string | undefined
}

/** An asset that cannot be published, by its plain URL path, decoded. */
export interface Failure {
  readonly path: string
  readonly error: AssetError
}

export interface Snapshot {
  readonly listed: ReadonlyMap<string, Listed>
  /** The published sources by each tail of their paths that is not a name, as a directory is searched at any depth. */
  readonly tailed: ReadonlyMap<string, readonly Source[]>
  /** The sources by their absolute paths after compilation: `<directory>/a/app.css` for `a/app.css.scss`. */
  readonly compiled: ReadonlyMap<string, Source>
  readonly files: ReadonlyMap<string, Source>
  /** The sources that are never published, because something else has their paths. */
  readonly unusable: readonly Failure[]
}

/** Returns the source at a path; `app.css.scss` and `app.scss` both become `app.css`. @param path in `dir`, with `/` */
export function sourceAt(
  { dir: directory, at }: Pick<SourceDirectory, 'dir' | 'at'>,
  from: number,
  path: string,
  compilers: ReadonlyMap<string, Compiler>
): Source {
  const extension = path.slice(path.lastIndexOf('.'))
  const compiler = extension.includes('/') ? undefined : compilers.get(extension.toLowerCase())
  const target = compiler ? withDot(compiler.target) : ''
  const rest = compiler ? path.slice(0, -extension.length) : path
  const compiled = rest.toLowerCase().endsWith(target) ? rest : rest + target
  // macOS may keep a name decomposed that views write composed.
  const tail = composed(posix.join(at ?? '', compiled))
  const name = at === undefined ? tail.slice(tail.indexOf('/') + 1) : tail
  return { file: join(directory, path), directory, from, path, tail, name, compiler }
}

export const placeOf = (path: string): string => composed(withSlashes(path))

/** Makes the snapshot: an earlier directory wins over a later one, and within a directory the first path. */
export function snapshotOf(
  settings: Settings,
  app: AppSettings,
  directories: readonly (readonly Source[])[],
  hasTails: (source: Source) => boolean
): Snapshot {
  const [byName, hidden] = [new Map<string, Source[]>(), new Map<string, Source[]>()]
  const [folders, unusable] = [new Map<string, Source>(), new Array<Failure>()]
  for (const sources of directories) {
    const plain = new Set(sources.filter(({ compiler }) => !compiler).map(({ tail }) => tail))
    for (const source of sources.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
      const { name, tail } = source
      const other = appInTheWay(settings, app, name)
      if (other) unusable.push(taken(settings, app, source, other))
      else if (source.compiler && plain.has(tail)) push(hidden, name, source)
      else push(byName, name, source)
    }
  }
  for (const [name, [source]] of byName)
    if (source)
      for (const { index } of name.matchAll(/\//g)) folders.set(name.slice(0, index), source)
  const listed = new Map<string, Listed>()
  const [compiled, files] = [new Map<string, Source>(), new Map<string, Source>()]
  for (const [name, [source, ...others]] of byName) {
    const below = folders.get(name)
    if (source && below) unusable.push(taken(settings, app, source, below))
    if (!source || below) continue
    const isNear = ({ from }: Source) => from === source.from
    const rivals = others.filter(isNear)
    const later = others.filter(each => !isNear(each))
    const beside = hidden.get(name) ?? []
    // Packages ship compiled files next to their sources on purpose.
    const ignored = source.from === 0 ? beside.filter(isNear) : []
    const clash = clashOf(source, rivals, ignored)
    const shadowed = [...beside, ...later]
    listed.set(name, { app, source, path: assetPath(app, name), rivals, shadowed, clash })
    for (const each of [source, ...others]) {
      const at = join(each.directory, each.path, '..', posix.basename(each.tail))
      setFirst(compiled, placeOf(at), each)
    }
    for (const each of [source, ...others, ...beside]) setFirst(files, each.file, each)
  }
  return { listed, tailed: tailedIn(listed, hasTails), compiled, files, unusable }
}

/** Keeps the source from the directory that is searched first, as one directory may be inside another. */
function setFirst(sources: Map<string, Source>, key: string, source: Source): void {
  const known = sources.get(key)
  if (!known || source.from < known.from) sources.set(key, source)
}

/** Maps tails to sources. A tail that is the name of a folder, or begins with a name, finds nothing in any mode. */
function tailedIn(listed: ReadonlyMap<string, Listed>, hasTails: (source: Source) => boolean) {
  const published = Array.from(listed.values(), ({ source }) => source)
  const folders = new Set(published.flatMap(({ tail }) => tail.split('/').slice(0, -1)))
  const tailed = new Map<string, Source[]>()
  for (const source of published.filter(hasTails)) {
    for (const tail of tailsOf(source.tail)) {
      const isMeant = tail !== source.name && !listed.has(tail)
      if (isMeant && !meetsNames(tail, folders, name => listed.has(name)))
        push(tailed, tail, source)
    }
  }
  return tailed
}

export interface Choice {
  readonly source: Source | undefined
  /** The warning that the directory has several sources with the name. */
  readonly clash?: string | undefined
  /** The warning that a directory has several sources with the tail, which then finds none of them. */
  readonly warning?: string
}

/** Chooses the source of a name, or of a tail, for which an earlier directory wins over a later one. */
export function chosenIn({ listed, tailed }: Snapshot, name: string): Choice {
  const found = listed.get(name)
  if (found) return found
  const all = tailed.get(name) ?? []
  const first = Math.min(...all.map(({ from }) => from))
  const [source, ...others] = all.filter(({ from }) => from === first)
  if (!source || others.length === 0) return { source }
  const tails = [source, ...others].map(({ tail }) => tail).join(', ')
  const warning = `${name} is ambiguous in ${source.directory}: use one of ${tails}`
  return { source: undefined, warning }
}

function push(lists: Map<string, Source[]>, key: string, source: Source): void {
  const list = lists.get(key)
  if (list) list.push(source)
  else lists.set(key, [source])
}

function clashOf(source: Source, rivals: readonly Source[], ignored: readonly Source[]) {
  if (rivals.length + ignored.length === 0) return undefined
  const others = [...rivals, ...ignored].map(({ path }) => path).join(', ')
  const found = `several sources in ${source.directory} are published as ${source.name}:`
  return rivals.length > 0
    ? `${found} ${source.path}, ${others}; development uses the first, precompile refuses them: rename or exclude all but one`
    : `${found} ${source.path} is used, ${others} ignored; rename or remove all but one`
}

/** Makes the failure of a source whose path is another app's, or a folder in the path of another source. */
function taken({ root }: Settings, app: AppSettings, source: Source, by: AppSettings | Source) {
  const shown = (file: string) => printable(pathFrom(root, file))
  const path = assetPath(app, source.name)
  const isApp = 'urlPrefix' in by
  const what = isApp ? `the assets of the app '${by.name}' (${shown(by.dir)})` : shown(by.file)
  const where =
    isApp && path.startsWith(`${by.urlPrefix}/`)
      ? `where ${what} are: rename or exclude it, or set apps.${by.name}.path`
      : `a folder in the URL of ${what}: rename one of them`
  const message = `${shown(source.file)} cannot be published as ${printable(path)}, ${where}`
  return { path, error: new AssetError('name-unusable', message) }
}
