// The manifest in use: read at start, and again in the background of a request when it has changed.
import { readFile } from 'node:fs/promises'
import { atOnce, inParallel, inSlices, type Sliced } from '../../../concurrency.ts'
import { readIfThere } from '../../../files/at-start.ts'
import { ifThere, sameStamp, stampOf, statOf, type Stamp } from '../../../files/disk.ts'
import { manifestFile } from '../../settings/manifest-file.ts'
import { publicFile } from '../../settings/public-directory.ts'
import type { Settings } from '../../settings/settings.ts'
import { forEachInSlices, type Entry } from './entries.ts'
import type { Manifest } from './manifest.ts'
import { manifestMissing, parsing } from './read-manifest.ts'

/** Parsing this many bytes without a pause takes under 50 ms. */
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

  /** @throws AssetError for a missing or invalid manifest: it names the file and the command */
  constructor(settings: Settings, warn: (message: string) => void) {
    this.file = manifestFile(settings)
    this.#settings = settings
    this.#warn = warn
    const text = readIfThere(this.file)
    if (text === undefined) throw manifestMissing(this.file)
    this.current = atOnce(parsing(Buffer.from(text), this.file))
    atOnce(this.current.preparing(settings.apps))
  }

  /** Checks for a newer manifest in the background, at most once in `seconds`. */
  refreshInBackground(seconds: number): void {
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
    // Set now: an invalid manifest is not read again until it changes.
    this.#stamp = stampOf(stats)
    const next = await inSlices(parsing(bytes, this.file, MAX_UNSLICED_BYTES))
    const dropped = await inSlices(droppedBy(this.current, next))
    const manifest = next.keeping(await this.#published(dropped))
    await inSlices(manifest.preparing(this.#settings.apps))
    this.current = manifest
  }

  async #published(entries: readonly Entry[]): Promise<readonly Entry[]> {
    const found = await inParallel(entries, CONCURRENCY, async entry => {
      const file = publicFile(this.#settings, decodeURIComponent(entry[1].target))
      return (await statOf(file))?.isFile() ? [entry] : []
    })
    return found.flat()
  }
}

/** Entries that a precompile for the next release dropped: pages of the running release need them. */
function* droppedBy(before: Manifest, next: Manifest): Sliced<readonly Entry[]> {
  const dropped: Entry[] = []
  yield* forEachInSlices(before.entries(), entry => {
    if (!next.assets.has(entry[0])) dropped.push(entry)
  })
  return dropped
}
