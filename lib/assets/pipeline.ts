// Joins the rooms: what one koaAssets() holds. An app's assets are copied on request, or built with
// fingerprints on request, or lie there precompiled; everything else is the same for all three.
import type { AssetError } from '../errors.ts'
import { plainAddress, type AssetAddress } from './views/asset-url.ts'
import { splitFingerprint } from './urls/fingerprint.ts'
import { isLive, makeLiveBuild } from './publishing/live-build.ts'
import type { Manifest } from './building/manifest/manifest.ts'
import { ManifestInForce } from './building/manifest/manifest-in-force.ts'
import { ordinaryBy } from './publishing/ordinary-names.ts'
import type { PublicFile } from './serving/public-file.ts'
import { makePublicFiles, type PublicFiles } from './serving/public-files.ts'
import { makePublisher } from './publishing/publish.ts'
import type { Wanted } from './serving/request-path.ts'
import type { AppSettings, Settings } from './settings/settings.ts'
import { Sources } from './sources/sources.ts'
import { makeNameCheck } from './inspecting/unknown-names.ts'
import { makeViewHelpers, type ViewHelpers } from './views/view-helpers.ts'
import { warnOnce } from '../warn-once.ts'
import { encodePath } from './urls/encode.ts'

type Found = PublicFile | undefined

export interface Pipeline {
  /** Whether a path, exactly as it was sent, is known not to be ours. */
  isAbsent(rawPath: string): boolean
  /** The same of one that may lie under the prefix. */
  isMissing(rawPath: string): boolean
  /** The file of a path just as it was sent, when memory has it and no look at the disk is due. */
  recall(rawPath: string): Found
  /**
   * The current file that answers a request; its source is published first, where that is on.
   * @throws AssetError for a source that cannot be published
   */
  find(wanted: Wanted): Promise<Found> | Found
  /** What has been published already, however old. */
  findPublished(wanted: Wanted): Promise<Found> | Found
  /** Has the next `find` look at the disk, whatever is remembered. */
  forget(wanted: Wanted): void
  /** What lies in public now, described from its open self and then used; undefined for a miss. */
  readonly withOpened: PublicFiles['withOpened']
  /** Whether the path is an asset, published or not; nothing is written. */
  has(wanted: Wanted): Promise<boolean>
  /** Makes the manifest current before a page asks for URLs; undefined when there is nothing to wait for. */
  beforePage(): Promise<void> | undefined
  readonly viewHelpers: (app: string) => ViewHelpers
}

export function makePipeline(settings: Settings): Pipeline {
  const warn = warnOnce()
  const sources = new Sources(settings, warn)
  const publisher = makePublisher(settings, sources, warn)
  const publicFiles = makePublicFiles(settings, (wanted, plain) => isOrdinary(wanted, plain))
  const live = settings.apps.some(isLive)
    ? makeLiveBuild(settings, sources, warn, path => publicFiles.forget({ path }))
    : undefined
  const fixed = settings.apps.some(isFixed) ? new ManifestInForce(settings, warn) : undefined

  const checkName =
    settings.env === 'development' ? makeNameCheck(settings, sources, warn) : undefined

  const publishAndFind = async (app: AppSettings, wanted: Wanted): Promise<Found> =>
    publicFiles.find(wanted, await publisher.publish(app, wanted.name))

  /** The name itself before the name without its fingerprint; undefined when neither has a source. */
  const sourcedName = async (app: AppSettings, name: string): Promise<string | undefined> => {
    if (await sources.of(app).find(name)) return name
    const plain = splitFingerprint(name)?.name
    return plain !== undefined && (await sources.of(app).find(plain)) ? plain : undefined
  }

  const buildAndFind = async (app: AppSettings, wanted: Wanted): Promise<Found> => {
    const plain = splitFingerprint(wanted.name)?.name
    if (plain !== undefined && (await sources.of(app).find(plain))) {
      const current = await publicFiles.find(wanted)
      if (current?.isVerified) return current
    }
    const name = await sourcedName(app, wanted.name)
    // What has no source, and had none, is not worth a look at all the others.
    const isKnown = [wanted.name, plain].some(each => live?.has(`${app.urlPrefix}/${each}`))
    if (name === undefined && !isKnown) return publicFiles.find(wanted)
    await live?.refresh()
    const path = `${app.urlPrefix}/${name ?? wanted.name}`
    const problem = live?.problemOf(path)
    if (problem) throw problem
    await live?.restore(path)
    return publicFiles.find(wanted)
  }

  const manifestOf = (app: AppSettings): Manifest | undefined => {
    if (!app.fingerprint) return undefined
    return isLive(app) ? live?.manifest : fixed?.current
  }

  const has = (wanted: Wanted): Promise<boolean> => publicFiles.has(wanted)
  const isOrdinary = ordinaryBy({ manifestOf, sourcedName, has })

  const resolve = (app: AppSettings, name: string): AssetAddress => {
    const manifest = manifestOf(app)
    if (!manifest) {
      if (app.compile) checkName?.(app, name)
      return plainAddress(encodePath(app.urlPrefix), name)
    }
    const problem = live?.problemOf(`${app.urlPrefix}/${name}`)
    const entry = problem ? lastGood(manifest, app, name, problem) : manifest.entry(app, name)
    return { path: entry.target, integrity: entry.integrity }
  }

  return {
    isAbsent: rawPath => publicFiles.isAbsent(rawPath),
    isMissing: rawPath => publicFiles.isMissing(rawPath),
    // A fingerprint is trusted for good; but what has lost its source goes at once.
    recall: rawPath => (live?.isCurrent === false ? undefined : publicFiles.recall(rawPath)),
    find(wanted) {
      const { app } = wanted
      if (!app.compile || app === settings.publicApp) return publicFiles.find(wanted)
      return app.fingerprint ? buildAndFind(app, wanted) : publishAndFind(app, wanted)
    },
    findPublished: wanted => publicFiles.find(wanted),
    forget: wanted => publicFiles.forget(wanted),
    withOpened: publicFiles.withOpened,
    async has(wanted) {
      const { app, name } = wanted
      const isPublished = app.compile && app !== settings.publicApp
      if (isPublished && (await sources.of(app).find(name))) return true
      return publicFiles.has(wanted)
    },
    beforePage() {
      fixed?.refreshBehind(settings.publicApp.revalidate)
      return live?.refresh()
    },
    viewHelpers: makeViewHelpers(settings, app => ({
      resolve: name => resolve(app, name),
      modules: () => modulesOf(manifestOf(app)),
      version: () => [fixed?.current.version, live?.manifest.version].filter(Boolean).join('-')
    }))
  }
}

function isFixed({ compile, fingerprint }: AppSettings): boolean {
  return fingerprint && !compile
}

function lastGood(manifest: Manifest, app: AppSettings, name: string, problem: AssetError) {
  const entry = manifest.find(app, name)
  if (!entry) throw problem
  return entry
}

function* modulesOf(
  manifest: Manifest | undefined
): Generator<readonly [plain: string, address: AssetAddress]> {
  for (const [plain, { target, integrity }] of manifest?.entries() ?? []) {
    yield [plain, { path: target, integrity }]
  }
}
