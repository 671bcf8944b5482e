// Finds the state of an asset: what publishing its source would read and find, and what is there. Writes nothing.
import { publishingIn } from '../../publishing/building/on-request.ts'
import { NEVER, type IndexEntry } from '../../publishing/building/index.ts'
import { errorReport, type ErrorReport } from '../../publishing/error-page.ts'
import { Renderer } from '../../publishing/rendering/renderer.ts'
import type { Sourced } from '../../publishing/sources/snapshot.ts'
import { asPublishError } from '../../publishing/writing/write.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'
import { AssetError, reasonOf } from '../../runtime/errors.ts'
import { checksumsOf, digestOfFile } from '../../runtime/files/digest.ts'
import { statOf } from '../../runtime/files/disk.ts'
import { publicFile } from '../../runtime/settings/public-directory.ts'
import { encodePath } from '../../runtime/urls/spelling.ts'

/**
 * `published`: the target is current. `outdated`, `unpublished`: the next request publishes it. `broken`: it cannot be
 * published.
 */
type State = 'broken' | 'outdated' | 'unpublished' | 'published'

export type Verdict = Pick<Reading, 'reason'> & { readonly state: State }

/** The bytes of a compiled text that are remembered at most. */
export const MAX_BYTES = 64 * 1024

/** The result of reading one source, as publishing it would. */
export interface Reading extends Pick<IndexEntry, 'source' | 'generation' | 'inputs'> {
  readonly problems: readonly string[]
  /** The plain URL paths, decoded, of the assets to which it refers. */
  readonly refersTo: readonly string[]
  /** The beginning of the compiled text; undefined for a source without a compiler. */
  readonly compiled?: Buffer | undefined
  /** The digest of the bytes under plain names; undefined for an asset that cannot be published. */
  readonly digest?: string
  /** Says why it cannot be published: `apps/web/assets/app.css.scss:1:4: expected "}".` */
  readonly reason?: string | undefined
  readonly failure?: ErrorReport | undefined
}

export async function readSource(pipeline: Pipeline, asset: Sourced): Promise<Reading> {
  const { settings, sources } = publishingIn(pipeline)
  const { path, source } = asset
  const { generation } = sources
  const broken = { source: source.file, generation: NEVER, inputs: [], refersTo: [] }
  const failed = async (error: AssetError) => {
    const failure = await errorReport(error, settings)
    return { failure, reason: [failure.location, failure.reason].filter(Boolean).join(': ') }
  }
  try {
    const renderer = new Renderer(settings, sources)
    const draft = await renderer.draft(asset)
    if (!draft) throw new Error(`${source.file} was removed, or is not a regular file`)
    const { found, errors, warnings } = await renderer.resolveAll(draft)
    const paths = found.flatMap(to => to?.path ?? [])
    const { content, inputs, isSettled } = draft
    const { digest } = await checksumsOf(renderer.plain(draft, found), [])
    const isCompiled = source.compiler && content instanceof Buffer
    return {
      source: source.file,
      generation: isSettled ? generation : NEVER,
      inputs,
      refersTo: [...new Set(paths)],
      compiled: isCompiled ? Buffer.from(content.subarray(0, MAX_BYTES + 1)) : undefined,
      problems: [...warnings, ...errors.map(({ message }) => message)],
      ...(errors[0] ? await failed(errors[0]) : { digest })
    }
  } catch (caught) {
    const error = asPublishError(settings, path, caught)
    if (!(error instanceof AssetError)) return { ...broken, problems: [reasonOf(error)] }
    const { reason, failure } = await failed(error)
    return { ...broken, problems: [reason], reason, failure }
  }
}

export async function stateOf(
  pipeline: Pipeline,
  { app, path }: Sourced,
  { digest }: Reading
): Promise<State> {
  if (digest === undefined && (app.compile || !app.fingerprint)) return 'broken'
  if (app.fingerprint) {
    const entry = pipeline.namesOf(app)?.assets.get(encodePath(path))
    return entry ? 'published' : 'unpublished'
  }
  const file = publicFile(pipeline.settings, path)
  if (!(await statOf(file))?.isFile()) return 'unpublished'
  return (await digestOfFile(file)) === digest ? 'published' : 'outdated'
}

export async function verdictOn(pipeline: Pipeline, asset: Sourced): Promise<Verdict> {
  const reading = await readSource(pipeline, asset)
  return { state: await stateOf(pipeline, asset, reading), reason: reading.reason }
}
