// Reports references to assets that do not exist: where they are in the sources, what was probably meant, and what to
// do about them.
import { isBuiltin } from 'node:module'
import { basename, dirname, extname, join, posix } from 'node:path'
import { AssetError, ifAssetError } from '../../runtime/errors.ts'
import { statOf, whyHidden } from '../../runtime/files/disk.ts'
import { readSnapshot } from '../../runtime/files/open-file.ts'
import { compilersFor } from '../compilers/built-in.ts'
import { firstCandidate, packageAdvice } from '../compilers/leads.ts'
import { isBare, remedyFor } from '../references/modules.ts'
import { isInModule, positionsOf, type Reference } from '../references/references.ts'
import type { Listed, Source } from '../sources/snapshot.ts'
import { textType, type Draft } from './draft.ts'
import { isInside, pathFrom, withDot } from '../../runtime/files/paths.ts'
import { didYouMean, nearestPath } from '../../runtime/check-options.ts'
import type { AppSettings, Settings } from '../../runtime/settings/settings.ts'

/** The number of a compiled text's references that are searched for in its sources and compared with names. */
const MAX_SEARCHES = 100

export interface Referrer extends Pick<Draft, 'app' | 'source' | 'text' | 'map' | 'isLowered'> {
  readonly root: string
  /** The place of files without a helper; undefined for a text that was not in `public` before. */
  readonly beside?: Pick<Settings, 'publicDir' | 'base'>
}

/** Returns the error for a module whose references are unknown, and for each path that is not found. */
export async function referenceErrors(
  referrer: Referrer,
  missing: readonly Reference[],
  list: () => Promise<readonly Listed[]>
): Promise<AssetError[]> {
  const { root, app, source, text } = referrer
  if (!text || (missing.length === 0 && text.unparsedAt === undefined)) return []
  const { unparsedAt } = text
  const paths = new Set<string>()
  const lost = missing.filter(({ path }) => !paths.has(path) && paths.add(path))
  const places = await placesOf(referrer, lost)
  const files = [source.file, ...text.dependencies]
  // Pages and precompile report a package that cannot be published.
  const listed = lost.length > 0 ? await list().catch(ifAssetError(() => [])) : []
  const noAdvice = ifAssetError(() => undefined)
  const errors = await Promise.all(
    lost.map(async (reference, at) => {
      const { path, lead: { file, by = 'the option imports' } = {} } = reference
      const given = file === undefined ? app.imports.get(path) : pathFrom(root, file)
      const name = isBare(reference) ? ` (${given} by ${by})` : ''
      const rule = /^~[@\w]/.test(path) ? `write '${path.slice(1)}'` : await ruleFor(path, files)
      const isSearched = rule === undefined && at < MAX_SEARCHES
      const meant = file === undefined ? path : pathFrom(dirname(source.file), file)
      const advice = isSearched
        ? ((await unpublished(meant, app, files)) ??
          (await inPublic(path, referrer)) ??
          nearReference(meant, listed, files, formFor(app, reference)) ??
          (isBare(reference)
            ? undefined
            : await packageAdvice(path, source.file, root).catch(noAdvice)))
        : rule
      const reason = advice === undefined ? '' : `: ${advice}`
      return errorAt(places[at], `refers to ${path}${name}, which was not found${reason}`)
    })
  )
  if (unparsedAt === undefined) return errors
  const isKnown = isAsWritten(referrer)
  const [place] = isKnown ? placesIn(root, source.file, text.code, [unparsedAt]) : []
  const message =
    "cannot be parsed as a module, so its imports are not rewritten: write them in another way, or set missing: 'ignore'"
  return [errorAt(place ?? pathFrom(root, source.file), message), ...errors]
}

/** Returns the error for each bare specifier that nothing maps. @param advise returns how to publish the module */
export async function importErrors(
  referrer: Referrer,
  unknown: readonly Reference[],
  advise: (specifier: string) => Promise<string | undefined>
): Promise<AssetError[]> {
  const { file } = referrer.source
  const places = await placesOf(referrer, unknown)
  return Promise.all(
    unknown.map(async ({ path }, at) => {
      const isBeside = (await statOf(join(dirname(file), path)))?.isFile()
      const advice = isBeside ? `did you mean './${path}'?` : await advise(path)
      const isNode = advice === undefined && isBuiltin(path)
      const why = isNode
        ? 'a module of Node, which browsers do not have'
        : 'which no option maps, so a browser does not find it'
      const given = `name an asset or a URL in imports: { '${path}': … }`
      const ways = [advice, ...(isBeside ? [] : [given])].filter(each => each !== undefined)
      return errorAt(places[at], `imports '${path}', ${why}: ${ways.join(', or ')}`)
    })
  )
}

export async function typeErrors(referrer: Referrer, refused: readonly Reference[]) {
  const { file } = referrer.source
  const places = await placesOf(referrer, refused)
  return Promise.all(
    refused.map(async (reference, at) => {
      const { path, suffix, kind } = reference
      const isBeside = isBare(reference) && (await statOf(join(dirname(file), path)))?.isFile()
      const remedy = remedyFor(reference, referrer.app, isBeside ? `./${path}` : path)
      const what = kind === 'import' ? ', and the whole module with it' : ''
      const told = `imports '${path}${suffix}', which browsers refuse${what}: ${remedy}`
      return errorAt(places[at], told)
    })
  )
}

