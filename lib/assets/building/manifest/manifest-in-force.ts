// The manifest that pages are rendered by: read at start, and again when it changes.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readIfThere } from '../../../files/at-start.ts'
import { stampOf, ifThere, sameStamp, statOf, type Stamp } from '../../../files/disk.ts'
import { manifestFile } from '../../settings/manifest-file.ts'
import { Manifest, type ManifestEntry } from './manifest.ts'
import { manifestMissing, parsing } from './read-manifest.ts'
import type { Settings } from '../../settings/settings.ts'
import { atOnce, inParallel, inSlices, type Sliced } from '../../../concurrency.ts'

/** Parsing so much takes under 50 ms. */
const MAX_UNSLICED_BYTES = 2 * 1024 * 1024
const CONCURRENCY = 8

export class ManifestInForce {
  readonly file: string
  current: Manifest
  readonly #settings: Settings
  readonly #warn: (message: string) => void
  #stamp: Stamp | undefined
  #checkedAt = -Infinity
  #isBusy = false

  /** @throws AssetError for a file that is missing or broken: it names the file and the command */
  constructor(settings: Settings, warn: (message: string) => void) {
    this.file = manifestFile(settings)
    this.#settings = settings
    this.#warn = warn
    const text = readIfThere(this.file)
    if (text === undefined) throw manifestMissing(this.file)
    this.current = atOnce(parsing(Buffer.from(text), this.file))
    atOnce(this.current.indexing(settings.apps))
  }

  /** Looks for a newer one behind a request, at most once in `seconds`. */
  refreshBehind(seconds: number): void {
    const now = performance.now()
    if (this.#isBusy || now - this.#checkedAt < seconds * 1000) return
    this.#checkedAt = now
    this.#isBusy = true
    this.#refresh()
      .catch((error: Error) => this.#warn(`keeping the last manifest: ${error.message}`))
      .finally(() => (this.#isBusy = false))
  }

  async #refresh(): Promise<void> {
    const stats = await statOf(this.file)
    if (!stats || (this.#stamp && sameStamp(this.#stamp, stats))) return
    const bytes = await ifThere(readFile(this.file))
    if (bytes === undefined) return
    // What is broken is not read again before it changes.
    this.#stamp = stampOf(stats)
    const next = await inSlices(parsing(bytes, this.file, MAX_UNSLICED_BYTES))
    const dropped = await inSlices(droppedBy(this.current, next))
    const manifest = next.keeping(await this.#thoseThere(dropped))
    await inSlices(manifest.indexing(this.#settings.apps))
    this.current = manifest
  }

  async #thoseThere(entries: readonly Entry[]): Promise<readonly Entry[]> {
    const { publicDir } = this.#settings
    const found = await inParallel(entries, CONCURRENCY, async entry => {
      const stats = await statOf(join(publicDir, decodeURIComponent(entry[1].target)))
      return stats?.isFile() ? [entry] : []
    })
    return found.flat()
  }
}

type Entry = readonly [path: string, entry: ManifestEntry]

const ENTRIES_PER_SLICE = 2000

/**
 * What pages of the release that is running may go on asking for, although a precompile for the next
 * one has dropped it.
 */
function* droppedBy(before: Manifest, next: Manifest): Sliced<readonly Entry[]> {
  const dropped: Entry[] = []
  let seen = 0
  for (const entry of before.entries()) {
    if (++seen % ENTRIES_PER_SLICE === 0) yield
    if (!next.assets.has(entry[0])) dropped.push(entry)
  }
  return dropped
}
