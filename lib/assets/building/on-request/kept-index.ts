// Keeps the index of plain names in `node_modules/.cache`, so that a server that restarts compiles nothing.
// A file that is missing, damaged, or made under other circumstances costs time and nothing else.
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { digestOf } from '../../../files/digest.ts'
import { errorCode, ifThere, statOf } from '../../../files/disk.ts'
import { writeAtomically } from '../../../files/writing/atomic-write.ts'
import { isBuiltIn, PEERS } from '../../compilers/built-in.ts'
import { nodeModulesFrom } from '../../compilers/peers.ts'
import { appAt } from '../../settings/app-settings.ts'
import { publicFile } from '../../settings/public-directory.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Sources } from '../../sources/sources.ts'
import { assetSources } from '../../sources/third-party.ts'
import type { Entry, MtimeIndex } from './mtime-index.ts'

/** An entry is saved this long after it was made, together with those that follow. */
const DELAY_MS = 1000

/** Undefined in a CommonJS bundle. */
const OWN_FILE = import.meta.filename as string | undefined

type Kept = readonly [path: string, entry: Pick<Entry, 'source' | 'inputs' | 'targets'>]

export class KeptIndex {
  readonly #settings: Settings
  readonly #sources: Sources
  readonly #index: MtimeIndex
  #restored: Promise<void> | undefined
  /** As it was when this process began: a compiler stays loaded when it is replaced. */
  #code: Promise<readonly string[]> | undefined
  #isDue = false

  constructor(settings: Settings, sources: Sources, index: MtimeIndex) {
    this.#settings = settings
    this.#sources = sources
    this.#index = index
  }

  /** Reads what an earlier process kept, the first time that it is called. */
  restored(): Promise<void> {
    return (this.#restored ??= this.#restore().catch(unlessDisk))
  }

  saveSoon(): void {
    if (this.#isDue) return
    this.#isDue = true
    setTimeout(() => {
      this.#isDue = false
      void this.#save().catch(unlessDisk)
    }, DELAY_MS).unref()
  }

  async #restore(): Promise<void> {
    const file = await this.#file()
    const kept = file && (await ifThere(readFile(file, 'utf8')))
    if (!kept) return
    const text = kept.slice(kept.indexOf('\n') + 1)
    if (kept !== sealed(await this.#circumstances(), text)) return
    for (const [path, entry] of JSON.parse(text, toBigInt) as readonly Kept[]) {
      const generation = this.#generationAt(path)
      if (generation !== undefined) this.#index.set(path, { ...entry, generation, isLasting: true })
    }
  }

  async #save(): Promise<void> {
    const file = await this.#file()
    if (!file) return
    const circumstances = await this.#circumstances()
    const kept: Kept[] = []
    // The most recently used is set last when they are read again.
    for (const [path, { value }] of this.#index.dump()) {
      const { source, inputs, targets, generation, isLasting } = value
      const isCurrent = generation === this.#generationAt(path)
      if (isCurrent && isLasting) kept.push([path, { source, inputs, targets }])
    }
    const text = JSON.stringify(kept, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value
    )
    const now = BigInt(Date.now()) * 1_000_000n
    await writeAtomically(file, Buffer.from(sealed(circumstances, text)), now)
  }

  #generationAt(path: string): number | undefined {
    const app = appAt(this.#settings, path)
    return app && this.#sources.of(app).generation
  }

  /** Undefined: there is no `node_modules` to keep it in, or this package is part of a bundle. */
  async #file(): Promise<string | undefined> {
    const { root, prefix } = this.#settings
    if (OWN_FILE === undefined) return undefined
    const name = `${digestOf(publicFile(this.#settings, prefix))}.json`
    for (const folder of nodeModulesFrom(root)) {
      if (await statOf(folder)) return join(folder, '.cache/koa-fresh-assets', name)
    }
    return undefined
  }

  /**
   * Everything beside its inputs that an asset is made by: this package, the compilers, the options, and the
   * names of all sources, since a new one may be found in place of another.
   */
  async #circumstances(): Promise<string> {
    const { root, env, prefix, symlinks, apps } = this.#settings
    this.#code ??= stampsOfCode(root, OWN_FILE)
    const own = apps.map(({ compilers }) =>
      [...compilers].flatMap(([extension, compiler]) => (isBuiltIn(compiler) ? [] : extension))
    )
    const options = { root, env, prefix, symlinks, apps, own, thirdParty: assetSources.list() }
    return JSON.stringify([await this.#code, options, await this.#listing()])
  }

  async #listing(): Promise<string[]> {
    for (;;) {
      const { generation } = this.#sources
      const lists = await Promise.all(this.#settings.apps.map(app => this.#sources.of(app).list()))
      if (generation !== this.#sources.generation) continue
      return lists.flat().flatMap(({ name, source, rivals, shadowed }) => {
        const files = [source, ...rivals, ...shadowed].map(({ file }) => file)
        return [name, ...files]
      })
    }
  }
}

/** Of this package, and of each place in which a compiler may be installed: every installation changes them. */
async function stampsOfCode(root: string, own = ''): Promise<readonly string[]> {
  const folders = [root, dirname(own)].flatMap(nodeModulesFrom)
  const files = PEERS.flatMap(name => folders.map(at => join(at, name, 'package.json')))
  const stats = await Promise.all([own, ...files].map(statOf))
  return stats.map(stamp => (stamp ? `${stamp.ino} ${stamp.mtimeNs} ${stamp.ctimeNs}` : ''))
}

/** The text behind a digest of it and of the circumstances: neither a damaged nor a foreign one has that. */
function sealed(circumstances: string, text: string): string {
  return `${digestOf(circumstances + text)}\n${text}`
}

const BIG = new Set(['dev', 'ino', 'size', 'mtimeNs', 'ctimeNs'])

function toBigInt(key: string, value: unknown): unknown {
  return BIG.has(key) ? BigInt(value as string) : value
}

/** An index that cannot be read or written costs the next process its time and nothing else. */
function unlessDisk(error: unknown): void {
  if (errorCode(error) === undefined) throw error
}
