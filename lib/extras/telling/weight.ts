// What the visitors of a page load for its scripts and stylesheets: files, and what these are made of. From the last
// precompile, or estimated from the sources. Images in the page itself are not known.
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import { inParallel } from '../../concurrency.ts'
import { CODINGS } from '../../files/codings.ts'
import { bytesOf, statOf } from '../../files/disk.ts'
import { listPublished } from '../../assets/building/directory.ts'
import type { ManifestEntries, ManifestEntry } from '../../assets/building/manifest/manifest.ts'
import { readEntries } from '../../assets/building/manifest/read-manifest.ts'
import { listOwn, pathOf, type OwnAsset } from '../../assets/inventory/own.ts'
import type { Weighed, WeighedFile, Weight } from '../../assets/parts/figures.ts'
import type { Pipeline } from '../../assets/pipeline.ts'
import { findReferences, type Reference } from '../../assets/references/references.ts'
import { textOf, textType } from '../../assets/rendering/draft.ts'
import { Renderer } from '../../assets/rendering/renderer.ts'
import { lengthsBySource } from '../../assets/rendering/shift-map.ts'
import { assetPath } from '../../assets/settings/app-settings.ts'
import { manifestFile, publicFile } from '../../assets/settings/public-directory.ts'
import type { Settings } from '../../assets/settings/settings.ts'
import { withoutBase } from '../../assets/settings/base.ts'
import { encodePath } from '../../assets/urls/canonical-path.ts'

/** What is known of one file; paths are plain URL paths, encoded. */
interface Node extends Pick<WeighedFile, 'size' | 'parts' | 'isChanged'> {
  readonly loads: readonly string[]
  readonly later: readonly string[]
}

type Parts = Pick<Pipeline, 'settings' | 'sources'>

const CONCURRENCY = 8
const [{ extension: COPY } = { extension: '' }] = CODINGS
const brotli = promisify(brotliCompress)
const QUICKLY = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }

/** @param names of scripts and stylesheets; `app` is both `app.js` and `app.css` */
export async function weigh(pipeline: Parts, names: readonly string[]): Promise<Weight> {
  const { settings, sources } = pipeline
  const file = manifestFile(settings)
  const published = await readEntries(file)
  const known = new Map((await listOwn(settings, sources, published)).map(own => [own.path, own]))
  const asked = names.map(name => pathOf(name, settings))
  const entries = asked
    .flatMap(path => [path, `${path}.css`, `${path}.js`])
    .filter(path => known.has(path))
  const isBuilt = entries.every(path => published.has(path)) && entries.length > 0
  const look = isBuilt ? await publishedNodes(settings, published) : sourceNodes(pipeline, known)
  const files = await reached(entries, look)
  const first = files.filter(({ isLater }) => !isLater)
  const changed = first.filter(({ isChanged }) => isChanged)
  const built = isBuilt ? await statOf(file) : undefined
  return {
    entries,
    builtAt: built && new Date(Number(built.mtimeMs)),
    files,
    visits: [
      visitOf('first', first),
      visitOf('second', []),
      ...(files.some(({ isChanged }) => isChanged !== undefined)
        ? [visitOf('after the last deploy', changed)]
        : [])
    ]
  }
}

/** With the page itself. */
function visitOf(visit: string, files: readonly WeighedFile[]) {
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  return { visit, requests: files.length + 1, bytes }
}

async function reached(entries: readonly string[], look: Look): Promise<WeighedFile[]> {
  const files = new Map<string, Omit<WeighedFile, 'path'>>()
  const later = new Set<string>()
  const follow = async (paths: Iterable<string>, isLater: boolean) => {
    const fresh = [...new Set(paths)].filter(path => !files.has(path))
    for (const path of fresh) files.set(path, { ...NONE, isLater })
    const nodes = await inParallel(fresh, CONCURRENCY, look)
    for (const [at, node] of nodes.entries()) {
      const { size, parts, isChanged } = node
      files.set(fresh[at] ?? '', { size, parts, isChanged, isLater })
      for (const path of node.later) later.add(path)
    }
    const next = nodes.flatMap(({ loads }) => loads)
    if (next.length > 0) await follow(next, isLater)
  }
  await follow(entries, false)
  // It grows meanwhile.
  for (const path of later) await follow([path], true)
  return Array.from(files, ([path, file]) => ({ path, ...file }))
}