function errorAt(place: string | undefined, message: string): AssetError {
  return new AssetError('reference-missing', `${place} ${message}`)
}

/** Returns `apps/web/assets/app.css:12:3` for each reference; only the file if compiling added the reference. */
async function placesOf(referrer: Referrer, references: readonly Reference[]): Promise<string[]> {
  const { root, source, text } = referrer
  if (!text || references.length === 0) return []
  const starts = references.map(({ start }) => start)
  if (isAsWritten(referrer)) return placesIn(root, source.file, text.code, starts)
  const files = [source.file, ...text.dependencies]
  const read = await Promise.all(files.map(readSnapshot))
  const codes = read.map(one => (one ? new TextDecoder().decode(one.bytes) : ''))
  return references.map((reference, index) => {
    // Settings may have given it another path.
    const path = text.code.slice(reference.start + 1, reference.end - 1)
    const meant = reference.lead?.specifier === undefined ? reference : { ...reference, path }
    const written = index < MAX_SEARCHES ? patternOf(meant) : undefined
    const found = files.flatMap((file, at) => {
      const code = codes[at] ?? ''
      const offset = written ? code.search(written) : -1
      return offset === -1 ? [] : placesIn(root, file, code, [offset])
    })
    return found[0] ?? pathFrom(root, source.file)
  })
}

function isAsWritten({ source, map, isLowered }: Referrer): boolean {
  return !source.compiler && map === undefined && !isLowered
}

function placesIn(root: string, file: string, code: string, offsets: readonly number[]): string[] {
  return positionsOf(code, offsets).map(
    ({ line, column }) => `${pathFrom(root, file)}:${line + 1}:${column + 1}`
  )
}

/** Matches the path by itself, not as part of a longer one. */
function patternOf(reference: Reference): RegExp {
  const path = reference.path + (isInModule(reference) ? reference.suffix : '')
  const literal = path.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)
  // The place is that of the quote, if there is one.
  const written = isInModule(reference) ? `(["'\`])${literal}\\1` : `["']?${literal}`
  return new RegExp(`(?<![\\w./-])${written}(?![\\w./-])`)
}

async function ruleFor(path: string, files: readonly string[]): Promise<string | undefined> {
  const rule = whyHidden(path)
  if (rule === undefined) return undefined
  const found = await Promise.all(files.map(from => statOf(join(dirname(from), path))))
  return found.some(Boolean) ? rule : undefined
}

/** The number of names that are compared with each reference. */
const MAX_COMPARED = 5000

/** @param files the source, then those compiled into it @param form returns how the reference would name a source */
function nearReference(
  path: string,
  listed: readonly Listed[],
  files: readonly string[],
  form: (source: Source) => string
): string | undefined {
  const own = listed.filter(
    ({ source }) => source.packageName === undefined && source.file !== files[0]
  )
  const at = new Set(files.map(file => join(dirname(file), path)))
  const raw = own.find(({ source }) => source.compiler && at.has(source.file))
  if (raw) {
    const meant = posix.join(posix.dirname(path), basename(raw.source.name))
    return `did you mean '${asWritten(meant, path)}'? ${raw.source.path} is published under that name`
  }
  const folder = dirname(files[0] ?? '')
  const isUrl = path.startsWith('/')
  const known = own
    .slice(0, MAX_COMPARED)
    .map(each => (isUrl ? each.path : pathFrom(folder, form(each.source))))
  const near = nearestPath(isUrl ? path : pathFrom(folder, join(folder, path)), known)
  return near === undefined ? undefined : didYouMean(path, asWritten(near, path))
}

/** Returns how a module names a source: by its file, `./money.ts`, by its published name, or without extension. */
function formFor({ compilers }: AppSettings, reference: Reference): (source: Source) => string {
  const extension = extname(reference.path).toLowerCase()
  const { target = '' } = compilersFor(compilers).get(extension) ?? {}
  if (isInModule(reference) && extension === '') return ({ file }) => file.replace(SCRIPT, '')
  if (isInModule(reference) && textType(`a${withDot(target)}`) === 'js') return ({ file }) => file
  return ({ file, name }) => join(dirname(file), basename(name))
}

const SCRIPT = /\.[cm]?[jt]sx?$/i

/** Returns the option that would publish an existing file, such as a font beside the stylesheet of a package. */
async function unpublished(path: string, { dir, sources }: AppSettings, files: readonly string[]) {
  for (const file of files) {
    const found = await firstCandidate([join(dirname(file), path)])
    if (found === undefined || sources.some(source => isInside(source.dir, found))) continue
    const folder = dirname(found)
    // Naming the folder of the app, or one above it, would publish everything else there.
    if (isInside(folder, dir)) return 'the file is there, but it is not among the sources'
    return `the file is there, but no option publishes it: add '${pathFrom(dir, folder)}' to sources`
  }
  return undefined
}

/** Returns how to refer to a file that stayed in `public` when the stylesheet or script beside it became an asset. */
async function inPublic(path: string, { root, beside, source }: Referrer) {
  if (!beside || path.startsWith('/')) return undefined
  const url = posix.join('/', posix.dirname(source.path), path)
  const file = join(beside.publicDir, url)
  if (!(await statOf(file))?.isFile()) return undefined
  return `${pathFrom(root, file)} is not an asset: write '${beside.base}${url}', or move it to the sources`
}

function asWritten(meant: string, path: string): string {
  return path.startsWith('./') && !meant.startsWith('.') ? `./${meant}` : meant
}
