// Reads Vite's manifest: `build.manifest`, written to `.vite/manifest.json`.
import { isRecord } from '../../../runtime/check-options.ts'
import { LEGACY } from '../entry-source.ts'
import {
  bundleOf,
  fileBelow,
  HASHES,
  isCss,
  loadedAs,
  loadedWith,
  stemOf,
  type Chunk,
  type Chunks,
  type Json,
  type LoadedFile
} from './bundle.ts'

// @vitejs/plugin-legacy writes these keys, relative to Vite's root: `../../vite/legacy-polyfills`.
const POLYFILLS = /(?:^|\/)vite\/legacy-polyfills$/
const LEGACY_POLYFILLS = /(?:^|\/)vite\/legacy-polyfills-legacy$/

export function readVite(manifest: Json) {
  const given = Object.entries(manifest).flatMap(([key, value]) =>
    isRecord(value) && typeof value['file'] === 'string' ? [[key, value] as const] : []
  )
  if (given.length === 0 || given.length < Object.keys(manifest).length) return undefined
  const chunks: Chunks = new Map(given.map(([key, chunk]) => [key, readChunk(key, chunk)]))
  const named = (test: (chunk: Json) => boolean) =>
    new Map(given.flatMap(([key, chunk]) => (test(chunk) ? [[key, key] as const] : [])))
  const entries = named(({ isEntry }) => isEntry === true)
  const lazy = named(chunk => chunk['isDynamicEntry'] === true && chunk['isEntry'] !== true)
  // `build.cssCodeSplit: false` makes one stylesheet, which belongs to every page, and to no chunk.
  const isSplit = [...chunks.values()].some(({ stylesheets }) => stylesheets.length > 0)
  const style = isSplit || entries.has('style.css') ? undefined : chunks.get('style.css')
  const common = style ? [style.file] : []
  const known = { entries, lazy, common, hash: HASHES.vite }
  return {
    ...bundleOf(chunks, known, key => entryOf(chunks, key, common)),
    isVite: true,
    sources: new Map(Array.from(chunks, ([key, { file }]) => [key, file]))
  }
}

function readChunk(key: string, chunk: Json): Chunk {
  const { file, name, src, imports, css, assets } = chunk
  // A shared stylesheet's key is its file, not a source: `_shared-<hash>.css`.
  const source = typeof src === 'string' && !key.startsWith('_') ? src : ''
  // The stylesheet `app.css.scss` has the name `app.css`, and the file `app-<hash>.css`.
  const own = typeof name === 'string' && isCss(String(file)) ? name.replace(/\.css$/, '') : name
  const plain = typeof own === 'string' ? `${own}.` : source
  const texts = (value: unknown, what: string): readonly string[] => {
    if (value === undefined) return []
    if (Array.isArray(value) && value.every(each => typeof each === 'string')) return value
    throw new TypeError(`${what} of ${key} is not a list of strings`)
  }
  return {
    file: fileBelow(file),
    stem: stemOf(plain),
    imports: texts(imports, 'imports'),
    stylesheets: texts(css, 'css').map(fileBelow),
    assets: texts(assets, 'assets').map(fileBelow)
  }
}

function entryOf(chunks: Chunks, name: string, common: readonly string[]): LoadedFile[] {
  const { file = '', stem } = chunks.get(name) ?? {}
  const withPolyfills = (polyfills: RegExp) => [
    ...[...chunks.keys()].filter(key => polyfills.test(key) && key !== name),
    name
  ]
  // The plugin adds it to the key and the file of `src/main.ts`, but not to the name.
  const isLegacy = LEGACY.test(name) && stemOf(file).startsWith(`${stem}-legacy`)
  if (!isLegacy) return loadedWith(chunks, isCss(file) ? [name] : withPolyfills(POLYFILLS), common)
  // The polyfills contain SystemJS, which imports an anonymous `System.register` of the script that is being parsed,
  // so neither script may be deferred. Without modern chunks (`renderModernChunks: false`) they are for all browsers.
  const kind = chunks.has(name.replace(LEGACY, '')) ? 'nomodule' : 'blocking'
  const scripts = withPolyfills(LEGACY_POLYFILLS).flatMap(key => chunks.get(key)?.file ?? [])
  return loadedAs(kind, scripts)
}
