// How the files of an app get into `public`, and their URLs in pages: chosen once, when the pipeline is made.
import type { AssetError } from '../../../errors.ts'
import type { Stamp } from '../../../files/disk.ts'
import type { AppSettings } from '../../settings/settings.ts'
import type { Sources } from '../../sources/sources.ts'
import { splitFingerprint } from '../../urls/fingerprint.ts'
import type { ReloadedManifest } from '../manifest/read-manifest.ts'
import type { Manifest } from '../manifest/manifest.ts'
import type { MtimeIndex } from './mtime-index.ts'

/** What a request asks for. */
export interface Asked {
  readonly app: AppSettings
  readonly name: string
}

/** A file that was found. */
export interface FoundFile {
  /** Whether the bytes have the digest that is in the name. */
  readonly isVerified: boolean
  /** The first one is the file itself. */
  readonly representations: readonly [{ readonly stamp: Stamp }, ...unknown[]]
}

/** Finds the file in `public`. @param stamp the target's, if it was just looked up */
export type Find<F> = (stamp?: Stamp) => Promise<F | undefined> | F | undefined

export interface AppFiles {
  /** Undefined where pages use plain names. The same object as long as nothing in it changes. */
  readonly manifest: Manifest | undefined
  /**
   * The file that a request gets, after bringing it up to date with its source.
   * @throws AssetError for a source that cannot be published
   */
  current<F extends FoundFile>(asked: Asked, find: Find<F>): ReturnType<Find<F>>
  /** Why the asset at a plain path cannot be published, where that is known before it is asked for. */
  failureOf?(path: string): AssetError | undefined
  /** Undefined where nothing is published on request. */
  readonly index: MtimeIndex | undefined
}

/** `plain` and `fingerprints` are published on request; `none`: nothing is, and pages use plain names. */
export type Publishing = 'plain' | 'fingerprints' | 'precompiled' | 'none'

export function kindOf({ compile, fingerprint }: AppSettings): Publishing {
  if (compile) return fingerprint ? 'fingerprints' : 'plain'
  return fingerprint ? 'precompiled' : 'none'
}

/** Files that nothing is published to, under plain names. */
export const asTheyAre: AppFiles = {
  manifest: undefined,
  current: (_, find) => find(),
  index: undefined
}

export function namedBy(reloaded: ReloadedManifest): AppFiles {
  return {
    ...asTheyAre,
    get manifest() {
      return reloaded.current
    }
  }
}

/** The name itself before the name without its fingerprint; undefined when neither has a source. */
export async function sourcedNameIn(all: Sources, app: AppSettings, name: string) {
  const sources = all.of(app)
  if (await sources.find(name)) return name
  const plain = splitFingerprint(name)?.name
  return plain !== undefined && (await sources.find(plain)) ? plain : undefined
}
