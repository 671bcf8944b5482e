// Fingerprints without precompiling: the manifest is kept in memory, current before a page is
// rendered. A page cannot know which names it will ask for, so that every asset is looked at.
import { join } from 'node:path'
import { AssetError } from '../../errors.ts'
import { build } from '../building/build.ts'
import type { Built, Drafted } from '../building/finish-build.ts'
import { withFingerprint } from '../urls/fingerprint.ts'
import { Manifest } from '../building/manifest/manifest.ts'
import { entriesOf } from '../building/writing/publish-build.ts'
import { writeIfChanged } from '../../files/writing/replacement.ts'
import { recheck } from '../../files/observation.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'
import type { Source } from '../sources/catalog.ts'
import type { Sources } from '../sources/sources.ts'
import { contentOf } from '../building/writing/compressed-copies.ts'
import { writeVerified } from '../building/writing/write-build.ts'
import { removeFile, statOf } from '../../files/disk.ts'
import { outsidePublic, requireInPublic, wouldBeInPublic } from '../../files/containment.ts'
import { digestOfFile } from '../../files/digest.ts'
import { inParallel, oneAtATime } from '../../concurrency.ts'
import { asPublishError, rethrowAsPublishError } from '../../files/writing/publish-error.ts'

export interface LiveBuild {
  readonly manifest: Manifest
  /** Brings every asset up to date. */
  refresh(): Promise<void>
  /** What keeps an asset, by its plain path, from being published. */
  problemOf(path: string): AssetError | undefined
  /** Writes an asset's files again, where somebody took them away or changed them. */
  restore(path: string): Promise<void>
  /** Whether it published an asset under this plain path, whose source may be gone since. */
  has(path: string): boolean
  /** Whether no source came or went since the last `refresh`; no look at the disk. */
  readonly isCurrent: boolean
}

// As many files open at once, of thousands.
const CONCURRENCY = 16

export function isLive({ compile, fingerprint }: AppSettings): boolean {
  return compile && fingerprint
}

/** @param forget hears the path of each file that is removed */
export function makeLiveBuild(
  settings: Settings,
  sources: Sources,
  warn: (message: string) => void,
  forget: (path: string) => void
): LiveBuild {
  const drafts = new Map<string, { source: Source; generation: number; drafted: Drafted }>()
  let assets: ReadonlyMap<string, Built> = new Map()
  let problems: ReadonlyMap<string, AssetError> = new Map()
  let manifest = new Manifest(new Map())
  let builtFrom: number | undefined

  const generationOf = () => settings.apps.reduce((sum, app) => sum + sources.of(app).generation, 0)

  const reuse = async (path: string, source: Source): Promise<Drafted | undefined> => {
    const known = drafts.get(path)
    if (known?.source.file !== source.file || known.generation !== generationOf()) return undefined
    const inputs = await Promise.all(known.drafted.draft.inputs.map(recheck))
    return inputs.every(Boolean) ? known.drafted : undefined
  }

  const keep = (path: string, source: Source, drafted: Drafted): void => {
    if (!drafted.draft.isSettled) drafts.delete(path)
    else drafts.set(path, { source, generation: generationOf(), drafted })
  }

  /** What this process made goes with its source; what is another's, or of an earlier source, stays. */
  const withdraw = async ({ path, digest }: Built): Promise<void> => {
    const named = withFingerprint(path, digest)
    for (const each of new Set([path, named])) {
      const file = join(settings.publicDir, each)
      const isOurs = (await statOf(file))?.isFile() && (await digestOfFile(file)) === digest
      if (isOurs && (await wouldBeInPublic(settings, file))) await removeFile(file)
      forget(each)
    }
  }

  const refresh = oneAtATime(async () => {
    const generation = generationOf()
    const built = await build(settings, sources, { warn, only: isLive, reuse, keep })
    const changed = [...built.assets.values()].filter(
      asset => assets.get(asset.path)?.digest !== asset.digest
    )
    const found = new Map(built.problems.map(({ path, error }) => [path, error]))
    await inParallel(changed, CONCURRENCY, async asset => {
      await writeBoth(settings, asset).catch((error: unknown) => {
        const problem = asPublishError(settings, asset.path, error)
        if (!(problem instanceof AssetError)) throw problem
        found.set(asset.path, problem)
      })
    })
    problems = found
    // What cannot be published keeps its last good copy.
    const kept = [...assets].filter(([path]) => problems.has(path))
    const good = [...built.assets].filter(([path]) => !problems.has(path))
    const gone = [...assets].filter(([path]) => !problems.has(path) && !built.assets.has(path))
    await inParallel(gone, CONCURRENCY, ([, asset]) => withdraw(asset))
    const before = assets
    assets = new Map([...kept, ...good])
    for (const path of drafts.keys()) if (!assets.has(path)) drafts.delete(path)
    builtFrom = generation
    // One that is as before has its digest and its index already.
    if (!isSame(before, assets)) manifest = new Manifest(entriesOf(assets.values()))
  })

  return {
    get manifest() {
      return manifest
    },
    refresh,
    problemOf: path => problems.get(path),
    has: path => assets.has(path),
    get isCurrent() {
      if (builtFrom === undefined) return true
      return builtFrom === generationOf() && settings.apps.every(app => sources.of(app).isCurrent)
    },
    async restore(path) {
      const asset = assets.get(path)
      if (!asset) return
      await writeBoth(settings, asset).catch(rethrowAsPublishError(settings, path))
    }
  }
}

type Assets = ReadonlyMap<string, Built>

/** Whether a manifest of the one is that of the other. */
function isSame(one: Assets, other: Assets): boolean {
  if (one.size !== other.size) return false
  return [...one].every(([path, { digest, from, source }]) => {
    const twin = other.get(path)
    return twin?.digest === digest && twin.from === from && twin.source.path === source.path
  })
}

async function writeBoth(settings: Settings, asset: Built): Promise<void> {
  const fingerprinted = join(settings.publicDir, withFingerprint(asset.path, asset.digest))
  if (!(await wouldBeInPublic(settings, fingerprinted)))
    throw outsidePublic(settings, fingerprinted)
  const isThere = await statOf(fingerprinted)
  if (!isThere || (await digestOfFile(fingerprinted)) !== asset.digest) {
    await writeVerified(settings, fingerprinted, asset)
  }
  await writeIfChanged(
    join(settings.publicDir, asset.path),
    contentOf({ settings, built: asset, fingerprinted }),
    asset.mtimeNs,
    { checkLocation: requireInPublic(settings) }
  )
}
