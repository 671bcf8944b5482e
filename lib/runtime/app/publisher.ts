// Declares what brings the files of an app into `public`, one publisher for each app, chosen when the pipeline is made.
import type { AssetError } from '../errors.ts'
import type { AppSettings } from '../settings/settings.ts'
import type { Sources } from '../../publishing/sources/sources.ts'
import type { Target } from '../settings/public-directory.ts'
import { splitFingerprint } from '../urls/spelling.ts'
import type { Manifest } from '../urls/manifest.ts'
import type { MtimeIndex } from '../../publishing/building/index.ts'

export interface Publisher {
  /** The names of pages; undefined for plain ones. It is the same object as long as nothing in it changes. */
  readonly manifest: Manifest | undefined
  /** The index of what this process published; undefined where nothing is published on request. */
  readonly index?: MtimeIndex
  /** Tells whether a file is current without publishing if its bytes have the digest in its name. */
  isFixed?(app: AppSettings, name: string): Promise<boolean>
  /**
   * Brings the file of a name up to date with its source.
   * @returns the target if it was looked up or written, which saves a stat or reading it
   * @throws AssetError for a source that cannot be published
   */
  publish?(app: AppSettings, name: string): Promise<Target | undefined>
  /** Returns why the asset at a plain path cannot be published, if that is known before a request for it. */
  failureOf?(path: string): AssetError | undefined
}

/** `plain` and `fingerprints` are published on request; `none`: nothing is, and pages use plain names. */
export type Publishing = 'plain' | 'fingerprints' | 'precompiled' | 'none'

export function publishingOf({ compile, fingerprint }: AppSettings): Publishing {
  if (compile) return fingerprint ? 'fingerprints' : 'plain'
  return fingerprint ? 'precompiled' : 'none'
}

/** Returns the name itself before the name without its fingerprint; undefined when neither has a source. */
export async function sourcedNameIn(all: Sources, app: AppSettings, name: string) {
  const sources = all.of(app)
  if (await sources.find(name)) return name
  const plain = splitFingerprint(name)?.name
  return plain !== undefined && (await sources.find(plain)) ? plain : undefined
}
