// How the files of an app get into `public`, and what pages call them: chosen once, when the pipeline is made.
import type { AssetError } from '../../../errors.ts'
import type { Stamp } from '../../../files/disk.ts'
import type { AppSettings } from '../../settings/settings.ts'
import type { Sources } from '../../sources/sources.ts'
import { encodePath } from '../../urls/encode.ts'
import { splitFingerprint } from '../../urls/fingerprint.ts'
import type { ReloadedManifest } from '../manifest/read-manifest.ts'
import type { Manifest } from '../manifest/manifest.ts'
import type { MtimeIndex } from './mtime-index.ts'

/** What a request asks for. */
export interface Asked {
  /** Decoded. */
  readonly path: string
  readonly app: AppSettings
  readonly name: string
}

interface Verifiable {
  /** Whether the bytes have the digest that is in the name. */
  readonly isVerified: boolean
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
  current<F extends Verifiable>(asked: Asked, find: Find<F>): ReturnType<Find<F>>
  /** Why the asset at a plain path cannot be published. */
  failureOf(path: string): AssetError | undefined
  /** Undefined where nothing is published on request. */
  readonly index: MtimeIndex | undefined
}

/** `plain` and `fingerprints` are published on request; `none`: nothing is, and pages use plain names. */
export type Kind = 'plain' | 'fingerprints' | 'precompiled' | 'none'

export function kindOf({ compile, fingerprint }: AppSettings): Kind {
  if (compile) return fingerprint ? 'fingerprints' : 'plain'
  return fingerprint ? 'precompiled' : 'none'
}

/** Files that nothing is published to, under plain names. */
export const asTheyAre: AppFiles = {
  manifest: undefined,
  current: (_, find) => find(),
  failureOf: () => undefined,
  index: undefined
}

export function precompiled(reloaded: ReloadedManifest): AppFiles {
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

/** What decides whether a name that ends like a fingerprint is an ordinary name. */
export interface Evidence {
  /** Undefined for an app without a manifest. */
  readonly manifestOf: (app: AppSettings) => Manifest | undefined
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
