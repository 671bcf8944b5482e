// Names that happen to end in 32 hex characters, as those with a fingerprint do.
import type { Manifest } from '../building/manifest/manifest.ts'
import type { AppSettings } from '../settings/settings.ts'
import { encodePath } from '../urls/encode.ts'

/** What a request asks for. */
interface Asked {
  readonly path: string
  readonly app: AppSettings
  readonly name: string
}

/** Whether 32 hex characters that are not the digest of the bytes belong to the name; `plain` lacks them. */
type IsOrdinary = (asked: Asked, plain: string) => Promise<boolean>

/** What tells such a name from a fingerprint's. */
export interface Evidence {
  /** Undefined for an app without one. */
  readonly manifestOf: (app: AppSettings) => Manifest | undefined
  /** The name itself before the name without its fingerprint; undefined when neither has a source. */
  readonly sourcedName: (app: AppSettings, name: string) => Promise<string | undefined>
  /** Whether public holds such a file. */
  readonly has: (asked: Asked) => Promise<boolean>
}

/** What is published under a name that happens to end in 32 hex characters is not a fingerprint's. */
export function ordinaryBy({ manifestOf, sourcedName, has }: Evidence): IsOrdinary {
  return async ({ app, path, name }, plain) => {
    const manifest = manifestOf(app)
    if (manifest?.assets.has(encodePath(path))) return true
    if (manifest?.assets.has(encodePath(plain))) return false
    const sourced = app.compile ? await sourcedName(app, name) : undefined
    return sourced === undefined ? !(await has({ app, path: plain, name })) : sourced === name
  }
}
