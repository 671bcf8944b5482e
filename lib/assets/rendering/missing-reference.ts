// The errors for references that are not found, with the place where their author wrote them.
import { dirname, join, relative } from 'node:path'
import { AssetError } from '../../errors.ts'
import { readSnapshot, statOf } from '../../files/disk.ts'
import { whyHidden } from '../../files/folder-entries.ts'
import type { Settings } from '../settings/settings.ts'
import type { Asset } from '../sources/sources.ts'
import type { Draft, Text } from './draft.ts'
import { isBare } from './module-references.ts'
import { positionsOf, type Position, type Reference } from './references.ts'

/** At most this many references of compiled text are searched for in its sources. */
const MAX_SEARCHES = 100

/** Where something was written. */
interface Place {
  readonly file: string
  readonly position?: Position | undefined
}

/** The error for a module whose references are not known, and for each reference that is not found. */
export async function referenceErrors(
  { root }: Settings,
  { app, source: { file, compiler } }: Pick<Asset, 'app' | 'source'>,
  { text, map }: Pick<Draft, 'text' | 'map'>,
  missing: readonly Reference[]
): Promise<AssetError[]> {
  if (!text || (missing.length === 0 && text.unparsedAt === undefined)) return []
  const files = [file, ...text.dependencies]
  const isAsWritten = !compiler && map === undefined
  const places = await (isAsWritten ? placesOf(file, text, missing) : searched(files, missing))
  const errorAt = (place: Place | undefined, message: string) =>
    new AssetError('reference-missing', `${shown(root, place ?? { file })} ${message}`)
  const errors = missing.map(async reference => {
    const { path } = reference
    const name = isBare(reference) ? ` (${app.imports.get(path)} by the option imports)` : ''
    const message = `refers to ${path}${name}, which was not found${await ruleFor(path, files)}`
    return errorAt(places.get(path), message)
  })
  if (text.unparsedAt === undefined) return Promise.all(errors)
  const [position] = isAsWritten ? positionsOf(text.code, [text.unparsedAt]) : []
  const message =
    "cannot be parsed as a module, so its imports are not rewritten: write them in another way, or set missing: 'ignore'"
  return [errorAt({ file, position }, message), ...(await Promise.all(errors))]
}

function shown(root: string, { file, position }: Place): string {
  const place = position ? `:${position.line + 1}:${position.column + 1}` : ''
  return relative(root, file) + place
}

/** The rule that hides a file which exists. */
async function ruleFor(path: string, files: readonly string[]): Promise<string> {
  const rule = whyHidden(path)
  if (rule === undefined) return ''
  const found = await Promise.all(files.map(from => statOf(join(dirname(from), path))))
  return found.some(Boolean) ? `: ${rule}` : ''
}

/** By path; of several references with one path, the place of the first. */
async function placesOf(
  file: string,
  { code }: Text,
  missing: readonly Reference[]
): Promise<ReadonlyMap<string, Place>> {
  const starts = missing.map(({ start }) => start)
  const positions = positionsOf(code, starts)
  const places = missing.map(({ path }, at) => [path, { file, position: positions[at] }] as const)
  return new Map(places.toReversed())
}

/** The same for compiled text, whose sources are searched. */
async function searched(
  files: readonly string[],
  missing: readonly Reference[]
): Promise<ReadonlyMap<string, Place>> {
  const places = new Map<string, Place>()
  const read = await Promise.all(files.map(readSnapshot))
  const codes = read.map(one => one && new TextDecoder().decode(one.bytes))
  for (const { path } of missing.slice(0, MAX_SEARCHES)) {
    const offsets = codes.map(code => code?.search(alone(path)) ?? -1)
    const at = offsets.findIndex(offset => offset !== -1)
    const [file, code, offset] = [files[at], codes[at], offsets[at]]
    if (file === undefined || code === undefined || offset === undefined) continue
    places.set(path, { file, position: positionsOf(code, [offset])[0] })
  }
  return places
}

/** The path by itself, not as part of another. */
function alone(path: string): RegExp {
  const literal = path.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)
  return new RegExp(`(?<![\\w./-])${literal}(?![\\w./-])`)
}
