// The manifest of the last precompile: read at start, and again before a page when it has changed.
import { relative } from 'node:path'
import { inParallel } from '../../../concurrency.ts'
import { isDirectory, readIfThere, ReloadedFile } from '../../../files/at-start.ts'
import { statOf } from '../../../files/disk.ts'
import { manifestFile } from '../../settings/manifest-file.ts'
import { publicFile } from '../../settings/public-directory.ts'
import type { Settings } from '../../settings/settings.ts'
import { assetSources } from '../../sources/third-party.ts'
import { Manifest } from './manifest.ts'
import { manifestMissing, parseManifest } from './read-manifest.ts'

const CONCURRENCY = 8

export class ReloadedManifest {
  current: Manifest
  readonly #file: ReloadedFile
  readonly #settings: Settings

  /** @throws AssetError for a missing or invalid manifest: it names the file and the command */
  constructor(settings: Settings, warn: (message: string) => void) {
    const path = manifestFile(settings)
    this.#settings = settings
    this.#file = new ReloadedFile(path, {
      failure: 'keeping the last manifest',
      warn,
      take: bytes => this.#take(bytes)
    })
    const bytes = readIfThere(path)
    if (bytes === undefined) requireNoManifest(settings, path)
    this.current = bytes ? parseManifest(bytes, path) : new Manifest(new Map(), path)
    this.current.prepare(settings.apps)
  }

  refresh(seconds: number): Promise<void> | undefined {
    return this.#file.refresh(seconds)
  }

  async #take(bytes: Buffer): Promise<true> {
    const next = parseManifest(bytes, this.#file.path)
    // A precompile for the next release drops entries that pages of the running release need.
    const dropped = [...this.current.entries].filter(([path]) => !next.assets.has(path))
    const kept = await inParallel(dropped, CONCURRENCY, async entry => {
      const file = publicFile(this.#settings, decodeURIComponent(entry[1].target))
      return (await statOf(file))?.isFile() ? [entry] : []
    })
    const manifest = next.keeping(kept.flat())
    manifest.prepare(this.#settings.apps)
    this.current = manifest
    return true
  }
}

/**
 * A site without assets of its own has nothing to precompile. Without mounts it looks like a server that
 * was sent no manifest, so the directory to serve must be named.
 */
function requireNoManifest({ root, publicDir, mounts, apps }: Settings, path: string): void {
  const sources = [...apps.flatMap(({ sources }) => sources), ...assetSources.list()]
  if (sources.some(isDirectory)) throw manifestMissing(path)
  if (mounts.length > 0) return
  const mount = `mounts: { '/': '${relative(root, publicDir)}' }`
  throw manifestMissing(path, `, or, for a site without assets to build, set ${mount}`)
}
