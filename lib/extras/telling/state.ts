// Finds the state of an asset: what publishing its source would read and find, and what is there. Writes nothing.
import { AssetError, reasonOf } from '../../runtime/errors.ts'
import { checksumsOf, digestOfFile } from '../../runtime/files/digest.ts'
import { statOf } from '../../runtime/files/disk.ts'
import { asPublishError } from '../../publishing/writing/write.ts'
import { NEVER, type IndexEntry } from '../../publishing/building/index.ts'
import { publishingIn } from '../../publishing/building/on-request.ts'
import { findFailures, type ListedAsset } from '../../publishing/building/assets.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'
import { Renderer } from '../../publishing/rendering/renderer.ts'
import { assetPath } from '../../runtime/settings/app-settings.ts'
import { publicFile } from '../../runtime/settings/public-directory.ts'
import { encodePath } from '../../runtime/urls/spelling.ts'
import { errorReport, type ErrorReport } from '../../publishing/error-page.ts'

/**
 * `published`: the target is current. `outdated`, `unpublished`: the next request publishes it.
 * `broken`: it cannot be published.
 */
export type State = 'broken' | 'outdated' | 'unpublished' | 'published'

export interface Verdict {
  readonly state: State
  /** Says why it cannot be published, with the place in its source; undefined where it can be. */
  readonly reason: string | undefined
}

/** The bytes of a compiled text that are remembered at most. */
export const MAX_BYTES = 64 * 1024

/** The result of reading one source, as publishing it would. */
export interface Reading extends Pick<IndexEntry, 'source' | 'generation' | 'inputs'> {
  /** The problems in words. */
  readonly problems: readonly string[]
  /** The plain URL paths, decoded, of the assets to which it refers. */
  readonly refersTo: readonly string[]
  /** The beginning of the compiled text; undefined for a source without a compiler. */
  readonly compiled?: Buffer | undefined
  /** The digest of the bytes under plain names; undefined for an asset that cannot be published. */
  readonly digest?: string
  /** Says why it cannot be published. */
  readonly failure?: ErrorReport | undefined
}

export async function readSource(pipeline: Pipeline, place: ListedAsset): Promise<Reading> {
  const { settings, sources } = publishingIn(pipeline)
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
    const { content, inputs, isSettled } = draft
    const { digest } = await checksumsOf(renderer.plain(draft, found), [])
    const isCompiled = source.compiler && content instanceof Buffer
    return {
      ...broken,
      generation: isSettled ? generation : NEVER,
      inputs,
      refersTo: [...new Set(paths)],
      compiled: isCompiled ? Buffer.from(content.subarray(0, MAX_BYTES + 1)) : undefined,
      ...(errors[0] ? { failure: await errorReport(errors[0], settings) } : { digest })
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
  place: ListedAsset,
  reading: Reading
): Promise<Verdict> {
  return { state: await stateOf(pipeline, place, reading), reason: textOf(reading) }
}

/** Returns a text such as `apps/web/assets/app.css.scss:1:4: expected "}".` */
function textOf({ failure }: Reading): string | undefined {
  return failure && [failure.location, failure.reason].filter(Boolean).join(': ')
}

async function stateOf(
  pipeline: Pipeline,
  { app, path }: ListedAsset,
  { digest }: Reading
): Promise<State> {
  if ((app.compile || !app.fingerprint) && digest === undefined) return 'broken'
  if (app.fingerprint) {
    const entry = pipeline.namesOf(app)?.assets.get(encodePath(path))
    return entry ? 'published' : 'unpublished'
  }
  const file = publicFile(pipeline.settings, path)
  if (!(await statOf(file))?.isFile()) return 'unpublished'
  return (await digestOfFile(file)) === digest ? 'published' : 'outdated'
}
