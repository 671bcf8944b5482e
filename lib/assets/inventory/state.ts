// In which state an asset is: what publishing its source would read and find, and what is there. Writes nothing.
import { AssetError, reasonOf } from '../../errors.ts'
import { secondsLater, statOf } from '../../files/disk.ts'
import { asPublishError } from '../../files/writing/atomic-write.ts'
import { kindOf } from '../building/on-request/app-files.ts'
import { NEVER, type Entry } from '../building/on-request/mtime-index.ts'
import { findFailures, type Place } from '../building/places.ts'
import type { State, Verdict } from '../parts.ts'
import type { Pipeline } from '../pipeline.ts'
import { Renderer } from '../rendering/renderer.ts'
import { assetPath } from '../settings/app-settings.ts'
import { publicFile } from '../settings/public-directory.ts'
import { encodePath } from '../urls/canonical-path.ts'
import { errorReport, type ErrorReport } from './error-page.ts'

/** Of a compiled text, as many are kept. */
export const MAX_BYTES = 64 * 1024

/** What was read of one source, as publishing it would. */
export interface Reading extends Pick<Entry, 'source' | 'generation' | 'inputs'> {
  /** In words. */
  readonly problems: readonly string[]
  /** Plain URL paths, decoded. */
  readonly refersTo: readonly string[]
  /** The beginning of what the compiler made of it; undefined for a source without one. */
  readonly compiled?: Buffer | undefined
  /** The mtime that the target gets; undefined for a source that cannot be published. */
  readonly mtimeNs?: bigint
  /** Why it cannot be published. */
  readonly failure?: ErrorReport | undefined
}

export async function readSource({ settings, sources }: Pipeline, place: Place): Promise<Reading> {
  const { path, source } = place
  const { generation } = sources
  const failures = findFailures(settings, [place], () => undefined)
  const problems = failures.map(({ error }) => error.message)
  const broken = { source: source.file, generation: NEVER, inputs: [], refersTo: [], problems }
  try {
    const renderer = new Renderer(settings, sources)
    const draft = await renderer.draft(place)
    if (!draft) throw new Error(`${source.file} was removed, or is not a regular file`)
    const { found, errors, warnings } = await renderer.resolveAll(place, draft)
    problems.push(...warnings, ...errors.map(({ message }) => message))
    const paths = found.flatMap(to => (to ? assetPath(to.app, to.source.name) : []))
    const { content, inputs, isSettled, mtimeNs } = draft
    const isCompiled = source.compiler && content instanceof Buffer
    return {
      ...broken,
      generation: isSettled ? generation : NEVER,
      inputs,
      refersTo: [...new Set(paths)],
      compiled: isCompiled ? Buffer.from(content.subarray(0, MAX_BYTES + 1)) : undefined,
      ...(errors[0] ? { failure: await errorReport(errors[0], settings) } : { mtimeNs })
    }
  } catch (caught) {
    const error = asPublishError(settings, path, caught)
    const failure = error instanceof AssetError ? await errorReport(error, settings) : undefined
    const reading = { ...broken, failure }
    problems.push(textOf(reading) ?? reasonOf(error))
    return reading
  }
}

export async function verdictOn(
  pipeline: Pipeline,
  place: Place,
  reading: Reading
): Promise<Verdict> {
  return { state: await stateOf(pipeline, place, reading), reason: textOf(reading) }
}

/** `apps/web/assets/app.css.scss:1:4: expected "}".` */
function textOf({ failure }: Reading): string | undefined {
  return failure && [failure.location, failure.reason].filter(Boolean).join(': ')
}

async function stateOf(
  { settings, published }: Pipeline,
  { app, path }: Place,
  { mtimeNs }: Reading
): Promise<State> {
  if (kindOf(app) !== 'precompiled' && mtimeNs === undefined) return 'broken'
  if (app.fingerprint) {
    const entry = published.manifestOf(app)?.entries.get(encodePath(path))
    return entry ? 'published' : 'unpublished'
  }
  const target = await statOf(publicFile(settings, path))
  if (!target?.isFile()) return 'unpublished'
  return secondsLater(target, mtimeNs ?? 0n) === undefined ? 'outdated' : 'published'
}
