// Brings the files that requests ask for up to date with their sources, then finds them.
import { sameStamp } from '../files/disk.ts'
import type { Manifest } from '../urls/manifest.ts'
import type { ReloadedManifest } from '../urls/read-manifest.ts'
import { publishingOf, sourcedNameIn, type Publisher } from './publisher.ts'
import type { OnRequest } from '../../publishing/building/on-request.ts'
import type { Directories } from '../serving/directories/directories.ts'
import type { Found } from '../serving/files/served-file.ts'
import { wantedAt, type Wanted } from '../serving/request-path.ts'
import { assetPath } from '../settings/app-settings.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'
import { encodePath, splitFingerprint } from '../urls/spelling.ts'

/** The parts that publish, each undefined if no app needs it. */
export interface PublishingParts {
  readonly onRequest: OnRequest | undefined
  readonly precompiled: ReloadedManifest | undefined
}

/** Nobody writes a longer name, in characters; a flood of them would stay in memory. */
const MAX_WRITTEN = 200

/** The number of attempts while others replace or remove the target, perhaps with bytes from before an edit. */
const MAX_ATTEMPTS = 5

/** Pages use plain names, and nothing is published. */
const UNPUBLISHED: Publisher = { manifest: undefined }

export class RequestedFiles {
  /** Returns the file of a raw path, or that there is none, as far as it is known without reading the disk. */
  readonly recall: Directories['recall']
  readonly #settings: Settings
  readonly #directories: Directories
  readonly #onRequest: OnRequest | undefined
  readonly #publishers: ReadonlyMap<AppSettings, Publisher>
  readonly #warn: (message: string) => void
  /** The manifest of which a file was reported. */
  #reported: Manifest | undefined

  constructor(
    settings: Settings,
    directories: Directories,
    { onRequest, precompiled }: PublishingParts,
    warn: (message: string) => void
  ) {
    this.#settings = settings
    this.#directories = directories
    this.#warn = warn
    this.#onRequest = onRequest
    const recall = directories.recall.bind(directories)
    const fingerprints = onRequest?.fingerprints
    // A verified fingerprint is trusted permanently, unless its source may be gone.
    const recallCurrent: typeof recall = (rawPath, mounts) => {
      const known = recall(rawPath, mounts)
      return known !== 'missing' && !fingerprints?.isCurrent ? undefined : known
    }
    this.recall = fingerprints ? recallCurrent : recall
    const publishers = {
      plain: onRequest?.plain,
      fingerprints,
      precompiled: precompiled && {
        get manifest() {
          return precompiled.current
        }
      },
      none: undefined
    }
    this.#publishers = new Map(
      settings.apps.map(app => [app, publishers[publishingOf(app)] ?? UNPUBLISHED])
    )
  }

  publisherOf(app: AppSettings): Publisher {
    return this.#publishers.get(app) ?? UNPUBLISHED
  }

  /** Returns the manifest; undefined for an app without fingerprints. */
  manifestOf(app: AppSettings): Manifest | undefined {
    return this.publisherOf(app).manifest
  }

  /**
   * Finds the file for a request, after bringing it up to date with its source.
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
    const publisher = this.publisherOf(wanted.app)
    return publisher.publish
      ? this.#publishedBy(publisher, wanted)
      : this.#directories.public.find(wanted)
  }

  async #publishedBy(publisher: Publisher, wanted: Wanted): Promise<Found> {
    const { app, name } = wanted
    const directory = this.#directories.public
    if (await publisher.isFixed?.(app, name)) {
      const file = await directory.find(wanted)
      if (file?.isVerified) return file
    }
    for (let attempt = 1; ; attempt++) {
      const target = await publisher.publish?.(app, name)
      const file = await directory.find(wanted, target)
      const isOurs = !target || (file && sameStamp(file.representations[0].stamp, target.stamp))
      if (isOurs || attempt === MAX_ATTEMPTS) return file
    }
  }

  /**
   * Returns the publication of a plain path since a moment.
   * @param start the moment, by `performance.now()`
   */
  since(start: number, { app, path }: Wanted) {
    const published = this.publisherOf(app).index?.peek(path)?.published
    return published && published.at >= start ? published : undefined
  }

  /** Tells whether the path is that of an asset, published or not; nothing is written. */
  async has(wanted: Wanted): Promise<boolean> {
    if (await this.#directories.isInMounts(wanted)) return true
    if (wanted.isFolder || !this.#settings.servesPublic) return false
    if ((await this.#sourcedName(wanted)) === wanted.name) return true
    return this.#directories.public.has(wanted)
  }

  /** Warns of the probable reason for a 404; in development source maps and pages for developers are left out. */
  reportMissing(wanted: Wanted): void {
    const { env, apps, serve } = this.#settings
    const { app, name } = wanted
    if (!app.compile) this.#reportUnsent(wanted)
    const isSought = env === 'development' && serve && app.compile && apps.includes(app)
    if (!isSought || name.length > MAX_WRITTEN || /^-\/|\.map$/.test(name)) return
    this.#onRequest?.checkName(app, name, 'a browser asked for')
  }

  /** Warns of a file that pages of this release name. One of them is enough: where it is missing, mostly all are. */
  #reportUnsent({ app, name, path }: Wanted): void {
    const plain = splitFingerprint(name)?.name
    const manifest = this.manifestOf(app)
    if (plain === undefined || !manifest || manifest === this.#reported) return
    const entry = manifest.assets.get(encodePath(assetPath(app, plain)))
    if (entry?.target !== encodePath(path)) return
    this.#reported = manifest
    this.#warn(
      this.#settings.serve
        ? `${path} is a 404, though the manifest names it: public lacks this file, or has other bytes under its name. npx koa-fresh-assets verify lists all such files`
        : `${path} is a 404, as serve is off: set SERVE_STATIC_ASSETS=true or serve: true, or let the web server in front send public`
    )
  }

  /** Returns the path of the same asset without a fingerprint. */
  async plain(wanted: Wanted): Promise<Wanted> {
    const sourced = await this.#sourcedName(wanted)
    return sourced === undefined ? wanted : wantedAt(assetPath(wanted.app, sourced), this.#settings)
  }

  /** Returns the URL path that helpers currently emit, encoded. */
  addressOf({ app, name, path }: Wanted): string {
    const [, entry] = this.manifestOf(app)?.find(app, name) ?? []
    return entry?.target ?? encodePath(path)
  }

  /**
   * Tells whether hex digits that are not the digest of the bytes belong to the name. They do when an asset is
   * published under the name, or when its plain name does not exist.
   * @param plain the path without them
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

  /** Returns the name of the source; undefined if nothing is published on request. */
  async #sourcedName({ app, name }: Wanted): Promise<string | undefined> {
    const sources = this.publisherOf(app).index && this.#onRequest?.sources
    return sources && sourcedNameIn(sources, app, name)
  }
}
