// What is said of a reference that is not found: where it stands, as its author wrote it.
import { relative } from 'node:path'
import { AssetError } from '../../errors.ts'
import { readSnapshot } from '../../files/disk.ts'
import type { Reference } from './references.ts'
import type { Draft } from './draft.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'
import type { Source } from '../sources/catalog.ts'

/** Of what was compiled, so many references at most are searched for in the sources. */
const MAX_SEARCHES = 100

/** Makes the error for each missing reference of one asset; of several with one path, the first is named. */
export function makeMissingReference(
  { root }: Settings,
  source: Source,
  { text, map }: Pick<Draft, 'text' | 'map'>
): (reference: Reference) => Promise<AssetError> {
  const isAsWritten = !source.compiler && map === undefined
  const files = [source.file, ...(text?.dependencies ?? [])]
  let offsets: ReadonlyMap<string, number> | undefined
  let sources: Promise<readonly Located[]> | undefined
  let searches = 0

  const placeOf = async (path: string): Promise<string> => {
    if (isAsWritten && text) {
      sources ??= Promise.resolve([locate(source.file, text.code)])
      offsets ??= firstOffsets(text.references)
    } else if (searches++ < MAX_SEARCHES) sources ??= readAll(files)
    else return relative(root, source.file)
    for (const { file, code, placeAt } of (await sources) ?? []) {
      const at = offsets?.get(path) ?? code.search(asWritten(path))
      if (at !== -1) return `${relative(root, file)}:${placeAt(at)}`
    }
    return relative(root, source.file)
  }

  return async ({ path }) => {
    const message = `${await placeOf(path)} refers to ${path}, which is not found`
    return new AssetError('reference-missing', message)
  }
}

/** A map that is not there is nobody's mistake who edits the text. */
export function isReported({ missing }: AppSettings, { kind }: Reference): boolean {
  return kind !== 'source-map' && missing !== 'ignore'
}

interface Located {
  readonly file: string
  readonly code: string
  /** `line:column`, both from 1. */
  readonly placeAt: (offset: number) => string
}

async function readAll(files: readonly string[]): Promise<readonly Located[]> {
  const read = await Promise.all(files.map(readSnapshot))
  return files.flatMap((file, at) => {
    const bytes = read[at]?.bytes
    return bytes ? locate(file, new TextDecoder().decode(bytes)) : []
  })
}

function locate(file: string, code: string): Located {
  const starts = [0, ...Array.from(code.matchAll(/\n/g), ({ index }) => index + 1)]
  const placeAt = (offset: number) => {
    let [low, high] = [0, starts.length]
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle
    }
    return `${low + 1}:${offset - (starts[low] ?? 0) + 1}`
  }
  return { file, code, placeAt }
}

function firstOffsets(references: readonly Reference[]): ReadonlyMap<string, number> {
  const offsets = new Map<string, number>()
  for (const { path, start } of references) if (!offsets.has(path)) offsets.set(path, start)
  return offsets
}

/** The path by itself, not as a part of another. */
function asWritten(path: string): RegExp {
  const literal = path.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)
  return new RegExp(`(?<![\\w./-])${literal}(?![\\w./-])`)
}
