// Remembers the stamps of published files, so that the next precompile neither compares nor compresses the
// assets whose files are untouched: 2,000 unchanged assets take 2 s of CPU time instead of 7. It pays where
// node_modules/.cache is kept between runs; losing it costs time and nothing else. Sources are always read.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inParallel } from '../../concurrency.ts'
import { isDirectory } from '../../files/at-start.ts'
import { isUnchangedSince, waitForTick } from '../../files/clock.ts'
import { WRITABLE_CODINGS } from '../../files/codings.ts'
import { digestOf } from '../../files/digest.ts'
import { errorCode, ifThere, statOf, type Stamp } from '../../files/disk.ts'
import { writeAtomically } from '../../files/writing/atomic-write.ts'
import { nodeModulesFrom } from '../compilers/searches.ts'
import { publicFile } from '../settings/public-directory.ts'
import type { Settings } from '../settings/settings.ts'
import { filesOf, type Built } from './built.ts'

interface Entry {
  readonly digest: string
  readonly mtime: string
  /** The size of the smallest representation, in bytes. */
  readonly smallest: number
  /** The stamp of each of its files and of each possible copy, by path. */
  readonly stamps: Readonly<Record<string, string>>
}

interface State {
  /** Everything else that decides which files are written. */
  readonly key: string
  readonly entries: Readonly<Record<string, Entry>>
}

// Changes with the format of this file and with the content of compressed copies.
const FORMAT = 5
/** In place of a stamp: a compressed copy that appears later is of unknown bytes. */
const ABSENT = ''
const CONCURRENCY = 16

export class LastBuild {
  readonly #settings: Settings
  readonly #key: string
  /** Undefined: there is no `node_modules` to keep it in. */
  readonly #file: string | undefined
  #before: State['entries'] = {}
  readonly #entries: Record<string, Entry> = {}

  private constructor(settings: Settings) {
    const folder = nodeModulesFrom(settings.root).find(isDirectory)
    const name = digestOf(publicFile(settings, settings.prefix))
    this.#settings = settings
    this.#key = keyOf(settings)
    this.#file = folder && join(folder, '.cache/koa-fresh-assets', `${name}.json`)
  }

  static async open(settings: Settings): Promise<LastBuild> {
    const last = new LastBuild(settings)
    last.#before = await last.#load()
    return last
  }

  /** The size of the asset's smallest representation, in bytes; undefined unless its files are unchanged. */
  async find({ path, digest, mtimeNs }: Built): Promise<number | undefined> {
    const entry = Object.hasOwn(this.#before, path) ? this.#before[path] : undefined
    if (entry?.digest !== digest || entry.mtime !== String(mtimeNs)) return undefined
    const stamps = Object.entries(entry.stamps)
    const now = await Promise.all(stamps.map(([file]) => statOf(file)))
    if (!now.every((stamp, at) => formatStamp(stamp) === stamps[at]?.[1])) return undefined
    this.#entries[path] = entry
    return entry.smallest
  }

  /**
   * Remembers the assets that were found, and those that were written.
   * @param written the size of each asset's smallest representation, in bytes
   */
  async save(written: ReadonlyMap<Built, number>): Promise<void> {
    if (!this.#file) return
    if (written.size > 0) await waitForTick()
    await inParallel([...written], CONCURRENCY, ([built, smallest]) => this.#add(built, smallest))
    const state: State = { key: this.#key, entries: this.#entries }
    const now = BigInt(Date.now()) * 1_000_000n
    await writeAtomically(this.#file, Buffer.from(JSON.stringify(state)), now).catch(unlessDisk)
  }

  async #add(built: Built, smallest: number): Promise<void> {
    const now = Date.now()
    const stamps: Record<string, string> = {}
    for (const file of filesOf(this.#settings, built)) {
      const stamp = await statOf(file)
      if (stamp && !isUnchangedSince(stamp, now)) return
      stamps[file] = formatStamp(stamp)
    }
    const { path, digest, mtimeNs } = built
    this.#entries[path] = { digest, mtime: String(mtimeNs), smallest, stamps }
  }

  async #load(): Promise<State['entries']> {
    const text = this.#file && (await ifThere(readFile(this.#file, 'utf8')))
    try {
      const { key, entries } = JSON.parse(text || '{}') as Partial<State>
      return (key === this.#key && entries) || {}
    } catch (error) {
      // It was written by another version, or is damaged.
      if (error instanceof SyntaxError || error instanceof TypeError) return {}
      throw error
    }
  }
}

function keyOf({ apps, symlinks }: Settings): string {
  const fingerprints = apps.map(({ urlPrefix, fingerprint }) => [urlPrefix, fingerprint])
  const codings = WRITABLE_CODINGS.map(({ name }) => name)
  return digestOf(JSON.stringify([FORMAT, process.version, codings, symlinks, fingerprints]))
}

/** Inode and change time cannot be set back, as an mtime can. */
function formatStamp(stamp: Stamp | undefined): string {
  if (!stamp) return ABSENT
  const { dev, ino, size, mtimeNs, ctimeNs } = stamp
  return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`
}

/** An unwritable cache costs the next run its time and nothing else. */
function unlessDisk(error: unknown): void {
  if (errorCode(error) === undefined) throw error
}
