// Reads one source as publishing it would: what it refers to, and what is wrong with it.
import { AssetError, reasonOf } from '../../../errors.ts'
import { errorCode, statOf } from '../../../files/disk.ts'
import type { Observation } from '../../../files/observation.ts'
import { asPublishError } from '../../../files/writing/publish-error.ts'
import { findProblems, type Place } from '../../building/places.ts'
import { errorReport } from '../../inspecting/error-page.ts'
import { textType } from '../../rendering/draft.ts'
import { Renderer } from '../../rendering/renderer.ts'
import { assetPath } from '../../settings/app-settings.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Sources } from '../../sources/sources.ts'

export interface Problem {
  /** Of an AssetError; undefined for any other failure. */
  readonly code: string | undefined
  readonly message: string
}

export interface Reading {
  readonly problems: readonly Problem[]
  /** Plain URL paths, decoded. */
  readonly refersTo: readonly string[]
  /** Empty if nothing would tell when the reading is outdated. */
  readonly inputs: readonly Observation[]
  /** The mtime that the target gets; undefined for a source that cannot be published. */
  readonly mtimeNs: bigint | undefined
}

/** What is only shown on the page of the asset. */
interface Read {
  readonly reading: Reading
  /** Why it cannot be published. */
  readonly error?: AssetError | undefined
  readonly compiled?: Buffer | undefined
}

export async function readSource(
  settings: Settings,
  sources: Sources,
  place: Place
): Promise<Read> {
  const problems = findProblems(settings, [place]).map(({ error }) => asProblem(error))
  const broken = { problems, refersTo: [], inputs: [], mtimeNs: undefined }
  const { name, source, path } = place
  try {
    const isText = source.compiler !== undefined || textType(name) !== undefined
    const read = isText ? await readText(settings, sources, place, problems) : undefined
    if (read) return read
    const stats = isText ? undefined : await statOf(source.file)
    if (stats) return { reading: { ...broken, mtimeNs: stats.mtimeNs } }
    const message = `${source.file} was removed after it was listed, or is no regular file: reload the page`
    problems.push({ code: undefined, message })
    return { reading: broken }
  } catch (caught) {
    const error = asPublishError(settings, path, caught)
    if (!(error instanceof AssetError)) {
      problems.push(asProblem(error))
      return { reading: broken }
    }
    const { location, reason } = await errorReport(error, settings)
    const message = location === '' ? reason : `${location}: ${reason}`
    problems.push({ code: error.code, message })
    return { reading: broken, error }
  }
}

async function readText(
  settings: Settings,
  sources: Sources,
  place: Place,
  problems: Problem[]
): Promise<Read | undefined> {
  const renderer = new Renderer(settings, sources)
  const draft = await renderer.draft(place)
  if (!draft) return undefined
  let error: AssetError | undefined
  const found = await renderer.resolveAll(place, draft, {
    warn: message => void problems.push({ code: 'reference-missing', message }),
    fail: failure => {
      error ??= failure
      problems.push(asProblem(failure))
    }
  })
  const refersTo = found.flatMap(to => (to ? [assetPath(to.app, to.source.name)] : []))
  const { content, inputs, isSettled, mtimeNs } = draft
  const reading = {
    problems,
    refersTo: [...new Set(refersTo)],
    inputs: isSettled ? inputs : [],
    mtimeNs: error ? undefined : mtimeNs
  }
  const compiled = place.source.compiler && content instanceof Buffer ? content : undefined
  return { reading, error, compiled }
}

function asProblem(error: unknown): Problem {
  return { code: errorCode(error), message: reasonOf(error) }
}
