// Vite's manifest: `build.manifest`, written to `.vite/manifest.json`.
import { isRecord } from '../../options.ts'
import {
  fileBelow,
  graphOf,
  records,
  texts,
  usedFrom,
  type Bundle,
  type BundleEntry,
  type Json
} from './bundle.ts'
import { HASHES, hashedAmong, stemOf } from './hashed-names.ts'

interface Chunk {
  readonly file: string
  /** The name before a hash was added, without extension; undefined when not known. */
  readonly stem: string | undefined
  readonly isEntry: boolean
  readonly imports: readonly string[]
  /** Imports of any kind. */
  readonly uses: readonly string[]
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
  const names = [...chunks].filter(([, { isEntry }]) => isEntry).map(([key]) => key)
  // With `build.cssCodeSplit: false`, the only stylesheet belongs to every page, and to no chunk.
  const style = all.some(({ stylesheets }) => stylesheets.length > 0)
    ? undefined
    : chunks.get('style.css')
  const common = style && !style.isEntry ? [style.file] : []
  const reached = graphOf(chunks, names)
  return {
    names,
    entry: name => (chunks.get(name)?.isEntry ? entryOf(chunks, name, common) : undefined),
    usedBy: name =>
      usedFrom(chunks, [name]).flatMap(({ file, stylesheets, assets }) => [
        file,
        ...stylesheets,
        ...assets
      ]),
    sources: new Map(Array.from(chunks, ([key, { file }]) => [key, file])),
    tagged: new Set(reached.flatMap(chunk => [chunk.file, ...chunk.stylesheets]).concat(common)),
    files: new Set(
      all.flatMap(({ file, stylesheets, assets }) => [file, ...stylesheets, ...assets])
    ),
    hashed: hashedAmong(
      [
        // Vite names a chunk's stylesheet after the chunk.
        all.flatMap(({ file, stem, stylesheets }) =>
          stem === undefined ? [] : [file, ...stylesheets].map(each => [each, stem] as const)
        )
      ],
      HASHES.vite
    )
  }
}

function readChunk(
  key: string,
  { file, name, src, isEntry, imports, css, assets, ...rest }: Json
): Chunk {
  // A shared stylesheet's key is its file, not a source: `_shared-<hash>.css`.
  const source = typeof src === 'string' && !key.startsWith('_') ? src : undefined
  const plain = typeof name === 'string' ? `${name}.` : source
  return {
    file: fileBelow(file),
    stem: plain === undefined ? undefined : stemOf(plain),
    isEntry: isEntry === true,
    imports: texts(imports, `imports of ${key}`),
    uses: [imports, rest['dynamicImports']].flatMap(each => texts(each, `imports of ${key}`)),
    stylesheets: texts(css, `css of ${key}`).map(fileBelow),
    assets: texts(assets, `assets of ${key}`).map(fileBelow)
  }
}

function entryOf(chunks: Chunks, name: string, common: readonly string[]): BundleEntry {
  const entry = chunks.get(name)
  // Both the key and the file of `src/main.ts` say it, but not the name: `src/main-legacy.ts`.
  const isLegacy =
    LEGACY.test(name) && stemOf(entry?.file ?? '').startsWith(`${entry?.stem}-legacy`)
  if (isLegacy) return legacyEntry(chunks, name)
  const starts = [...(isCss(entry?.file ?? '') ? [] : keysLike(chunks, POLYFILLS)), name]
  const graph = graphOf(chunks, starts)
  const css = graph.flatMap(({ file, stylesheets }) => [
    ...stylesheets,
    ...(isCss(file) ? [file] : [])
  ])
  const scripts = filesAt(chunks, starts).filter(file => !isCss(file))
  return {
    stylesheets: [...new Set([...common, ...css])],
    scripts: scripts.map(file => ({ file, kind: 'module' })),
    preloads: graph.map(({ file }) => file).filter(file => !isCss(file) && !scripts.includes(file))
  }
}

/**
 * The polyfills contain SystemJS, which imports an anonymous `System.register` of the script that the
 * parser is at: so neither script may be deferred. They have no stylesheets of their own. Without modern
 * chunks (`renderModernChunks: false`) they are for all browsers.
 */
function legacyEntry(chunks: Chunks, name: string): BundleEntry {
  const kind = chunks.has(name.replace(LEGACY, '')) ? 'nomodule' : 'blocking'
  const scripts = filesAt(chunks, new Set([...keysLike(chunks, LEGACY_POLYFILLS), name]))
  return { stylesheets: [], scripts: scripts.map(file => ({ file, kind })), preloads: [] }
}

function keysLike(chunks: Chunks, pattern: RegExp): string[] {
  return [...chunks.keys()].filter(key => pattern.test(key))
}

function filesAt(chunks: Chunks, keys: Iterable<string>): string[] {
  return [...keys].flatMap(key => chunks.get(key)?.file ?? [])
}

function isCss(file: string): boolean {
  return file.endsWith('.css')
}
