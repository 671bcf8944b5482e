// Reads one source as publishing it would: what it refers to, and what is wrong with it.
import { AssetError, reasonOf } from '../../../errors.ts'
import { errorCode, statOf } from '../../../files/disk.ts'
import type { Observation } from '../../../files/observation.ts'
import { asPublishError } from '../../../files/writing/publish-error.ts'
import type { Place } from '../../building/places.ts'
import { errorReport } from '../../inspecting/error-page.ts'
import { textType } from '../../rendering/draft.ts'
import type { Renderer } from '../../rendering/renderer.ts'
import { assetPath } from '../../settings/app-settings.ts'
import type { Settings } from '../../settings/settings.ts'

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

export async function readSource(
  settings: Settings,
  renderer: Renderer,
  place: Place
): Promise<Reading> {
  const { name, source, path } = place
  if (!source.compiler && !textType(name)) {
    const stats = await statOf(source.file)
    return stats ? { ...EMPTY, mtimeNs: stats.mtimeNs } : broken(gone(source.file))
  }
  try {
    return await readText(renderer, place)
  } catch (error) {
    const failure = asPublishError(settings, path, error)
    if (!(failure instanceof AssetError)) return broken(asProblem(failure))
    const { location, reason } = await errorReport(failure, settings)
    const message = location === '' ? reason : `${location}: ${reason}`
    return broken({ code: failure.code, message })
  }
}

async function readText(renderer: Renderer, place: Place): Promise<Reading> {
  const draft = await renderer.draft(place)
  if (!draft) return broken(gone(place.source.file))
  const problems: Problem[] = []
  let hasFailed = false
  const found = await renderer.resolveAll(place, draft, {
    warn: message => void problems.push({ code: 'reference-missing', message }),
    fail: error => {
      hasFailed = true
      problems.push(asProblem(error))
    }
  })
  const refersTo = found.flatMap(to => (to ? [assetPath(to.app, to.source.name)] : []))
  return {
    problems,
    refersTo: [...new Set(refersTo)],
    inputs: draft.isSettled ? draft.inputs : [],
    mtimeNs: hasFailed ? undefined : draft.mtimeNs
  }
}

const EMPTY = { problems: [], refersTo: [], inputs: [] }

function broken(problem: Problem): Reading {
  return { ...EMPTY, problems: [problem], mtimeNs: undefined }
}

function gone(file: string): Problem {
  const message = `${file} was removed after it was listed, or is no regular file: reload the page`
  return { code: undefined, message }
}

export function asProblem(error: unknown): Problem {
  return { code: errorCode(error), message: reasonOf(error) }
}
