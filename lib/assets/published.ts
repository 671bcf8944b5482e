// The files that requests ask for: brought up to date with their sources, then found.
import type { Manifest } from './building/manifest/manifest.ts'
import type { ReloadedManifest } from './building/manifest/read-manifest.ts'
import {
  asTheyAre,
  kindOf,
  namedBy,
  sourcedNameIn,
  type AppFiles
} from './building/on-request/app-files.ts'
import type { OnRequest } from './building/on-request/on-request.ts'
import type { Directories } from './serving/directories/directories.ts'
import type { Found, ServedFile } from './serving/files/served-files.ts'
import { wantedAt, type Wanted } from './serving/request-path.ts'
import { assetPath } from './settings/app-settings.ts'
import type { AppSettings, Settings } from './settings/settings.ts'
import { encodePath } from './urls/canonical-path.ts'

/** What publishes; undefined where no app needs it. */
export interface PublishingParts {
  readonly onRequest: OnRequest | undefined
  readonly precompiled: ReloadedManifest | undefined
}

/** Nobody writes a longer name, in characters; a flood of them would stay in memory. */
const MAX_WRITTEN = 200

export class Published {
  /** What is known of a raw path without reading the disk: its file, or that no directory has one. */
  readonly recall: Directories['recall']
  readonly #settings: Settings
  readonly #directories: Directories
  readonly #onRequest: OnRequest | undefined
  readonly #files: ReadonlyMap<AppSettings, AppFiles>

  constructor(
    settings: Settings,
    directories: Directories,
    { onRequest, precompiled }: PublishingParts
  ) {
    this.#settings = settings
    this.#directories = directories
    this.#onRequest = onRequest
    const recall = directories.recall.bind(directories)
    const fingerprints = onRequest?.fingerprints
    // A verified fingerprint is trusted permanently, unless its source may be gone.
    const recallCurrent: typeof recall = (rawPath, mounts) => {
      const known = recall(rawPath, mounts)
      return known !== 'missing' && !fingerprints?.isCurrent ? undefined : known
    }
    this.recall = fingerprints ? recallCurrent : recall
    const kinds = {
      plain: onRequest?.plain,
      fingerprints,
      precompiled: precompiled && namedBy(precompiled),
      none: asTheyAre
    }
    this.#files = new Map(settings.apps.map(app => [app, kinds[kindOf(app)] ?? asTheyAre]))
  }

  filesOf(app: AppSettings): AppFiles {
    return this.#files.get(app) ?? asTheyAre
  }

  /** Undefined for an app without fingerprints. */
  manifestOf(app: AppSettings): Manifest | undefined {
    return this.filesOf(app).manifest
  }

  /**
   * The file that a request gets, after bringing it up to date with its source.
   * @throws AssetError for a source that cannot be published
   */
  current(wanted: Wanted): Promise<Found> | Found {
    const mounted = this.#directories.findInMounts(wanted)
    return mounted instanceof Promise
      ? mounted.then(file => file ?? this.#currentInPublic(wanted))
      : this.#currentInPublic(wanted)
  }

  #currentInPublic(wanted: Wanted): Promise<Found> | Found {
    if (wanted.isFolder || !this.#settings.servesPublic) return undefined
    const files = this.filesOf(wanted.app)
    return files.current<ServedFile>(wanted, stamp => this.#directories.public.find(wanted, stamp))
  }

  /** What was published since then for a plain path. @param start by `performance.now()` */
  since(start: number, { app, path }: Wanted) {
    const published = this.filesOf(app).index?.peek(path)?.published
    return published && published.at >= start ? published : undefined
  }

  /** Whether the path is an asset, published or not; nothing is written. */
  async has(wanted: Wanted): Promise<boolean> {
    if (await this.#directories.isInMounts(wanted)) return true
    if (wanted.isFolder || !this.#settings.servesPublic) return false
    if ((await this.#sourcedName(wanted)) === wanted.name) return true
    return this.#directories.public.has(wanted)
  }

  /** Says in development what a 404 may be due to; no page depends on a source map, or on a page for developers. */
  reportMissing({ app, name }: Wanted): void {
    const { env, apps } = this.#settings
    const isSought = env === 'development' && app.compile && apps.includes(app)
    if (!isSought || name.length > MAX_WRITTEN || /^-\/|\.map$/.test(name)) return
    this.#onRequest?.checkName(app, name, 'a browser asked for')
  }

  /** What has the same source, under its name without a fingerprint. */
  async plain(wanted: Wanted): Promise<Wanted> {
    const sourced = await this.#sourcedName(wanted)
    return sourced === undefined ? wanted : wantedAt(assetPath(wanted.app, sourced), this.#settings)
  }

  /** The URL path that helpers currently emit, encoded. */
  addressOf({ app, name, path }: Wanted): string {
    const [, entry] = this.manifestOf(app)?.find(app, name) ?? []
    return entry?.target ?? encodePath(path)
  }

  /**
   * Whether hex digits that are not the digest of the bytes belong to the name; `plain` is the path without
   * them. They do when something is published under the name, or when its plain name does not exist.
   */
  async isOrdinary(wanted: Wanted, plain: string): Promise<boolean> {
    const { app, path } = wanted
    const assets = this.manifestOf(app)?.assets
    if (assets?.has(encodePath(path))) return true
    if (assets?.has(encodePath(plain))) return false
    const sourced = await this.#sourcedName(wanted)
    if (sourced !== undefined) return sourced === wanted.name
    return !(await this.#directories.public.has({ app, path: plain }))
  }

  /** Undefined where nothing is published on request. */
  async #sourcedName({ app, name }: Wanted): Promise<string | undefined> {
    const sources = this.filesOf(app).index && this.#onRequest?.sources
    return sources && sourcedNameIn(sources, app, name)
  }
}
