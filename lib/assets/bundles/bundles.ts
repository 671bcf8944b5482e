// The bundles of all mounts, and their entries by name.
import { inspect } from 'node:util'
import { AssetError } from '../../errors.ts'
import { nearestPath } from '../../nearest.ts'
import type { MountSettings, Settings } from '../settings/settings.ts'
import { encodeAsImported } from '../urls/encode.ts'
import type { EntryUrls, EntryScript, FindEntry } from '../views/entry.ts'
import { MountedBundle } from './mounted-bundle.ts'
import { LEGACY } from './vite.ts'

/** A mount that has entries: those of a bundle, or of Vite's dev server. */
interface EntrySource {
  readonly urlPath: string
  readonly bundle?: MountedBundle
  readonly find: (name: string) => EntryUrls | undefined
}

/** A page waits while the nearest name is searched for. */
const MAX_COMPARED = 10_000
const MAX_LISTED = 10

export class Bundles {
  readonly #sources: readonly EntrySource[]

  /** @throws AssetError for a manifest that is missing or broken, or names a file that does not exist */
  constructor({ publicApp, host = '', mounts }: Settings, warn: (message: string) => void) {
    const options = { host, algorithms: publicApp.integrity, warn }
    this.#sources = mounts.flatMap((mount): EntrySource[] => {
      const { urlPath, manifest, dev } = mount
      if (dev !== undefined) return [{ urlPath, find: name => inDevelopment(urlPath, dev, name) }]
      if (manifest === undefined) return []
      const bundle = new MountedBundle({ ...mount, manifest }, options)
      return [{ urlPath, bundle, find: name => bundle.entry(name) }]
    })
  }

  /** Without any, pages cost nothing. */
  get isEmpty(): boolean {
    return this.#sources.length === 0
  }

  /** Changes with the tags of any entry. */
  get version(): string {
    return this.#sources.flatMap(({ bundle }) => bundle?.version ?? []).join('-')
  }

  /**
   * Whether the manifest of a mount names the file and its name contains a hash of what is in it.
   * @param path decoded URL path: `/static/assets/main-CZTearZk.css`
   */
  isHashed({ urlPath }: Pick<MountSettings, 'urlPath'>, path: string): boolean {
    const file = path.slice(urlPath.length + 1)
    return this.#sources.some(each => each.urlPath === urlPath && each.bundle?.isHashed(file))
  }

  /** Costs one stat for each manifest that was not looked at for `seconds`, or for the mount's own `revalidate`. */
  refresh(seconds: number): Promise<void>[] {
    return this.#sources.flatMap(({ bundle }) => bundle?.refresh(seconds) ?? [])
  }

  readonly find: FindEntry = (given, mount) => {
    const name = given.replace(/^(?:\.?\/)+/, '')
    const sources = this.#sourcesAt(mount)
    const found = sources.flatMap(({ find, urlPath }) => {
      const entry = find(name)
      return entry ? [{ entry, urlPath }] : []
    })
    const [only, ...others] = found
    if (!only) throw unknownEntry(name, sources)
    if (others.length === 0) return only.entry
    const [path, ...more] = found.map(({ urlPath }) => `'${urlPath || '/'}'`)
    throw new TypeError(
      `entry '${name}' may be of the mounts ${[path, ...more].join(' and ')}: name one, as in { mount: ${path} }`
    )
  }

  #sourcesAt(mount: string | undefined): readonly EntrySource[] {
    if (mount === undefined) return this.#sources
    const urlPath = mount.replace(/\/$/, '')
    const sources = this.#sources.filter(each => each.urlPath === urlPath)
    if (sources.length > 0) return sources
    const known = this.#sources.map(each => `'${each.urlPath || '/'}'`).join(', ')
    throw new TypeError(
      `mount must be the URL path of a mount that has a manifest or dev, ${known}, got ${inspect(mount)}`
    )
  }
}

function unknownEntry(name: string, sources: readonly EntrySource[]): AssetError {
  const names = sources.flatMap(({ bundle }) => bundle?.names ?? [])
  const near = nearestPath(name, names.slice(0, MAX_COMPARED))
  const listed = names.slice(0, MAX_LISTED).join(', ')
  const hint =
    near === undefined
      ? `its entries: ${listed}${names.length > MAX_LISTED ? ', …' : ''}`
      : `did you mean '${near}'?`
  const manifests = sources.map(({ bundle }) => bundle?.mount.manifest).join(' or ')
  return new AssetError('asset-unknown', `'${name}' is not an entry of ${manifests}; ${hint}`)
}

/** What Vite takes for a stylesheet. A link to one gets CSS, and is swapped by HMR. */
const STYLESHEET = /\.(?:css|less|sass|scss|styl|stylus|pcss|postcss|sss)$/

/**
 * What a page loads while Vite's dev server, whose `base` is the mount's URL path, compiles the sources.
 * @param urlPath decoded, without a trailing slash
 * @param dev an origin, or `true` for the one of the page
 * @param name the path of a source below Vite's `root`; an HTML file is none that a tag can load
 */
function inDevelopment(urlPath: string, dev: string | true, name: string): EntryUrls {
  if (/\.html?$/.test(name)) {
    throw new TypeError(
      `in development, entry() needs the script or stylesheet that the page loads, got '${name}'`
    )
  }
  // The plugin only takes part in builds.
  if (LEGACY.test(name)) return { stylesheets: [], scripts: [], preloads: [] }
  const urlOf = (path: string) => (dev === true ? '' : dev) + encodeAsImported(`${urlPath}/${path}`)
  const module = (path: string): EntryScript => ({ url: urlOf(path), kind: 'module' })
  const isStylesheet = STYLESHEET.test(name)
  return {
    stylesheets: isStylesheet ? [{ url: urlOf(name) }] : [],
    scripts: [module('@vite/client'), ...(isStylesheet ? [] : [module(name)])],
    preloads: [],
    reactRefresh: urlOf('@react-refresh')
  }
}
