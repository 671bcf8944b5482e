// Reads the build of a mount: its manifest at start, its files before the first page and, once complete, after changes.
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { inParallel } from '../../runtime/concurrency.ts'
import { AssetError } from '../../runtime/errors.ts'
import { readIfThere, ReloadedFile, statIfThere } from '../../runtime/files/at-start.ts'
import { checksumsOf, digestOf, type IntegrityAlgorithm } from '../../runtime/files/digest.ts'
import { isSettled, statOf, undefinedIfMissing, type Stamp } from '../../runtime/files/disk.ts'
import { readSnapshot } from '../../runtime/files/open-file.ts'
import { detailsIn } from '../../runtime/app/details.ts'
import type { Extra } from '../../runtime/app/extra.ts'
import type { MountSettings } from '../../runtime/settings/mounts.ts'
import type { Located, LoadedUrl } from '../../runtime/views/asset-url.ts'
import { sourceUrl, type EntrySource } from './entry-source.ts'
import { hashedKept, keptListIn } from './kept-files.ts'
import { withoutQuery, type Bundle, type LoadedFile } from './manifests/bundle.ts'
import { addressAt, readBundle, REMEDY, type BundleMount } from './manifests/read-bundle.ts'

const CONCURRENCY = 4
/** A file that was written within this time may be incomplete. */
const RESTED_MS = 1000
/** A build that has not written its manifest within this time will not: with fixed names it may be unchanged. */
const FINISHED_MS = 2000
/** Part of a note, as the file of `fallback` is that of the last build. */
const OPEN_THERE = 'while Vite runs, open pages there'

interface MountOfBuild extends BundleMount, Pick<MountSettings, 'revalidate' | 'fallback'> {
  /** An application starts without a build in development and in tests. */
  readonly env: string
  /** The host with the base; without a trailing slash, empty for none. */
  readonly host: string
  readonly algorithms: readonly IntegrityAlgorithm[]
  readonly extras: readonly Extra[]
  readonly warn: (message: string) => void
}

interface Reading {
  readonly bundle: Bundle
  /** The files of earlier builds whose names contain a hash. */
  readonly kept: ReadonlySet<string>
  /** Changes with the tags of any entry. */
  readonly version: string
  readonly source: EntrySource
  /** The build, from the first page on. The version and the time, in milliseconds, change with any of its files. */
  readonly build?: { readonly version: string; readonly changedAt: number }
}

export class MountedBuild {
  readonly urlPath: string
  readonly #mount: MountOfBuild
  readonly #file: ReloadedFile
  #reading: Reading | undefined

  constructor(mount: MountOfBuild) {
    const { manifest, urlPath, env, warn } = mount
    this.urlPath = urlPath
    this.#mount = mount
    this.#file = new ReloadedFile(manifest, {
      failure: 'keeping the last build',
      warn,
      take: async (bytes, stamp) => {
        const reading = await readWhole(mount, bytes, stamp, this.build)
        this.#reading = reading ?? this.#reading
        return reading !== undefined
      }
    })
    // The first page reads the files as well.
    this.#file.distrust()
    this.#reading = readAtStart(mount)
    if (this.#reading || env === 'development' || env === 'test') return
    throw new AssetError('manifest-missing', `there is no manifest ${manifest}: ${REMEDY}`)
  }

  get source(): EntrySource {
    return this.#reading?.source ?? withoutBuild(this.#mount)
  }

  get version(): string {
    return this.#reading?.version ?? ''
  }

  get build(): Reading['build'] {
    return this.#reading?.build
  }

  isHashed(file: string): boolean {
    const { bundle, kept } = this.#reading ?? {}
    return (bundle?.hashed.has(file) || kept?.has(file)) ?? false
  }

  /** Switches to another build once it has been written; undefined if there is nothing to wait for. */
  refresh(seconds: number): Promise<void> | undefined {
    return this.#file.refresh(seconds === 0 ? 0 : (this.#mount.revalidate ?? seconds))
  }

  /** Tells whether a file is part of the build. If one is written with no bundler at work, the next look reads all. */
  hasBuilt(file: string, stamp: Stamp): boolean {
    const { bundle, build } = this.#reading ?? {}
    if (!build || !bundle?.paths.has(file)) return false
    const isFinished = isSettled(stamp, Date.now() - FINISHED_MS)
    const isNewer = Number(stamp.ctimeNs / 1_000_000n) > build.changedAt
    if (isFinished && isNewer) this.#file.distrust()
    return true
  }
}

type Facts = Pick<Located, 'integrity' | 'imageSize'>

function sourceOf(
  { urlPath, manifest, host, fallback }: MountOfBuild,
  { isVite, entries, lazy, sources }: Bundle,
  builtAt: number,
  facts?: ReadonlyMap<string, Facts>
): EntrySource {
  const addressOf = (file: string) => ({ ...addressAt(urlPath, file), ...facts?.get(file) })
  const urlOf = ({ file, as }: LoadedFile): LoadedUrl => {
    const { path, integrity } = addressOf(file)
    return { url: host + path, integrity, as }
  }
  return {
    urlPath,
    label: manifest,
    names: [...entries.keys(), ...lazy.keys()],
    sourceNames: [...sources.keys()],
    get state() {
      if (!isVite) return undefined
      // The Swedish format of local time is ISO 8601 without the `T`.
      const time = new Date(builtAt).toLocaleString('sv').slice(0, 16)
      const where = fallback ? `; ${OPEN_THERE}` : ''
      return `Vite is not running: tags of the build of ${time}${where}`
    },
    entry(name) {
      const load = entries.get(name) ?? lazy.get(name)
      const kind = entries.has(name) ? 'entry' : 'lazy'
      return load && { kind, load: () => load().map(urlOf) }
    },
    file(name) {
      const file = sources.get(name)
      return file === undefined ? undefined : addressOf(file)
    }
  }
}

