// The errors for references that are not found, with the place where their author wrote them.
import { dirname, join, relative } from 'node:path'
import { AssetError } from '../../errors.ts'
import { readSnapshot, statOf } from '../../files/disk.ts'
import { whyHidden } from '../../files/folder-entries.ts'
import type { Settings } from '../settings/settings.ts'
import type { Asset } from '../sources/sources.ts'
import type { Draft, Text } from './draft.ts'
import { isBare } from './module-references.ts'
import type { Reference } from './references.ts'
import { positionsOf, type Position } from './text-position.ts'

/** At most this many references of compiled text are searched for in its sources. */
const MAX_SEARCHES = 100

/** Makes the errors of one asset. Several references with one path get the place of the first. */
export function makeMissingReference(
  { root }: Settings,
  { app, source: { file, compiler } }: Pick<Asset, 'app' | 'source'>,
  text: Text,
  map: Draft['map']
): (reference: Reference) => Promise<AssetError> {
  const isAsWritten = !compiler && map === undefined
  let places: ReturnType<typeof placesOf> | undefined
  let sources: ReturnType<typeof readAll> | undefined
  let searches = 0

  const placeOf = async (path: string): Promise<string> => {
    if (isAsWritten) {
      places ??= placesOf(text)
      return shown(file, places.get(path))
    }
    if (searches++ >= MAX_SEARCHES) return shown(file)
    sources ??= readAll([file, ...text.dependencies])
    for (const { file: candidate, code } of await sources) {
      const offset = code.search(alone(path))
      if (offset !== -1) return shown(candidate, positionsOf(code, [offset])[0])
    }
    return shown(file)
  }

  const shown = (path: string, position?: Position) => placeIn(root, path, position)

  /** The rule that hides a file which exists. */
  const ruleFor = async (path: string): Promise<string> => {
    const rule = whyHidden(path)
    if (rule === undefined) return ''
    const files = [file, ...text.dependencies].map(from => statOf(join(dirname(from), path)))
    return (await Promise.all(files)).some(Boolean) ? `: ${rule}` : ''
  }

  return async reference => {
    const { path } = reference
    const place = await placeOf(path)
    const name = isBare(reference) ? ` (${app.imports.get(path)} by the option imports)` : ''
    return new AssetError(
      'reference-missing',
      `${place} refers to ${path}${name}, which was not found${await ruleFor(path)}`
    )
  }
}

/** The error for a module whose references are not known. */
export function unparsedModule(
  { root }: Settings,
  { source: { file, compiler } }: Pick<Asset, 'source'>,
  { code, unparsedAt }: Text,
  map: Draft['map']
): AssetError | undefined {
  if (unparsedAt === undefined) return undefined
  const isAsWritten = !compiler && map === undefined
  const [position] = isAsWritten ? positionsOf(code, [unparsedAt]) : []
  return new AssetError(
    'reference-missing',
    `${placeIn(root, file, position)} cannot be parsed as a module, so its imports are not rewritten: write them in another way, or set missing: 'ignore'`
  )
}

function placeIn(root: string, file: string, position?: Position): string {
  const place = position ? `:${position.line + 1}:${position.column + 1}` : ''
  return relative(root, file) + place
}

function placesOf({ code, references }: Text): ReadonlyMap<string, Position | undefined> {
  const starts = references.map(({ start }) => start)
  const positions = positionsOf(code, starts)
  const places = references.map(({ path }, at) => [path, positions[at]] as const)
  return new Map(places.toReversed())
}

async function readAll(files: readonly string[]) {
  const read = await Promise.all(files.map(readSnapshot))
  return files.flatMap((file, at) => {
    const bytes = read[at]?.bytes
    return bytes ? { file, code: new TextDecoder().decode(bytes) } : []
  })
}

/** The path by itself, not as part of another. */
function alone(path: string): RegExp {
  const literal = path.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)
  return new RegExp(`(?<![\\w./-])${literal}(?![\\w./-])`)
}
