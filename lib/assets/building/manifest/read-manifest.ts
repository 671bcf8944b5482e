// Parses public/assets.json, one piece at a time: it may have any size.
import { readFile } from 'node:fs/promises'
import { atOnce, type Sliced } from '../../../concurrency.ts'
import { AssetError, reasonOf } from '../../../errors.ts'
import { errorCode, ifThere } from '../../../files/disk.ts'
import { isRecord } from '../../../options.ts'
import { readApps } from '../../settings/manifest-file.ts'
import type { ManifestEntries, ManifestEntry } from './entries.ts'
import { Manifest } from './manifest.ts'

const REMEDY = 'run koa-fresh-assets precompile'

/** @param advice what else may be done */
export function manifestMissing(file: string, advice = ''): AssetError {
  return new AssetError('manifest-missing', `there is no manifest ${file}: ${REMEDY}${advice}`)
}

/** @throws AssetError for a missing or invalid manifest: it names the file and the command */
export async function readManifest(file: string): Promise<Manifest> {
  const bytes = await ifThere(readFile(file))
  if (bytes === undefined) throw manifestMissing(file)
  return atOnce(parsing(bytes, file))
}

/** None when the file is missing, or is invalid and about to be replaced. */
export async function readEntries(file: string): Promise<ManifestEntries> {
  try {
    return (await readManifest(file)).assets
  } catch (error) {
    const code = errorCode(error)
    if (code === 'manifest-missing' || code === 'manifest-broken') return new Map()
    throw error
  }
}

/**
 * Parses a manifest. As precompile writes it, that takes a millisecond or two between two pauses.
 *
 * @param maxBytes the maximum size of a manifest in another layout, which is parsed without a pause
 * @throws AssetError for anything but a manifest of version 1
 */
export function* parsing(bytes: Buffer, file: string, maxBytes = Infinity): Sliced<Manifest> {
  try {
    const assets = (yield* parsePieces(bytes)) ?? parseWhole(bytes, maxBytes)
    return new Manifest(assets, file)
  } catch (error) {
    const message = `${file} is not a manifest (${reasonOf(error)}): ${REMEDY}`
    throw new AssetError('manifest-broken', message, { cause: error })
  }
}

// The layout of JSON.stringify with an indentation of two. JSON strings contain no raw newline, so these
// occur only between entries; a piece of any other layout cannot be parsed.
const OPENING = '\n  "assets": {\n'
const ENTRY_END = '\n    },\n'
const CLOSING = '\n  }\n}\n'
const PIECE_BYTES = 64 * 1024

type Entries = Map<string, ManifestEntry>

/** Undefined for a layout other than that of precompile. */
function* parsePieces(bytes: Buffer): Sliced<Entries | undefined> {
  const opening = bytes.indexOf(OPENING)
  const end = bytes.length - CLOSING.length
  if (opening === -1 || bytes.toString('latin1', Math.max(0, end)) !== CLOSING) return undefined
  const assets: Entries = new Map()
  try {
    assetsIn(JSON.parse(`${bytes.toString('utf8', 0, opening)}${OPENING}}}`))
    for (let at = opening + OPENING.length; at < end;) {
      const found = bytes.indexOf(ENTRY_END, at + PIECE_BYTES)
      const pieceEnd = found === -1 ? end : found + ENTRY_END.length - ',\n'.length
      addEntries(assets, JSON.parse(`{${bytes.toString('utf8', at, pieceEnd)}}`))
      at = pieceEnd + ',\n'.length
      yield
    }
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
  return assets
}

function parseWhole(bytes: Buffer, maxBytes: number): Entries {
  if (bytes.length > maxBytes) {
    throw new TypeError(
      `its ${bytes.length} bytes are too many to parse while requests wait, unless it has the layout that precompile writes`
    )
  }
  const entries: Entries = new Map()
  addEntries(entries, assetsIn(JSON.parse(bytes.toString())))
  return entries
}

/** @throws TypeError for another version or shape */
function assetsIn(whole: unknown): object {
  const { version, assets, apps } = (whole ?? {}) as Record<string, unknown>
  if (version !== 1) throw new TypeError(`its version is ${JSON.stringify(version)}, not 1`)
  if (!isRecord(assets)) throw new TypeError('its assets are not an object')
  readApps(apps)
  return assets
}

function addEntries(assets: Entries, read: object): void {
  for (const [path, entry] of Object.entries(read)) {
    if (!isEntry(entry)) throw new TypeError(`the entry ${path} is incomplete`)
    // View helpers decode them: a malformed path must fail here, not on a page.
    decodeURIComponent(path)
    decodeURIComponent(entry.target)
    assets.set(path, entry)
  }
}

function isEntry(value: unknown): value is ManifestEntry {
  const entry = (value ?? {}) as Partial<ManifestEntry>
  const { target, source, integrity, size, imports = [], dynamicImports = [] } = entry
  const typed = typeof target === 'string' && typeof source === 'string' && Number.isInteger(size)
  return typed && [integrity, imports, dynamicImports].every(isListOfStrings)
}

function isListOfStrings(value: unknown): boolean {
  return Array.isArray(value) && value.every(each => typeof each === 'string')
}
