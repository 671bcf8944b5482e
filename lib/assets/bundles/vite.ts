// Vite's manifest: `build.manifest`, written to `.vite/manifest.json`.
import { isRecord } from '../../options.ts'
import {
  fileBelow,
  records,
  texts,
  type Json,
  type Bundle,
  type BundleEntry,
  type BundleScript
} from './bundle.ts'
import { importOrder } from '../views/module-graph.ts'
import { HASHES, hashedAmong, stemOf, type NamedFile } from './hashed-names.ts'

interface Chunk {
  readonly key: string
  readonly file: string
  /** The name before a hash was added, without extension; undefined when not known. */
  readonly stem: string | undefined
  readonly isEntry: boolean
  readonly imports: readonly string[]
  readonly stylesheets: readonly string[]
  readonly assets: readonly string[]
}

type Chunks = ReadonlyMap<string, Chunk>

// Keys that @vitejs/plugin-legacy writes. Those of polyfills are relative to Vite's root, as if they were
// files of the directory in which Vite was started: `../../vite/legacy-polyfills`.
const POLYFILLS = /(?:^|\/)vite\/legacy-polyfills$/
const LEGACY_POLYFILLS = /(?:^|\/)vite\/legacy-polyfills-legacy$/
/** In the names of entries, of @vitejs/plugin-legacy. */
export const LEGACY = /-legacy(?=\.[^./]*$|$)/

export function readVite(manifest: Json): Bundle | undefined {
  const values = Object.values(manifest)
  const isVite = values.every(value => isRecord(value) && typeof value['file'] === 'string')
  if (!isVite || values.length === 0) return undefined
  const chunks: Chunks = new Map(
    records(manifest, 'chunk').map(([key, chunk]) => [key, readChunk(key, chunk)])
  )
  const all = [...chunks.values()]
  const names = all.filter(({ isEntry }) => isEntry).map(({ key }) => key)
  const common = commonStylesheet(chunks)
  const reached = [...graphOf(chunks, names)]
  return {
    names,
    entry: name => (chunks.get(name)?.isEntry ? entryOf(chunks, name, common) : undefined),
    tagged: new Set(reached.flatMap(chunk => [chunk.file, ...chunk.stylesheets]).concat(common)),
    files: new Set(
      all.flatMap(({ file, stylesheets, assets }) => [file, ...stylesheets, ...assets])
    ),
    hashed: hashedAmong([all.flatMap(namedFiles)], HASHES.vite)
  }
}

function readChunk(key: string, chunk: Json): Chunk {
  const { file, name, src, isEntry } = chunk
  // A shared stylesheet's key is its file, not a source: `_shared-<hash>.css`.
  const source = typeof src === 'string' && !key.startsWith('_') ? src : undefined
  const plain = typeof name === 'string' ? `${name}.` : source
  return {
    key,
    file: fileBelow(file),
    stem: plain === undefined ? undefined : stemOf(plain),
    isEntry: isEntry === true,
    imports: texts(chunk['imports'], `imports of ${key}`),
    stylesheets: texts(chunk['css'], `css of ${key}`).map(fileBelow),
    assets: texts(chunk['assets'], `assets of ${key}`).map(fileBelow)
  }
}

/** Vite names a chunk's stylesheet after the chunk. */
function namedFiles({ file, stem, stylesheets }: Chunk): NamedFile[] {
  return stem === undefined ? [] : [file, ...stylesheets].map(each => [each, stem])
}

/** With `build.cssCodeSplit: false`, the only stylesheet belongs to every page, and to no chunk. */
function commonStylesheet(chunks: Chunks): readonly string[] {
  const style = chunks.get('style.css')
  const isSplit = [...chunks.values()].some(({ stylesheets }) => stylesheets.length > 0)
  return style && !style.isEntry && !isSplit ? [style.file] : []
}

function graphOf(chunks: Chunks, keys: Iterable<string>): Set<Chunk> {
  const chunkAt = (key: string): Chunk => {
    const chunk = chunks.get(key)
    if (chunk) return chunk
    throw new TypeError(`${key} is imported but missing`)
  }
  return importOrder(Array.from(keys, chunkAt), ({ imports }) => imports.map(chunkAt))
}

function entryOf(chunks: Chunks, name: string, common: readonly string[]): BundleEntry {
  if (isLegacy(chunks.get(name))) return legacyEntry(chunks, name)
  const isScript = !isCss(chunks.get(name)?.file ?? '')
  const starts = [...(isScript ? keysLike(chunks, POLYFILLS) : []), name]
  const graph = [...graphOf(chunks, starts)]
  const files = graph.filter(({ file }) => !isCss(file)).map(({ file }) => file)
  const scripts = starts.flatMap(key => chunks.get(key)?.file ?? []).filter(file => !isCss(file))
  const css = graph.flatMap(({ file, stylesheets }) => [
    ...stylesheets,
    ...(isCss(file) ? [file] : [])
  ])
  return {
    stylesheets: [...new Set([...common, ...css])],
    scripts: scripts.map((file): BundleScript => ({ file, kind: 'module' })),
    preloads: files.filter(file => !scripts.includes(file))
  }
}

/** Both the key and the file of `src/main.ts` say it, but not the name: `src/main-legacy.ts`. */
function isLegacy(chunk: Chunk | undefined): boolean {
  if (!chunk || !LEGACY.test(chunk.key)) return false
  return stemOf(chunk.file).startsWith(`${chunk.stem}-legacy`)
}

/**
 * The polyfills contain SystemJS, which imports an anonymous `System.register` of the script that the
 * parser is at: so neither script may be deferred. They have no stylesheets of their own. Without modern
 * chunks (`renderModernChunks: false`) they are for all browsers.
 */
function legacyEntry(chunks: Chunks, name: string): BundleEntry {
  const kind = chunks.has(name.replace(LEGACY, '')) ? 'nomodule' : 'blocking'
  const keys = new Set([...keysLike(chunks, LEGACY_POLYFILLS), name])
  const scripts = [...keys].flatMap(key => chunks.get(key)?.file ?? [])
  return { stylesheets: [], scripts: scripts.map(file => ({ file, kind })), preloads: [] }
}

function keysLike(chunks: Chunks, pattern: RegExp): string[] {
  return [...chunks.keys()].filter(key => pattern.test(key))
}

function isCss(file: string): boolean {
  return file.endsWith('.css')
}
