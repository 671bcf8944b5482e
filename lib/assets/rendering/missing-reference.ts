// The errors for references that are not found, with the place where their author wrote them.
import { dirname, join, relative } from 'node:path'
import { AssetError } from '../../errors.ts'
import { readSnapshot } from '../../files/open-file.ts'
import { statOf } from '../../files/disk.ts'
import { whyHidden } from '../../files/folder-entries.ts'
import type { Settings } from '../settings/settings.ts'
import type { Asset } from '../sources/sources.ts'
import type { Draft } from './draft.ts'
import { isBare } from '../references/module-references.ts'
import { positionsOf, type Reference } from '../references/references.ts'

/** At most this many references of compiled text are searched for in its sources. */
const MAX_SEARCHES = 100

/** The error for a module whose references are not known, and for each path that is not found. */
export async function referenceErrors(
  { root }: Settings,
  { app, source: { file, compiler } }: Pick<Asset, 'app' | 'source'>,
  { text, map }: Pick<Draft, 'text' | 'map'>,
  missing: readonly Reference[]
): Promise<AssetError[]> {
  if (!text || (missing.length === 0 && text.unparsedAt === undefined)) return []
  const { code, dependencies, unparsedAt } = text
  const files = [file, ...dependencies]
  const isAsWritten = !compiler && map === undefined
  const placesIn: PlacesIn = (path, whole, offsets) =>
    positionsOf(whole, offsets).map(
      ({ line, column }) => `${relative(root, path)}:${line + 1}:${column + 1}`
    )
  const errorAt = (place: string | undefined, message: string) =>
    new AssetError('reference-missing', `${place ?? relative(root, file)} ${message}`)
  const paths = new Set<string>()
  const lost = missing.filter(({ path }) => !paths.has(path) && paths.add(path))
  const places = isAsWritten
    ? placesIn(
        file,
        code,
        lost.map(({ start }) => start)
      )
    : await placesInSources(files, lost.slice(0, MAX_SEARCHES), placesIn)
  const errors = await Promise.all(
    lost.map(async (reference, at) => {
      const { path } = reference
      const name = isBare(reference) ? ` (${app.imports.get(path)} by the option imports)` : ''
      const message = `refers to ${path}${name}, which was not found${await ruleFor(path, files)}`
      return errorAt(places[at], message)
    })
  )
  if (unparsedAt === undefined) return errors
  const [place] = isAsWritten ? placesIn(file, code, [unparsedAt]) : []
  const message =
    "cannot be parsed as a module, so its imports are not rewritten: write them in another way, or set missing: 'ignore'"
  return [errorAt(place, message), ...errors]
}

/** `apps/web/assets/app.css:12:3` for each offset. */
type PlacesIn = (path: string, code: string, offsets: readonly number[]) => string[]

/** The rule that hides a file which exists. */
async function ruleFor(path: string, files: readonly string[]): Promise<string> {
  const rule = whyHidden(path)
  if (rule === undefined) return ''
  const found = await Promise.all(files.map(from => statOf(join(dirname(from), path))))
  return found.some(Boolean) ? `: ${rule}` : ''
}

/** Where references of compiled text stand in the files that it was made from. */
async function placesInSources(
  files: readonly string[],
  lost: readonly Reference[],
  placesIn: PlacesIn
): Promise<(string | undefined)[]> {
  const read = await Promise.all(files.map(readSnapshot))
  const codes = read.map(one => (one ? new TextDecoder().decode(one.bytes) : ''))
  return lost.map(({ path }) => {
    const literal = path.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)
    // By itself, not as part of a longer path.
    const alone = new RegExp(`(?<![\\w./-])${literal}(?![\\w./-])`)
    const found = files.flatMap((file, at) => {
      const code = codes[at] ?? ''
      const offset = code.search(alone)
      return offset === -1 ? [] : placesIn(file, code, [offset])
    })
    return found[0]
  })
}
