// Reads the build of a mount: its manifest, and what tags say about its files. A start needs only what is known
// without the files; from the first page on a build is read as a whole, once no bundler is writing it.
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { inParallel } from '../../runtime/concurrency.ts'
import { AssetError } from '../../runtime/errors.ts'
import { readIfThere, statIfThere } from '../../runtime/files/at-start.ts'
import { checksumsOf, digestOf, type IntegrityAlgorithm } from '../../runtime/files/digest.ts'
import { undefinedIfMissing, statOf, type Stamp } from '../../runtime/files/disk.ts'
import { readSnapshot } from '../../runtime/files/open-file.ts'
import type { Extra } from '../../runtime/app/parts.ts'
import { detailsIn } from '../../runtime/app/details.ts'
import type { AssetAddress } from '../../runtime/views/asset-url.ts'
import { hashedKept, keptListIn } from './kept-files.ts'
import { withoutQuery, type Bundle } from './manifests/bundle.ts'
import { readBundle, type BundleMount } from './manifests/read-bundle.ts'

const CONCURRENCY = 4
/** A file that was written more recently may be half written. */
const RESTED_MS = 1000

export interface MountOfBuild extends BundleMount {
  readonly algorithms: readonly IntegrityAlgorithm[]
  readonly extras: readonly Extra[]
  readonly warn: (message: string) => void
}

export interface Reading {
  readonly bundle: Bundle
  /** The time when its manifest was written: milliseconds since 1970. */
  readonly builtAt: number
  /** Changes with the tags of any entry. */
  readonly version: string
  /** The files whose names contain a hash: those of the manifest, and by list those of earlier builds. */
  readonly hashed: ReadonlySet<string>
  /** What tags say about files; empty until the first page. */
  readonly facts: ReadonlyMap<string, Facts>
  /** The build with the state of its files, from the first page on. */
  readonly build?: Build
}

/** The hashes of a file that tags may name, and the size of an image that pages name by its source. */
type Facts = Pick<AssetAddress, 'integrity' | 'imageSize'>

export interface Build {
  /** A text that changes once any of the files has been written. */
  readonly version: string
  /** The time at which the last of them was written, in milliseconds since 1970. */
  readonly changedAt: number
}

/**
 * Returns undefined if there is no manifest.
 * @throws AssetError for one that is broken, or whose tags name a file that does not exist
 */
export function readAtStart(mount: MountOfBuild): Reading | undefined {
  const { manifest, dir } = mount
  const stats = statIfThere(manifest)
  const bytes = stats?.isFile() ? readIfThere(manifest) : undefined
  if (!bytes) return undefined
  const bundle = readBundle(bytes, mount)
  const missing = [...bundle.tagged].find(file => !statIfThere(pathOf(mount, file))?.isFile())
  if (missing !== undefined) throw incomplete(mount, missing)
  return {
    bundle,
    builtAt: Number(stats?.mtimeMs),
    version: digestOf(bytes),
    hashed: new Set([...bundle.hashed, ...hashedKept(readIfThere(keptListIn(dir)), dir)]),
    facts: new Map()
  }
}

/**
 * Returns undefined while a file is missing or is being written: the build before it stays.
 * @param last is the build that was read before; undefined for the first page
 * @throws AssetError for a manifest that is broken
 */
export async function readWhole(
  mount: MountOfBuild,
  bytes: Buffer,
  stamp: Stamp,
  last: Build | undefined
): Promise<Reading | undefined> {
  const bundle = readBundle(bytes, mount)
  // As at start, a file that is in no tag may be missing.
  const changedAt = await whenAtRest(mount, bundle, last ? bundle.files : bundle.tagged)
  if (changedAt === undefined) return undefined
  const facts = new Map<string, Facts>()
  await inParallel([...bundle.files], CONCURRENCY, async file => {
    const known = await undefinedIfMissing(factsOf(mount, bundle, file))
    if (known) facts.set(file, known)
  })
  if ([...bundle.tagged].some(file => !facts.has(file))) return undefined
  const hashes = [...bundle.taggable].flatMap(file => facts.get(file)?.integrity ?? [])
  const version = digestOf(`${digestOf(bytes)} ${hashes.join(' ')}`)
  const build = {
    version: `${version} ${changedAt}`,
    changedAt: Math.max(changedAt, Number(stamp.ctimeNs / 1_000_000n))
  }
  const kept = await readSnapshot(keptListIn(mount.dir))
  return {
    bundle,
    builtAt: Number(stamp.mtimeNs / 1_000_000n),
    version,
    hashed: new Set([...bundle.hashed, ...hashedKept(kept?.bytes, mount.dir)]),
    facts,
    // The manifest alone may have been touched.
    build: last?.version === build.version ? last : build
  }
}

/** Returns the time when the last of the files was written: milliseconds since 1970. */
async function whenAtRest(
  mount: MountOfBuild,
  bundle: Bundle,
  needed: ReadonlySet<string>
): Promise<number | undefined> {
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
  const changedAt = await look()
  const rest = changedAt === undefined ? 0 : RESTED_MS - (Date.now() - changedAt)
  // The rest is longer for a time in the future: the clock of the disk may be ahead of ours.
  if (rest <= 0 || rest > RESTED_MS) return changedAt
  await setTimeout(rest)
  return (await look()) === changedAt ? changedAt : undefined
}

async function factsOf(mount: MountOfBuild, bundle: Bundle, file: string): Promise<Facts> {
  const { algorithms, extras } = mount
  const content = { copyOf: pathOf(mount, file) }
  const isHashed = algorithms.length > 0 && bundle.taggable.has(file)
  const sums = isHashed ? await checksumsOf(content, algorithms) : undefined
  const { imageSize } = await detailsIn(extras, withoutQuery(file), content)
  return { integrity: sums?.integrity, imageSize }
}

function pathOf({ dir }: BundleMount, file: string): string {
  return join(dir, withoutQuery(file))
}

function incomplete({ manifest, dir }: BundleMount, file: string): AssetError {
  return new AssetError(
    'manifest-broken',
    `${manifest} names ${file}, which is not in ${dir}: build again, and let the mount's dir be the bundler's output directory`
  )
}
