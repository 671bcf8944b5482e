// From the bytes of public/assets.json to a manifest, a piece at a time, since it may be of any size.
import { readFile } from 'node:fs/promises'
import { AssetError, reasonOf } from '../../../errors.ts'
import { ifThere } from '../../../files/disk.ts'
import { readApps } from '../../settings/manifest-file.ts'
import { Manifest, type ManifestEntry } from './manifest.ts'
import { Digester } from '../../../files/digest.ts'
import { atOnce, type Sliced } from '../../../concurrency.ts'

const REMEDY = 'run koa-fresh-assets precompile'

export function manifestMissing(file: string): AssetError {
  return new AssetError('manifest-missing', `there is no manifest ${file}: ${REMEDY}`)
}

/** @throws AssetError for a file that is missing or broken: it names the file and the command */
export async function readManifest(file: string): Promise<Manifest> {
  const bytes = await ifThere(readFile(file))
  if (bytes === undefined) throw manifestMissing(file)
  return atOnce(parsing(bytes, file))
}

/**
 * Parses a manifest; what precompile wrote takes a millisecond or two between two stops.
 *
 * @param maxBytes of one that is laid out otherwise, and so has to be parsed as a whole
 * @throws AssetError for anything but a manifest of version 1
 */
export function* parsing(bytes: Buffer, file: string, maxBytes = Infinity): Sliced<Manifest> {
  try {
    const assets = (yield* parsePieces(bytes)) ?? parseWhole(bytes, maxBytes)
    return new Manifest(assets, { file, version: yield* digesting(bytes) })
  } catch (error) {
    const message = `${file} is no manifest (${reasonOf(error)}): ${REMEDY}`
    throw new AssetError('manifest-broken', message, { cause: error })
  }
}

// As JSON.stringify lays it out with two blanks of indentation. No string in JSON holds a newline as
// it is, so that these are found between entries alone; a piece of anything else cannot be parsed.
const OPENING = '\n  "assets": {\n'
const ENTRY_END = '\n    },\n'
const CLOSING = '\n  }\n}\n'
const PIECE_BYTES = 64 * 1024

type Entries = Map<string, ManifestEntry>

/** Undefined for another layout than that of precompile. */
function* parsePieces(bytes: Buffer): Sliced<Entries | undefined> {
  const opening = bytes.indexOf(OPENING)
  const end = bytes.length - CLOSING.length
  if (opening === -1 || bytes.toString('latin1', Math.max(0, end)) !== CLOSING) return undefined
  const assets: Entries = new Map()
  try {
    checkHead(JSON.parse(`${bytes.toString('utf8', 0, opening)}${OPENING}}}`))
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
      `with ${bytes.length} bytes it is too long to be read while requests wait, unless it is laid out as precompile writes it`
    )
  }
  const whole: unknown = JSON.parse(bytes.toString())
  checkHead(whole)
  const entries: Entries = new Map()
  addEntries(entries, (whole as { assets: object }).assets)
  return entries
}

function checkHead(whole: unknown): void {
  const { version, assets, apps } = (whole ?? {}) as Record<string, unknown>
  if (version !== 1) throw new TypeError(`its version is ${JSON.stringify(version)}, not 1`)
  if (typeof assets !== 'object' || assets === null || Array.isArray(assets)) {
    throw new TypeError('its assets are no object')
  }
  readApps({ apps })
}

function addEntries(assets: Entries, read: object): void {
  for (const [path, entry] of Object.entries(read)) {
    if (!isEntry(entry)) throw new TypeError(`the entry ${path} is incomplete`)
    // Helpers decode them: better now than on a page.
    decodeURIComponent(path)
    decodeURIComponent(entry.target)
    assets.set(path, entry)
  }
}

function isEntry(value: unknown): value is ManifestEntry {
  const { target, source, integrity, size } = (value ?? {}) as Partial<ManifestEntry>
  const typed = typeof target === 'string' && typeof source === 'string' && Number.isInteger(size)
  return typed && Array.isArray(integrity) && integrity.every(hash => typeof hash === 'string')
}

const HASHED_BYTES = 4 * 1024 * 1024

function* digesting(bytes: Buffer): Sliced<string> {
  const digester = new Digester()
  for (let at = 0; at < bytes.length; at += HASHED_BYTES) {
    digester.update(bytes.subarray(at, at + HASHED_BYTES))
    yield
  }
  return digester.finish()
}
