// An asset with its final bytes, and the paths under which it is published.
import type { Content } from '../../files/content.ts'
import { encodePath } from '../urls/encode.ts'
import { withFingerprint } from '../urls/fingerprint.ts'
import type { Place } from './places.ts'

/** What a script imports by literal specifiers: the plain URL paths of assets, decoded, in their order. */
export interface Imports {
  /** Undefined for what is no script, and for scripts whose references are not rewritten. */
  readonly imports?: readonly string[]
  /** By `import()`; undefined for none. */
  readonly dynamicImports?: readonly string[]
}

export interface Built extends Place, Imports {
  /** The final bytes, or the source when its bytes are published unchanged. */
  readonly content: Content
  readonly mtimeNs: bigint
  /** In bytes. */
  readonly size: number
  readonly digest: string
  readonly integrity: readonly string[]
}

export type Assets = ReadonlyMap<string, Built>

/** The decoded URL path that pages and stylesheets ask for: fingerprinted, if the app has fingerprints. */
export function publishedPath({ app, path, digest }: Built): string {
  return app.fingerprint ? withFingerprint(path, digest) : path
}

/** The same, encoded. */
export function publishedUrl(built: Built): string {
  return encodePath(publishedPath(built))
}
