// Names that end like a fingerprint, but are ordinary names.
import type { Manifest } from '../building/manifest/manifest.ts'
import type { AppSettings } from '../settings/settings.ts'
import { encodePath } from '../urls/encode.ts'

/** What a request asks for. */
interface Asked {
  readonly path: string
  readonly app: AppSettings
  readonly name: string
}

/** What decides whether a name is ordinary. */
export interface Evidence {
  /** Undefined for an app without a manifest. */
  readonly manifestOf: (app: AppSettings) => Manifest | undefined
  /** The name if it has a source, else the name without its fingerprint if that has one. */
  readonly sourcedName: (app: AppSettings, name: string) => Promise<string | undefined>
  /** Whether `public` contains such a file. */
  readonly has: (asked: Asked) => Promise<boolean>
}

/**
 * Makes the test whether hex digits that are not the digest of the bytes belong to the name; `plain` is the
 * path without them. They do when something is published under the name, or when its plain name does not
 * exist.
 */
export function ordinaryBy({ manifestOf, sourcedName, has }: Evidence) {
  return async ({ app, path, name }: Asked, plain: string): Promise<boolean> => {
    const manifest = manifestOf(app)
    if (manifest?.assets.has(encodePath(path))) return true
    if (manifest?.assets.has(encodePath(plain))) return false
    const sourced = app.compile ? await sourcedName(app, name) : undefined
    return sourced === undefined ? !(await has({ app, path: plain, name })) : sourced === name
  }
}
