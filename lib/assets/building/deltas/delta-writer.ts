// The deltas that precompile writes, from the versions of earlier deploys to an asset that changed.
import { isInPlace } from '../../../files/containment.ts'
import { deltaExtension } from '../../../files/deltas/delta-file.ts'
import { canMakeDeltas, MAX_DELTA_BYTES } from '../../../files/deltas/make-delta.ts'
import { digestOf } from '../../../files/digest.ts'
import { readOpenFile, removeFile, statOf, withFile } from '../../../files/disk.ts'
import { isCompressibleType } from '../../../http/media-type.ts'
import { publicFile } from '../../settings/public-directory.ts'
import type { Settings } from '../../settings/settings.ts'
import { encodePath } from '../../urls/encode.ts'
import { splitFingerprint } from '../../urls/fingerprint.ts'
import { publishedPath, publishedUrl, type Built } from '../built.ts'
import type { ManifestEntries } from '../manifest/entries.ts'
import { deltasByTarget, listPublished, type PublishedFile } from './published-files.ts'
import { savingsOf, type DeltaReport, type DeltaSizes } from './delta-report.ts'
import { MAX_DELTAS, updateDelta } from './update-delta.ts'

interface Version extends PublishedFile {
  readonly digest: string
}

/** The published files before this build. */
interface Earlier {
  /** By the path without the fingerprint. */
  readonly versions: ReadonlyMap<string, readonly Version[]>
  readonly deltas: ReturnType<typeof deltasByTarget>
}

export class DeltaWriter {
  readonly #settings: Settings
  readonly #before: ManifestEntries
  #earlier: Promise<Earlier> | undefined
  #isWritable: boolean | undefined
  readonly #sizes: DeltaSizes[] = []

  /** @param before the entries of the previous manifest */
  constructor(settings: Settings, before: ManifestEntries) {
    this.#settings = settings
    this.#before = before
  }

  /** Undefined when no asset changed that has an earlier version. */
  get report(): DeltaReport | undefined {
    return this.#isWritable === undefined
      ? undefined
      : { isWritable: this.#isWritable, ...savingsOf(this.#sizes) }
  }

  /** @param smallest the size of the smallest other representation, in bytes */
  async write(built: Built, smallest: number): Promise<void> {
    const { path, app, size } = built
    if (!this.#settings.deltas || !app.fingerprint || size > MAX_DELTA_BYTES) return
    if (!isCompressibleType(path) || this.#isUnchanged(built)) return
    const earlier = await (this.#earlier ??= this.#list())
    const older = await this.#olderThan(built, earlier)
    if (older.length === 0) return
    this.#isWritable = await canMakeDeltas()
    if (this.#isWritable) await this.#writeAll(built, smallest, older, earlier)
  }

  /** Its deltas were made when it was new. */
  #isUnchanged(built: Built): boolean {
    return this.#before.get(encodePath(built.path))?.target === publishedUrl(built)
  }

  async #list(): Promise<Earlier> {
    const files = await listPublished(this.#settings)
    const versions = new Map<string, Version[]>()
    for (const file of files) {
      const fingerprint = splitFingerprint(file.path)
      if (!fingerprint) continue
      const { name, digest } = fingerprint
      const known = versions.get(name) ?? []
      known.push({ ...file, digest })
      versions.set(name, known)
    }
    return { versions, deltas: deltasByTarget(files) }
  }

  /** The version that pages name now, then the others, the newest first. */
  async #olderThan(built: Built, { versions }: Earlier): Promise<readonly Version[]> {
    const name = splitFingerprint(publishedPath(built))?.name ?? built.path
    const others = (versions.get(name) ?? []).filter(({ digest }) => digest !== built.digest)
    const current = this.#before.get(encodePath(built.path))?.target
    const dated = await Promise.all(
      others.map(async version => {
        const isCurrent = encodePath(version.path) === current
        return { version, isCurrent, stats: await statOf(version.file) }
      })
    )
    return dated
      .toSorted(
        (a, b) =>
          Number(b.isCurrent) - Number(a.isCurrent) ||
          Number((b.stats?.ctimeNs ?? 0n) - (a.stats?.ctimeNs ?? 0n))
      )
      .map(({ version }) => version)
  }

  async #writeAll(
    built: Built,
    smallest: number,
    older: readonly Version[],
    { deltas }: Earlier
  ): Promise<void> {
    const path = publishedPath(built)
    const file = publicFile(this.#settings, path)
    const bytes = await this.#read(file, built.digest)
    if (!bytes) return
    const target = { file, bytes, smallest, mtimeNs: built.mtimeNs }
    const kept = new Set<string>()
    let tried = 0
    for (const { file: oldFile, digest } of older) {
      const old = await this.#read(oldFile, digest)
      // A file that precompile did not make, or that was edited, is no version.
      if (!old) continue
      const delta = await updateDelta(this.#settings.place, target, old)
      if (delta) {
        kept.add(file + deltaExtension(digest))
        this.#sizes.push({ size: delta.size, insteadOf: smallest })
      }
      if (++tried === MAX_DELTAS) break
    }
    const stale = (deltas.get(path) ?? []).filter(delta => !kept.has(delta.file))
    for (const delta of stale) await removeFile(delta.file)
  }

  /** The bytes of a fingerprinted file; undefined unless they have the digest, and for a large one. */
  async #read(file: string, digest: string): Promise<Buffer | undefined> {
    return withFile(file, async opened => {
      if (opened.stats.size > MAX_DELTA_BYTES) return undefined
      if (!(await isInPlace(this.#settings.place)(opened))) return undefined
      const { bytes } = await readOpenFile(opened)
      return digestOf(bytes) === digest ? bytes : undefined
    })
  }
}
