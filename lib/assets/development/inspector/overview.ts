// One page of the list of assets, and what it says about each of them.
import { relative } from 'node:path'
import { DIGEST_PATTERN } from '../../../files/digest.ts'
import { mediaTypeOf } from '../../../http/fields.ts'
import type { Place } from '../../building/places.ts'
import type { Pipeline } from '../../pipeline.ts'
import { wantedAt } from '../../serving/request-path.ts'
import { encodePath } from '../../urls/encode.ts'
import { splitFingerprint } from '../../urls/fingerprint.ts'
import type { Survey } from './survey.ts'

export interface Question {
  /** Part of a path or of a source's path. */
  readonly text: string
  /** A state, or `problems`. */
  readonly state: string
  /** From 1. */
  readonly page: number
}

const ROWS = 100
const DIGEST = new RegExp(DIGEST_PATTERN)

export type Overview = Awaited<ReturnType<ReturnType<typeof overviewOf>>>

export function overviewOf(pipeline: Pipeline, survey: Survey) {
  const rowOf = rowMaker(pipeline, survey)
  return async (question: Question) => {
    const { root, env } = pipeline.settings
    const all = Array.from(survey.places, ([path, place]) => {
      const { state, problems = [] } = survey.get(path) ?? {}
      const isTroubled = problems.length > 0
      return { place, isTroubled, states: [state ?? [], isTroubled ? 'problems' : []].flat() }
    })
    const states = all.flatMap(each => each.states)
    const counts: Record<string, number> = {}
    for (const name of states) counts[name] = (counts[name] ?? 0) + 1
    const found = all
      .filter(({ states }) => question.state === '' || states.includes(question.state))
      .filter(({ place }) => matches(place, question, root))
      .toSorted((a, b) => Number(b.isTroubled) - Number(a.isTroubled))
    const pages = Math.max(1, Math.ceil(found.length / ROWS))
    const page = Math.min(question.page, pages)
    const shown = found.slice((page - 1) * ROWS, page * ROWS)
    return {
      root,
      env,
      surveyed: states.filter(name => name !== 'problems').length,
      total: survey.places.size,
      counts,
      question: { ...question, page },
      found: found.length,
      pages,
      assets: await Promise.all(shown.map(({ place }) => rowOf(place)))
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

export type Row = Awaited<ReturnType<ReturnType<typeof rowMaker>>>

/** Paths are plain URL paths, encoded; files are relative to the project root. */
export function rowMaker(pipeline: Pipeline, survey: Survey) {
  const { settings, sources } = pipeline
  const shown = (file: string) => relative(settings.root, file)
  return async (place: Place) => {
    const { app, name, path, source } = place
    const url = pipeline.addressOf(wantedAt(path, settings))
    const served = await pipeline.directories.public.find(
      wantedAt(decodeURIComponent(url), settings)
    )
    const representations = served?.representations ?? []
    const tails = app.tails ? sources.of(app).tailsOf(source) : undefined
    const seen = await survey.current(place)
    return {
      path: encodePath(path),
      name,
      app: app.name,
      source: shown(source.file),
      /** Undefined until the asset has been looked at. */
      state: seen?.state,
      problems: seen?.problems ?? [],
      /** What pages ask for. */
      url,
      target: served && shown(served.representations[0].file),
      /** Undefined for a file that is too large for memory. */
      digest: DIGEST.exec(
        splitFingerprint(url)?.digest ?? served?.representations[0].etag ?? ''
      )?.[0],
      sizes: Object.fromEntries(representations.map(({ coding, size }) => [coding, size])),
      refersTo: seen?.refersTo.map(encodePath) ?? [],
      referredBy: survey.referredBy(path).map(encodePath),
      /** Sources of the same name that are not used. */
      shadowed: [...place.rivals, ...place.shadowed].map(other => shown(other.file)),
      /** Shorter names that find this asset, and those that find nothing, as several sources have them. */
      tails: tails?.own ?? [],
      ambiguous: tails?.ambiguous ?? [],
      isImage: isImage(place)
    }
  }
}

/** Whether the source itself can be shown. */
export function isImage({ name, source }: Place): boolean {
  return !source.compiler && (mediaTypeOf(name)?.startsWith('image/') ?? false)
}
