// One page of the list of assets, and what it says about each of them.
import { relative } from 'node:path'
import { CODINGS } from '../../../files/codings.ts'
import { DIGEST_PATTERN } from '../../../files/digest.ts'
import { statOf, type Stamp } from '../../../files/disk.ts'
import { mediaTypeOf } from '../../../http/media-type.ts'
import type { Place } from '../../building/places.ts'
import type { Pipeline } from '../../pipeline.ts'
import { wantedAt } from '../../serving/request-path.ts'
import { publicFile } from '../../settings/public-directory.ts'
import { encodePath } from '../../urls/encode.ts'
import { splitFingerprint } from '../../urls/fingerprint.ts'
import type { Problem, State, Survey } from './survey.ts'

export interface Row {
  /** The plain URL path, encoded. */
  readonly path: string
  readonly name: string
  readonly app: string
  /** Relative to the project root, like all files here. */
  readonly source: string
  /** Undefined until the asset has been looked at. */
  readonly state: State | undefined
  readonly problems: readonly Problem[]
  /** The URL path that pages ask for, encoded. */
  readonly url: string
  /** The published file; undefined when there is none. */
  readonly target: string | undefined
  /** Of the target; undefined for a file that is too large for memory. */
  readonly digest: string | undefined
  /** In bytes, by content coding. */
  readonly sizes: Readonly<Record<string, number>>
  /** Plain URL paths, encoded. */
  readonly refersTo: readonly string[]
  readonly referredBy: readonly string[]
  /** Sources of the same name that are not used. */
  readonly shadowed: readonly string[]
  /** Shorter names that find this asset. */
  readonly tails: readonly string[]
  /** Shorter names that find nothing, because several sources have them. */
  readonly ambiguous: readonly string[]
  readonly isImage: boolean
}

export interface Question {
  /** Part of a path or of a source's path. */
  readonly text: string
  /** A state, or `problems`. */
  readonly state: string
  /** From 1. */
  readonly page: number
}

export interface Overview {
  readonly root: string
  readonly env: string
  /** How many assets have been looked at, of all. */
  readonly surveyed: number
  readonly total: number
  /** Of all assets, by state; and those with problems. */
  readonly counts: Readonly<Record<string, number>>
  readonly question: Question
  /** How many assets the question finds. */
  readonly found: number
  readonly pages: number
  /** Those with problems first, then in the order of paths. */
  readonly assets: readonly Row[]
}

const ROWS = 100
const DIGEST = new RegExp(DIGEST_PATTERN)

export function overviewOf(pipeline: Pipeline, survey: Survey) {
  const rowOf = rowMaker(pipeline, survey)
  return async (question: Question): Promise<Overview> => {
    const { root, env } = pipeline.settings
    const counts: Record<string, number> = {}
    let surveyed = 0
    const [troubled, others]: [Place[], Place[]] = [[], []]
    for (const [path, place] of survey.places) {
      const { state, problems = [] } = survey.get(path) ?? {}
      const isTroubled = problems.length > 0
      const states = [...(state ? [state] : []), ...(isTroubled ? ['problems'] : [])]
      if (state) surveyed++
      for (const name of states) counts[name] = (counts[name] ?? 0) + 1
      const isAsked = question.state === '' || states.includes(question.state)
      if (isAsked && matches(place, question, root)) (isTroubled ? troubled : others).push(place)
    }
    const found = [...troubled, ...others]
    const pages = Math.max(1, Math.ceil(found.length / ROWS))
    const page = Math.min(question.page, pages)
    const shown = found.slice((page - 1) * ROWS, page * ROWS)
    return {
      root,
      env,
      surveyed,
      total: survey.places.size,
      counts,
      question: { ...question, page },
      found: found.length,
      pages,
      assets: await Promise.all(shown.map(rowOf))
    }
  }
}

function matches({ path, source }: Place, { text }: Question, root: string): boolean {
  if (text === '') return true
  const wanted = text.toLowerCase()
  // Without path.relative, which takes a while for thousands of files.
  const file = source.file.startsWith(root) ? source.file.slice(root.length + 1) : source.file
  return path.toLowerCase().includes(wanted) || file.toLowerCase().includes(wanted)
}

export function rowMaker(pipeline: Pipeline, survey: Survey) {
  const { settings, sources } = pipeline
  const shown = (file: string) => relative(settings.root, file)
  return async (place: Place): Promise<Row> => {
    const { app, name, path, source } = place
    const url = pipeline.manifestOf(app)?.entries.get(encodePath(path))?.target ?? encodePath(path)
    const urlPath = decodeURIComponent(url)
    const file = publicFile(settings, urlPath)
    const served = await pipeline.directories.public.find(wantedAt(urlPath, settings))
    const stats = await statOf(file)
    const target = stats?.isFile() ? stats : undefined
    const tails = app.tails ? sources.of(app).tailsOf(source) : []
    const seen = await survey.current(place)
    return {
      path: encodePath(path),
      name,
      app: app.name,
      source: shown(source.file),
      state: seen?.state,
      problems: seen?.problems ?? [],
      url,
      target: target && shown(file),
      digest:
        splitFingerprint(url)?.digest ?? DIGEST.exec(served?.representations[0].etag ?? '')?.[0],
      sizes: target ? await sizesOf(file, target) : {},
      refersTo: seen?.refersTo.map(encodePath) ?? [],
      referredBy: survey.referredBy(path).map(encodePath),
      shadowed: [...place.rivals, ...place.shadowed].map(other => shown(other.file)),
      tails: tails.flatMap(({ name, finds }) => (finds === 'this source' ? [name] : [])),
      ambiguous: tails.flatMap(({ name, finds }) => (finds === 'ambiguous' ? [name] : [])),
      isImage: isImage(place)
    }
  }
}

/** Whether the source itself can be shown. */
export function isImage({ name, source }: Place): boolean {
  return !source.compiler && (mediaTypeOf(name)?.startsWith('image/') ?? false)
}

/** A copy that is older than its original is not served. */
async function sizesOf(file: string, { size, mtimeNs }: Stamp): Promise<Record<string, number>> {
  const sizes: Record<string, number> = { identity: Number(size) }
  for (const { name, extension } of CODINGS) {
    const copy = await statOf(file + extension)
    if (copy?.isFile() && copy.mtimeNs >= mtimeNs) sizes[name] = Number(copy.size)
  }
  return sizes
}
