// Makes the publishers on request: loaded if an app needs one, and to explain any app by its sources.
import { headIfThere, stampIfThere } from '../../../files/at-start.ts'
import { errorCode, isSettled, sameStamp, type Stamp } from '../../../files/disk.ts'
import { loadCompilers, loadPeersOf } from '../../compilers/built-in.ts'
import type { ImageSize, ReadImageSize, Project } from '../../parts.ts'
import { loadModuleLexer } from '../../references/module-references.ts'
import { HEAD, loadImageSizes } from '../../rendering/image-sizes.ts'
import { manifestFile } from '../../settings/public-directory.ts'
import type { AppSettings } from '../../settings/settings.ts'
import { makeNameCheck } from '../../sources/missing-name.ts'
import { loadSources, type Sources } from '../../sources/sources.ts'
import { readEntries } from '../manifest/read-manifest.ts'
import { publishingOf } from './publisher.ts'
import { Fingerprints } from './fingerprints.ts'
import { PlainNames } from './plain-names.ts'

export type OnRequest = Awaited<ReturnType<typeof makeOnRequest>>

/** @param forget receives the URL path of each file that is removed */
export async function makeOnRequest(
  settings: Project,
  warn: (message: string) => void,
  forget: (path: string) => void
) {
  const { env, extras } = settings
  const imageSizes = await loadImageSizes(extras)
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
    fingerprints: isNeeded ? new Fingerprints(settings, sources, warn, forget) : undefined,
    checkName: makeNameCheck(settings, sources, isPrecompiled, warn),
    imageSizeOf: env === 'production' ? undefined : imageSizesIn(sources, imageSizes)
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

/** Of a folder that cannot be read, requests tell. */
function noneIfRefused(error: unknown): [] {
  if (errorCode(error) === undefined) throw error
  return []
}

/** Beyond this number all are forgotten. */
const MAX_MEASURED = 2000

/**
 * Reads the size of an image from its source: a page names an asset before a browser asks for it, and helpers are
 * synchronous. So a page waits for the disk, but not in production.
 */
function imageSizesIn(sources: Sources, readerFor: (name: string) => ReadImageSize | undefined) {
  const measured = new Map<string, { readonly stamp: Stamp; readonly size?: ImageSize }>()
  return (app: AppSettings, name: string) => {
    const measure = readerFor(name)
    const source = measure && sources.of(app).chosen(name).source
    if (!source || source.compiler) return undefined
    const { file } = source
    try {
      const [stamp, now] = [stampIfThere(file), Date.now()]
      const known = measured.get(file)
      if (known && stamp && sameStamp(known.stamp, stamp)) return known.size
      const bytes = stamp && headIfThere(file, HEAD)
      const size = bytes && measure(bytes)
      if (measured.size >= MAX_MEASURED) measured.clear()
      if (stamp && isSettled(stamp, now)) measured.set(file, { stamp, ...(size && { size }) })
      return size
    } catch (error) {
      // The request for the asset reports why it cannot be read.
      if (errorCode(error) === undefined) throw error
      return undefined
    }
  }
}
