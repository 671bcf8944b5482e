// An earlier build of a bundler, from whose files deltas lead to those of the build that is served.
import { join } from 'node:path'
import { isInPlace, type ServedPlace } from '../../../files/containment.ts'
import { splitDelta } from '../../../files/deltas/delta-file.ts'
import { canMakeDeltas, MAX_DELTA_BYTES } from '../../../files/deltas/make-delta.ts'
import { readOpenFile, removeFile, statOf, withFile } from '../../../files/disk.ts'
import { mtimeNotBefore } from '../../../files/writing/mtime.ts'
import { isCompressibleType } from '../../../http/media-type.ts'
import { withoutHash } from '../../urls/fingerprint.ts'
import { openDirectory, type BuiltDirectory } from '../copies/directory.ts'
import { faultOfDelta } from './check-delta.ts'
import type { DeltaSizes } from './delta-report.ts'
import { MAX_DELTAS, updateDelta } from './update-delta.ts'

interface DeltaPath {
  readonly path: string
  /** The digest of what it starts from. */
  readonly from: string
}

export class OlderDirectory {
  readonly #directory: BuiltDirectory
  readonly #served: BuiltDirectory
  /** The deltas beside each file that is served. */
  readonly #deltas = new Map<string, DeltaPath[]>()
  /** Paths of its files by what is left of them without the hash. */
  readonly #files = new Map<string, string[]>()

  private constructor(directory: BuiltDirectory, served: BuiltDirectory) {
    this.#directory = directory
    this.#served = served
    for (const path of served.files) {
      const { name, digest } = splitDelta(path) ?? {}
      if (name === undefined || digest === undefined) continue
      this.#deltas.set(name, [...(this.#deltas.get(name) ?? []), { path, from: digest }])
    }
    for (const path of directory.files.filter(isCompressibleType)) {
      const key = keyOf(path)
      if (key !== undefined) this.#files.set(key, [...(this.#files.get(key) ?? []), path])
    }
  }

  /** @throws as `openDirectory` does */
  static async open(directory: string, served: BuiltDirectory): Promise<OlderDirectory> {
    return new OlderDirectory(await openDirectory(directory), served)
  }

  /**
   * Brings the deltas of a file up to date.
   * @param path relative to the directory that is served
   * @param smallest the size of its smallest other representation, in bytes
   */
  async update(path: string, smallest: number): Promise<readonly DeltaSizes[]> {
    const { place } = this.#served
    const file = join(place.dir, path)
    await this.#removeFaulty(path, file)
    const older = this.#files.get(keyOf(path) ?? '')
    if (!older || !(await canMakeDeltas())) return []
    const next = await read(place, file)
    if (!next) return []
    const mtimeNs = mtimeNotBefore(next.stamp.mtimeNs)
    const target = { file, bytes: next.bytes, smallest, mtimeNs }
    const sizes: DeltaSizes[] = []
    for (const name of await this.#nearest(older, next.bytes.length)) {
      const old = await read(this.#directory.place, name)
      if (!old || old.bytes.equals(next.bytes)) continue
      const delta = await updateDelta(place, target, old.bytes)
      if (delta) sizes.push({ size: delta.size, insteadOf: smallest })
    }
    return sizes
  }

  /** A file that was built anew under its name may have other bytes than the deltas beside it lead to. */
  async #removeFaulty(path: string, file: string): Promise<void> {
    for (const delta of this.#deltas.get(path) ?? []) {
      const deltaFile = join(this.#served.path, delta.path)
      if (await faultOfDelta(deltaFile, delta.from, file, undefined)) await removeFile(deltaFile)
    }
  }

  /** Several chunks may have one name; a version of the file is about as large. */
  async #nearest(paths: readonly string[], size: number): Promise<readonly string[]> {
    const sized = await Promise.all(
      paths.map(async path => {
        const file = join(this.#directory.path, path)
        return { file, distance: Math.abs(Number((await statOf(file))?.size ?? 0n) - size) }
      })
    )
    const nearest = sized.toSorted((a, b) => a.distance - b.distance).slice(0, MAX_DELTAS)
    return nearest.map(({ file }) => file)
  }
}

function keyOf(path: string): string | undefined {
  const without = withoutHash(`/${path}`)
  return without && `${without.before}*${without.after}`
}

function read(place: ServedPlace, file: string) {
  return withFile(file, async opened => {
    if (opened.stats.size > MAX_DELTA_BYTES) return undefined
    return (await isInPlace(place)(opened)) ? readOpenFile(opened) : undefined
  })
}