const isLoaded = ({ kind }: Reference) => kind !== 'source-map'

type Look = (path: string) => Promise<Node>

async function publishedNodes(settings: Settings, published: ManifestEntries): Promise<Look> {
  const plain = new Map(Array.from(published, ([path, { target }]) => [target, path]))
  const { versions } = await listPublished(settings, [])
  const builtAt = (await statOf(manifestFile(settings)))?.mtimeNs ?? 0n
  const fileOf = ({ target }: ManifestEntry) => publicFile(settings, decodeURIComponent(target))
  // A deploy touches what it replaces, once it has written the manifest's temporary file.
  const replacedIn = async (path: string, { target }: ManifestEntry) => {
    const others = (versions.get(decodeURIComponent(path)) ?? []).filter(
      each => encodePath(each.path) !== target
    )
    const stats = await Promise.all(others.map(({ file }) => statOf(file)))
    return stats.length > 0 ? stats.some(each => each && each.ctimeNs >= builtAt) : undefined
  }
  return async path => {
    const entry = published.get(path)
    if (!entry) return NONE
    const { imports = [], dynamicImports: later = [], sources = [path] } = entry
    const copy = await statOf(fileOf(entry) + COPY)
    const size = Number(copy?.size ?? entry.size)
    const isText = textType(path) !== undefined
    const code = isText ? String(await bytesOf(fileOf(entry))) : ''
    const found = textType(path) === 'css' ? findReferences('css', code) : []
    const urls = found
      .filter(isLoaded)
      .map(each => new URL(each.path, `http://localhost${entry.target}`).pathname)
    const loads = [
      ...imports,
      ...urls.flatMap(url => plain.get(withoutBase(url, settings.base)) ?? [])
    ]
    const map = published.get(`${path}.map`)
    const lengths = map && isText ? lengthsBySource(String(await bytesOf(fileOf(map))), code) : []
    const inUrl = ([source, length]: readonly [string, number]) =>
      [new URL(source, `http://localhost${entry.target}`).pathname, length] as const
    const all = lengths.length > 0 ? lengths.map(inUrl) : sources.map(each => [each, 1] as const)
    const whole = all.reduce((sum, [, length]) => sum + length, 0)
    const parts = all.map(([source, length]) => partOf(source, (size * length) / whole))
    return { size, parts, loads, later, isChanged: await replacedIn(path, entry) }
  }
}

const NONE: Node = { size: 0, parts: [], loads: [], later: [] }

/** Each file as a browser would get it one by one: compiled, not minified. */
function sourceNodes({ settings, sources }: Parts, known: ReadonlyMap<string, OwnAsset>): Look {
  // Without inline source maps.
  const renderer = new Renderer({ ...settings, env: 'production' }, sources)
  return async path => {
    const place = known.get(path)?.place
    const draft = place && (await renderer.draft(place))
    if (!draft) return NONE
    const { content, text } = draft
    if ('copyOf' in content) {
      const size = Number((await statOf(content.copyOf))?.size ?? 0)
      return { ...NONE, size, parts: [partOf(path, size)] }
    }
    const size = Math.min(content.length, (await brotli(content, QUICKLY)).length)
    // In development a browser follows imports by itself.
    const app = { ...place.app, fingerprint: true }
    const whole = await textOf({ ...place, app }, String(content), text?.dependencies ?? [])
    const [loads, later]: string[][] = [[], []]
    for (const reference of whole?.references.filter(isLoaded) ?? []) {
      const to = await renderer.resolve(place, { dependencies: [], ...whole }, reference)
      if (!to || to === 'elsewhere') continue
      const list = reference.kind === 'dynamic-import' ? later : loads
      list?.push(encodePath(assetPath(to.app, to.name)))
    }
    return { size, parts: [partOf(path, size)], loads: loads ?? [], later: later ?? [] }
  }
}

const PACKAGE = /\/(?:npm|node_modules)\/(?<name>(?:@[^/]+\/)?[^/]+)/

function partOf(path: string, size: number): Weighed {
  return { path, group: PACKAGE.exec(path)?.groups?.['name'] ?? '', size: Math.round(size) }
}
