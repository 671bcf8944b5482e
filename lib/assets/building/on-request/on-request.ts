// What publishes on request: loaded where an app does, and for what explains any app by its sources.
import type { Site } from '../../parts.ts'
import { makeNameCheck } from '../../sources/missing-name.ts'
import { loadSources } from '../../sources/sources.ts'
import { kindOf } from './app-files.ts'
import { Fingerprints } from './fingerprints.ts'
import { PlainNames } from './plain-names.ts'

export type OnRequest = Awaited<ReturnType<typeof makeOnRequest>>

/** @param forget receives the URL path of each file that is removed */
export async function makeOnRequest(
  settings: Site,
  warn: (message: string) => void,
  forget: (path: string) => void
) {
  const sources = await loadSources(settings, warn)
  const isNeeded = settings.apps.some(app => kindOf(app) === 'fingerprints')
  return {
    sources,
    plain: new PlainNames(settings, sources, warn),
    fingerprints: isNeeded ? new Fingerprints(settings, sources, warn, forget) : undefined,
    checkName: makeNameCheck(settings, sources, warn)
  }
}
