// Makes the publishers on request: loaded if an app needs one, and to explain any app by its sources.
import { headIfThere, stampIfThere } from '../../runtime/files/at-start.ts'
import { errorCode, isSettled, sameStamp, type Stamp } from '../../runtime/files/disk.ts'
import { loadCompilers, loadPeersOf } from '../compilers/built-in.ts'
import type { Details, Project } from '../../runtime/app/parts.ts'
import { loadModuleLexer } from '../references/module-references.ts'
import { HEAD, loadDetails, type DetailsReader } from '../../runtime/app/details.ts'
import { manifestFile } from '../../runtime/settings/public-directory.ts'
import type { AppSettings } from '../../runtime/settings/settings.ts'
import { makeNameCheck } from '../sources/missing-name.ts'
import { loadSources, type Sources } from '../sources/sources.ts'
import { readEntries } from '../../runtime/urls/read-manifest.ts'
import { publishingOf } from '../../runtime/app/publisher.ts'
import { Fingerprints } from './rebuilt.ts'
import { PlainNames } from './plain.ts'

export type OnRequest = Awaited<ReturnType<typeof makeOnRequest>>

export async function makeOnRequest(settings: Project, warn: (message: string) => void) {
  const { env, extras } = settings
  const readDetails = await loadDetails(settings)
  if (env !== 'development') await loadBeforehand(extras)
  const sources = await loadSources(settings, warn)
  if (env !== 'development' && env !== 'test') await loadPeers(settings, sources)
  const isPrecompiled = async (path: string) =>
    (await readEntries(manifestFile(settings), true)).has(path)
  const isNeeded = settings.apps.some(app => publishingOf(app) === 'fingerprints')
  return {
    sources,
    /** Returns the sources of an app with plain names; undefined where a manifest has the names. */
    listed: (app: AppSettings) => (publishingOf(app) === 'plain' ? sources.of(app) : undefined),
    plain: new PlainNames(settings, sources, warn),
    fingerprints: isNeeded ? new Fingerprints(settings, sources, warn) : undefined,
    checkName: makeNameCheck(settings, sources, isPrecompiled, warn),
    detailsOf: env === 'production' ? undefined : detailsInSources(sources, readDetails)
  }
}

/** Loads what otherwise the first request loads that needs it. */
async function loadBeforehand(extras: Project['extras']): Promise<void> {
  await loadModuleLexer()
  await loadCompilers()
  for (const { views } of extras) await views?.load()
}

/** A test loads the compilers of what it asks for. */
async function loadPeers({ apps, root }: Project, sources: Sources): Promise<void> {
  const compiling = apps.filter(({ compile }) => compile)
  const used = await Promise.all(
    compiling.map(app => sources.of(app).compilers().catch(noneIfRefused))
  )
  await loadPeersOf(new Set(used.flat()), root)
}

/** Ignores a folder that cannot be read: the requests for its files report it. */
function noneIfRefused(error: unknown): [] {
  if (errorCode(error) === undefined) throw error
  return []
}

/** Beyond this number all are forgotten. */
const MAX_READ = 2000

/**
 * Reads the details of a file from its source: a page names an asset before a browser asks for it, and helpers are
 * synchronous. So a page waits for the disk, but not in production.
 */
function detailsInSources(sources: Sources, readerOf: DetailsReader) {
  const known = new Map<string, { readonly stamp: Stamp; readonly details: Details }>()
  return (app: AppSettings, name: string): Details => {
    const { source } = sources.of(app).chosen(name)
    const read = source && !source.compiler && readerOf(name, { app, source })
    if (!read) return {}
    const { file } = source
    const [stamp, now] = [readable(() => stampIfThere(file)), Date.now()]
    const last = known.get(file)
    if (last && stamp && sameStamp(last.stamp, stamp)) return last.details
    const bytes = stamp && readable(() => headIfThere(file, HEAD))
    const details = bytes ? read(bytes, file) : {}
    if (known.size >= MAX_READ) known.clear()
    if (stamp && isSettled(stamp, now)) known.set(file, { stamp, details })
    return details
  }
}

/** The request for an asset reports why it cannot be read. */
function readable<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch (error) {
    if (errorCode(error) === undefined) throw error
    return undefined
  }
}
