// The whole tree: every asset of every app, read, compiled and led to what it refers to.
import { relative } from 'node:path'
import { AssetError } from '../../errors.ts'
import { printable } from '../../printable.ts'
import { whyNotCanonical } from '../urls/canonical-path.ts'
import { ifThere } from '../../files/disk.ts'
import { finishAll, MAP, type Built, type Drafted, type Node } from './finish-build.ts'
import { isMinifiable, type Minify } from '../rendering/minify.ts'
import { Renderer } from '../rendering/renderer.ts'
import { appAt } from '../settings/app-settings.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'
import type { Listed, Sources } from '../sources/sources.ts'
import { checksumsOf } from '../../files/checksums.ts'
import { encodePath } from '../urls/encode.ts'
import { inParallel } from '../../concurrency.ts'

/** What keeps an asset from being published. */
export interface Problem {
  /** The plain URL path, decoded. */
  readonly path: string
  readonly error: AssetError
}

export interface Build {
  readonly assets: ReadonlyMap<string, Built>
  readonly problems: readonly Problem[]
}

export interface BuildOptions {
  readonly warn: (message: string) => void
  /** The apps to build; all of them by default. */
  readonly only?: (app: AppSettings) => boolean
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((done: number, total: number, path: string) => void) | undefined
  /** Makes stylesheets and scripts of an app smaller, and gives each a map. */
  readonly minifierOf?: (app: AppSettings) => Minify | undefined
  /** What an earlier build has read of an asset, when nothing of it changed since. */
  readonly reuse?: (path: string, source: Listed['source']) => Promise<Drafted | undefined>
  readonly keep?: (path: string, source: Listed['source'], drafted: Drafted) => void
}

// Enough to keep the disk busy while a compiler works.
const CONCURRENCY = 16

/** Builds everything that can be built; what cannot is told in `problems`. */
export async function build(
  settings: Settings,
  sources: Sources,
  options: BuildOptions
): Promise<Build> {
  const listed = await listPlaces(settings, sources, options.only)
  const problems = [...listed.filter(isTaken).map(asCollision), ...refusals(settings, listed)]
  const renderer = new Renderer(settings, sources)
  let done = 0
  const nodes = await inParallel(
    listed,
    CONCURRENCY,
    async one => {
      const node = await read(sources, renderer, one, options).catch(asProblem(problems, one.path))
      options.onProgress?.(++done, listed.length, one.path)
      return node
    },
    options.signal
  )
  const byPath = new Map(nodes.flatMap(node => (node ? [[node.path, node]] : [])))
  // The map of a minified text takes the place of one that led from the text as it was written.
  for (const { path, draft } of byPath.values()) if (draft.map) byPath.delete(path + MAP)
  for (const node of byPath.values()) {
    node.links = await link(renderer, node, problems, options)
  }
  problems.sort((a, b) => (a.path < b.path ? -1 : 1))
  return { assets: finishAll(byPath), problems }
}

function asProblem(problems: Problem[], path: string) {
  return (error: unknown): undefined => {
    if (!(error instanceof AssetError)) throw error
    problems.push({ path, error })
  }
}

/** A name that can be published, and where. */
export type Place = Listed & { readonly app: AppSettings; readonly path: string }

/** Every place of every app, in the order of their paths. */
export async function listPlaces(
  settings: Settings,
  sources: Sources,
  only: (app: AppSettings) => boolean = () => true
): Promise<readonly Place[]> {
  const all: Place[] = []
  for (const app of settings.apps.filter(only)) {
    for (const one of await sources.of(app).list()) {
      const path = `${app.urlPrefix}/${one.name}`
      // A request for it would reach the app with the longer prefix.
      if (appAt(settings, path) === app) all.push({ ...one, app, path })
    }
  }
  return all.toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

function isTaken({ rivals }: Place): boolean {
  return rivals.length > 0
}

function asCollision({ path, name, source, rivals }: Place): Problem {
  const paths = [source, ...rivals].map(one => one.path).join(', ')
  const message = `several sources in ${source.directory} are published as ${name}: ${paths}; rename all but one`
  return { path, error: new AssetError('name-taken', message) }
}

/** What no request reaches would be missing on the page that names it. */
function refusals({ root }: Settings, places: readonly Place[]): Problem[] {
  return places.flatMap(({ path, source }) => {
    const reason = whyNotCanonical(encodePath(path))
    if (reason === undefined) return []
    const [file, name] = [relative(root, source.file), path].map(printable)
    const message = `${file} is published as ${name}, which cannot be requested: ${reason}; rename it`
    return [{ path, error: new AssetError('name-unusable', message) }]
  })
}

/** Of several sources the next comes forward when the first went away since the listing was read. */
async function read(
  sources: Sources,
  renderer: Renderer,
  place: Place,
  options: BuildOptions
): Promise<Node | undefined> {
  for (let chosen: Place | undefined = place, attempt = 0; chosen && attempt < 3; attempt++) {
    // Whatever is missing here is the source: a compiler's failure is a CompileError.
    const node = await ifThere(readPlace(renderer, chosen, options))
    if (node) return node
    await sources.of(place.app).verify()
    const again = await sources.of(place.app).list()
    const next = again.find(({ name }) => name === place.name)
    chosen = next && { ...next, app: place.app, path: place.path }
  }
  return undefined
}

async function readPlace(
  renderer: Renderer,
  place: Place,
  options: BuildOptions
): Promise<Node | undefined> {
  const { app, name, path, source } = place
  const known = await options.reuse?.(path, source)
  if (known) return { ...place, ...known, links: [] }
  const minify = isMinifiable(name) ? options.minifierOf?.(app) : undefined
  const whole = await renderer.draft(place, minify && true)
  if (!whole) return undefined
  const { draft: drafted, warnings } = minify
    ? await minify(renderer, place, whole)
    : { draft: whole, warnings: [] }
  warnings.forEach(options.warn)
  const isFinal = !drafted.text && !drafted.map
  const sums = isFinal ? await checksumsOf(drafted.content, app.integrity) : undefined
  // Bytes that stay as they are need not be kept: the source has them.
  const isCopy = !source.compiler && isFinal
  const result = {
    draft: isCopy ? { ...drafted, content: { copyOf: source.file } } : drafted,
    sums
  }
  // What is odd is told each time.
  if (warnings.length === 0) options.keep?.(path, source, result)
  return { ...place, ...result, links: [] }
}

/** A reference by a tail links to the name under which that source is published. */
async function link(
  renderer: Renderer,
  node: Node,
  problems: Problem[],
  { warn }: BuildOptions
): Promise<(string | undefined)[]> {
  const fail = (error: AssetError) => void problems.push({ path: node.path, error })
  const found = await renderer.resolveAll(node, node.draft, { warn, fail })
  return found.map(to => to && `${to.app.urlPrefix}/${to.source.name}`)
}