function withoutBuild({ urlPath, manifest, host, env, fallback }: MountOfBuild): EntrySource {
  const isVite = manifest.includes('.vite')
  const source = { urlPath, label: manifest, state: fallback && isVite ? OPEN_THERE : undefined }
  // Tests check the application, not the build.
  if (env === 'test')
    return {
      ...source,
      entry: name => ({ kind: 'possible', load: () => [sourceUrl(host, urlPath, name)] }),
      file: name => addressAt(urlPath, name)
    }
  const message = `the mount ${urlPath || '/'} has neither a build nor a dev server: there is no ${manifest}, and Vite is not running with the plugin freshAssets (npx vite)`
  const load = () => {
    // Only developers see the page, and the remedy is not in its code.
    throw Object.assign(new AssetError('manifest-missing', message), { expose: true })
  }
  return { ...source, entry: () => ({ kind: 'possible', load }), file: () => undefined }
}

function readAtStart(mount: MountOfBuild): Reading | undefined {
  const { manifest, dir } = mount
  const stats = statIfThere(manifest)
  const bytes = stats?.isFile() ? readIfThere(manifest) : undefined
  if (!bytes) return undefined
  const bundle = readBundle(bytes, mount)
  const missing = [...bundle.tagged].find(file => !statIfThere(pathOf(mount, file))?.isFile())
  if (missing !== undefined) throw incomplete(mount, missing)
  const kept = hashedKept(readIfThere(keptListIn(dir)), dir)
  const source = sourceOf(mount, bundle, Number(stats?.mtimeMs))
  return { bundle, kept, version: digestOf(bytes), source }
}

/** Returns undefined while a file is missing or being written, so that the last build stays. */
async function readWhole(mount: MountOfBuild, bytes: Buffer, stamp: Stamp, last: Reading['build']) {
  const bundle = readBundle(bytes, mount)
  // A file that no tag loads may be missing, as at start.
  const changedAt = await whenAtRest(mount, bundle, last ? bundle.files : bundle.tagged)
  if (changedAt === undefined) return undefined
  const facts = new Map<string, Facts>()
  await inParallel([...bundle.files], CONCURRENCY, async file => {
    const known = await undefinedIfMissing(factsOf(mount, file))
    if (known) facts.set(file, known)
  })
  if ([...bundle.tagged].some(file => !facts.has(file))) return undefined
  const hashes = [...bundle.files].flatMap(file => facts.get(file)?.integrity ?? [])
  const version = digestOf(`${digestOf(bytes)} ${hashes.join(' ')}`)
  const latest = Math.max(changedAt, Number(stamp.ctimeNs / 1_000_000n))
  const build = { version: `${version} ${changedAt}`, changedAt: latest }
  const kept = hashedKept((await readSnapshot(keptListIn(mount.dir)))?.bytes, mount.dir)
  const source = sourceOf(mount, bundle, Number(stamp.mtimeNs / 1_000_000n), facts)
  // Perhaps only the manifest was touched.
  return { bundle, kept, version, source, build: last?.version === build.version ? last : build }
}

/** Returns the time when the last of the files was written, in milliseconds since 1970, once none changes. */
async function whenAtRest(mount: MountOfBuild, bundle: Bundle, needed: ReadonlySet<string>) {
  const look = async () => {
    let [last, missing] = [0, '']
    await inParallel([...bundle.files], CONCURRENCY, async file => {
      const stats = await statOf(pathOf(mount, file))
      if (stats?.isFile()) last = Math.max(last, Number(stats.ctimeMs))
      else if (needed.has(file)) missing ||= file
    })
    if (missing) mount.warn(`keeping the last build: ${incomplete(mount, missing).message}`)
    return missing ? undefined : last
  }
  // The age is measured before the look, which may take long. The clock of the disk may be ahead of ours.
  const [lookedAt, changedAt] = [Date.now(), await look()]
  const rest = RESTED_MS - (lookedAt - (changedAt ?? 0))
  if (changedAt === undefined || changedAt > Date.now() || rest <= 0) return changedAt
  await setTimeout(rest)
  return (await look()) === changedAt ? changedAt : undefined
}

async function factsOf(mount: MountOfBuild, file: string): Promise<Facts> {
  const { algorithms, extras } = mount
  const content = { copyOf: pathOf(mount, file) }
  if (!/\.(?:m?js|css)$/.test(content.copyOf)) return detailsIn(extras, withoutQuery(file), content)
  return algorithms.length > 0 ? checksumsOf(content, algorithms) : {}
}

const pathOf = ({ dir }: BundleMount, file: string) => join(dir, withoutQuery(file))

function incomplete({ manifest, dir }: BundleMount, file: string): AssetError {
  const message = `${manifest} names ${file}, which is not in ${dir}: build again, and let the mount's dir be the bundler's output directory`
  return new AssetError('manifest-broken', message)
}
