// Publishes on request: loaded if an app needs it, or to explain any app by its sources.
import type { Warn } from '../../runtime/errors.ts'
import type { OnRequest } from '../../runtime/app/on-request.ts'
import { HEAD, loadDetails } from '../../runtime/app/details.ts'
import type { AppSource, PageDependency, Project } from '../../runtime/app/extra.ts'
import { headIfThere, stampIfThere } from '../../runtime/files/at-start.ts'
import { ignoreSystemError, isSettled, sameStamp, type Stamp } from '../../runtime/files/disk.ts'
import { assetPath } from '../../runtime/settings/apps.ts'
import type { AppSettings } from '../../runtime/settings/settings.ts'
import { splitFingerprint } from '../../runtime/urls/spelling.ts'
import { loadCompilers, loadPeersOf } from '../compilers/built-in.ts'
import { loadModuleLexer } from '../references/modules.ts'
import { makeNameCheck } from '../sources/advice.ts'
import type { Details } from '../../runtime/urls/manifest.ts'
import type { AppSources } from '../sources/app-sources.ts'
import { loadSources, type Sources } from '../sources/sources.ts'
import type { IndexEntry } from './mtime-index.ts'
import { PlainNames } from './plain.ts'
import { Rebuilt } from './rebuilt.ts'

/** @param forget receives the URL path of each removed file */
export async function makeOnRequest(settings: Project, warn: Warn, forget: Warn) {
  const { env, extras, apps, root } = settings
  const readerOf = await loadDetails(settings)
  if (env !== 'development') {
    // Otherwise the first request that needs these loads them.
    const loading = extras.map(each => each.views?.load())
    await Promise.all([loadModuleLexer(), loadCompilers(), ...loading])
  }
  const sources = await loadSources(settings, warn)
  // A test loads only the compilers that it needs. Requests report unreadable files.
  if (env !== 'development' && env !== 'test') {
    const compiling = apps.filter(({ compile }) => compile).map(sources.of)
    const used = await Promise.all(compiling.map(each => each.compilers().catch(ignoreSystemError)))
    await loadPeersOf(new Set(used.flatMap(each => each ?? [])), root)
  }
  const rebuilt = new Rebuilt(settings, sources, warn, forget)
  const publishing = new Publishing(settings, sources, rebuilt, warn)
  if (env !== 'production') publishing.detailsOf = detailsInSources(readerOf)
  for (const extra of extras) publishing.plain.keeper ??= await extra.keptIndex?.keeper(publishing)
  return publishing
}

export class Publishing implements OnRequest {
  readonly settings: Project
  readonly sources: Sources
  readonly plain: PlainNames
  readonly dependencies: readonly PageDependency[]
  readonly checkName: OnRequest['checkName']
  detailsOf: ReturnType<typeof detailsInSources> | undefined
  readonly rebuilt: Rebuilt
  readonly #warn: Warn

  readonly sourced = async (app: AppSettings, name: string) => {
    const sources = this.sources.of(app)
    if (await sources.find(name)) return name
    const plain = splitFingerprint(name)?.name
    return plain !== undefined && (await sources.find(plain)) ? plain : undefined
  }

  constructor(settings: Project, sources: Sources, rebuilt: Rebuilt, warn: Warn) {
    this.settings = settings
    this.sources = sources
    this.plain = new PlainNames(settings, sources, warn)
    this.rebuilt = rebuilt
    this.#warn = warn
    this.checkName = makeNameCheck(settings, sources, warn)
    const { apps } = settings
    const listed = apps.flatMap(app => this.#listed(app) ?? [])
    this.dependencies = [
      ...(apps.some(app => app.compile && app.fingerprint) ? [rebuilt] : []),
      ...listed
        .flatMap(({ lists }) => lists)
        .map(list => ({
          refresh: () => list.verify(),
          get version() {
            return list.digest
          }
        })),
      // Pages with plain names need the sources for tails, names that mounts may also have, and image sizes.
      ...listed.map(each => ({ refresh: () => each.refresh() }))
    ]
  }

  /** Returns the sources of an app with plain names; undefined for an app whose names are in a manifest. */
  #listed(app: AppSettings): AppSources | undefined {
    return app.compile && !app.fingerprint ? this.sources.of(app) : undefined
  }

  async publish(app: AppSettings, name: string) {
    if (!app.fingerprint) return this.plain.publish(app, name)
    return this.rebuilt.publish(app, name, await this.sourced(app, name))
  }

  reportTail(app: AppSettings, name: string): void {
    const { source } = this.sources.of(app).chosen(name)
    if (!source || source.name === name) return
    this.#warn(
      `a page asks for ${assetPath(app, name)}, a 404 in production, which has ${source.path} as ${assetPath(app, source.name)}: use a helper`
    )
  }

  indexed(path: string): IndexEntry | undefined {
    return this.plain.index.peek(path) ?? this.rebuilt.index.peek(path)
  }

  chosen(app: AppSettings, given: string) {
    const { source } = this.#listed(app)?.chosen(given) ?? {}
    return source && { name: source.name, readDetails: this.detailsOf?.({ app, source }) }
  }

  imports(app: AppSettings) {
    const { lists = [] } = this.#listed(app) ?? {}
    return lists.some(each => 'imports' in each)
      ? () => lists.flatMap(({ imports }) => imports ?? [])
      : undefined
  }
}

/** Returns the publishing of a pipeline, for extras, which need more of it than the runtime does. */
export function publishingIn({ onRequest }: { readonly onRequest: unknown }): Publishing {
  if (onRequest instanceof Publishing) return onRequest
  throw new Error('the pipeline has not been loaded')
}

/** Beyond this number, all details are forgotten. */
const MAX_READ = 2000

/**
 * Reads the details of a file from its source: a page names an asset before a browser requests it, and helpers are
 * synchronous. So pages wait for the disk, but not in production.
 */
function detailsInSources(readerOf: Awaited<ReturnType<typeof loadDetails>>) {
  const known = new Map<string, { readonly stamp: Stamp; readonly details: Details }>()
  return (asset: AppSource): (() => Details) | undefined => {
    const { file, name, compiler } = asset.source
    const read = compiler ? undefined : readerOf(name)
    if (!read) return undefined
    return () => {
      const [stamp, now] = [readable(() => stampIfThere(file)), Date.now()]
      const last = known.get(file)
      if (last && stamp && sameStamp(last.stamp, stamp)) return last.details
      const bytes = stamp && readable(() => headIfThere(file, HEAD))
      const details = bytes ? read(bytes, file, asset) : {}
      if (known.size >= MAX_READ) known.clear()
      if (stamp && isSettled(stamp, now)) known.set(file, { stamp, details })
      return details
    }
  }
}

function readable<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch (error) {
    return ignoreSystemError(error)
  }
}
