// Resolves names to URLs: plain names or those of a manifest, then the names of files in mounts.
import { AssetError } from '../errors.ts'
import type { ManifestEntry } from '../urls/manifest.ts'
import type { Publisher } from './publisher.ts'
import type { OnRequest } from '../../publishing/building/on-request.ts'
import type { SourceList, Running } from './parts.ts'
import {
  plainAddress,
  type MountAssets,
  type AppAssets,
  type LoadedUrl,
  type Module
} from '../views/asset-url.ts'
import { assetPath, ownerOf } from '../settings/app-settings.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'
import { encodePath } from '../urls/spelling.ts'

export interface Addresses extends Pick<
  AppAssets,
  'modules' | 'moduleAt' | 'resolve' | 'bareImports' | 'inViews' | 'isLasting'
> {
  /** Tells whether a name is one of the app's own. */
  readonly has: (name: string) => boolean
  /** Returns the files that a page loads for a name; undefined for an own asset, and for an unknown name. */
  readonly loadedFor: (name: string, mount: string | undefined) => readonly LoadedUrl[] | undefined
}

interface Parts {
  readonly onRequest: OnRequest | undefined
  readonly running: readonly Running[]
}

/** Makes the addresses of each app, followed by those of files in mounts. */
export function makeAddresses(
  settings: Settings,
  publisherOf: (app: AppSettings) => Publisher,
  parts: Parts
): ReadonlyMap<AppSettings, Addresses> {
  const { apps, publicApp } = settings
  const own: OwnAddresses = new Map(
    [...apps, publicApp].map(app => [app, ownAddresses(app, settings, publisherOf(app), parts)])
  )
  const mounts = parts.running.flatMap(({ mountAssets }) => mountAssets ?? [])
  return new Map(
    Array.from(own, ([app, plain]) => {
      const ofAll = apps.length > 1 ? withOwners(app, plain, settings, own) : plain
      return [app, mounts.reduce(withMountAssets, ofAll)]
    })
  )
}

type OwnAddresses = ReadonlyMap<AppSettings, Addresses>

function ownAddresses(
  app: AppSettings,
  { env, apps, publicApp }: Settings,
  publisher: Publisher,
  { onRequest }: Parts
): Addresses {
  const known = env === 'development' && app.compile ? onRequest?.checkName : undefined
  const check = app === publicApp ? refuseName : known
  return app.fingerprint ? inManifest(app, apps, publisher) : plainNames(app, onRequest, check)
}

/** A name that begins with the path of another app is that app's, as its URL is. */
function withOwners(
  app: AppSettings,
  own: Addresses,
  settings: Settings,
  all: OwnAddresses
): Addresses {
  const at = (given: string) => {
    const owner = ownerOf(settings, app, given)
    return { name: owner.name, addresses: all.get(owner.app) ?? own }
  }
  return {
    ...own,
    isLasting: [...all.values()].every(each => each.isLasting),
    has(given) {
      const { name, addresses } = at(given)
      return addresses.has(name)
    },
    resolve(given) {
      const { name, addresses } = at(given)
      return addresses.resolve(name)
    }
  }
}

function refuseName(_: AppSettings, name: string): never {
  const message = `'${name}' is not an asset: this project has none of its own`
  throw new AssetError('asset-unknown', message)
}

/** @param check throws for a name that nothing is published under */
function plainNames(
  app: AppSettings,
  onRequest: OnRequest | undefined,
  check: ((app: AppSettings, name: string) => void) | undefined
): Addresses {
  const sources = onRequest?.listed(app)
  const detailsOf = sources && onRequest?.detailsOf
  const prefix = encodePath(app.urlPrefix)
  const plain: Addresses = {
    isLasting: !check && !sources,
    has: name => sources?.has(name) === true,
    loadedFor: () => undefined,
    modules: () => [],
    moduleAt: () => undefined,
    resolve(given) {
      check?.(app, given)
      // As in production a tail is found, but never part of a URL.
      const name = sources?.chosen(given).source?.name ?? given
      const readDetails = detailsOf && (() => detailsOf(app, name))
      return { ...plainAddress(prefix, name), readDetails }
    }
  }
  return sources && sources.lists.length > 0 ? withImports(plain, app, sources.lists) : plain
}

/** Adds the addresses of the modules that bare specifiers resolve to, and of their importers. */
function withImports(plain: Addresses, app: AppSettings, lists: readonly SourceList[]): Addresses {
  const pathOf = (name: string) => encodePath(assetPath(app, name))
  const known = () => lists.map(({ imports }) => imports).filter(each => each !== undefined)
  const nameAt = (path: string) => decodeURIComponent(path).slice(app.urlPrefix.length + 1)
  return {
    ...plain,
    moduleAt(path) {
      const name = nameAt(path)
      const links = known()
        .find(each => each.links.has(name))
        ?.links.get(name)
      return links && { path, plainPath: path, imports: links.map(pathOf) }
    },
    bareImports: () => known().flatMap(({ names }) => [...names]),
    resolve(name) {
      const address = plain.resolve(name)
      return { ...address, plainPath: address.path }
    }
  }
}

function inManifest(
  app: AppSettings,
  apps: readonly AppSettings[],
  publisher: Publisher
): Addresses {
  const failureOf = (name: string) => publisher.failureOf?.(assetPath(app, name))
  return {
    // While sources are compiled, a name has no address as long as its source does not compile.
    isLasting: !app.compile,
    loadedFor: () => undefined,
    has: name => failureOf(name) !== undefined || publisher.manifest?.find(app, name) !== undefined,
    inViews: () => publisher.manifest?.inViews ?? [],
    *modules() {
      for (const each of publisher.manifest?.entries ?? []) yield moduleOf(each)
    },
    moduleAt(path) {
      const entry = publisher.manifest?.entries.get(path)
      return entry && moduleOf([path, entry])
    },
    resolve(name) {
      const problem = failureOf(name)
      const entry = problem
        ? publisher.manifest?.find(app, name)
        : publisher.manifest?.entry(app, name, apps)
      if (!entry) throw problem
      return moduleOf(entry)
    }
  }
}

function moduleOf([plainPath, entry]: readonly [string, ManifestEntry]): Module {
  return { ...entry, path: entry.target, plainPath }
}

/** Own assets come first; any other name is looked for in the mounts. */
function withMountAssets(own: Addresses, mounted: MountAssets): Addresses {
  return {
    ...own,
    loadedFor(name, mount) {
      const isOwn = mount === undefined && own.has(name)
      return !isOwn && mounted.hasEntry(name, mount) ? mounted.entry(name, mount) : undefined
    },
    resolve(name, mount) {
      if (mount === undefined && own.has(name)) return own.resolve(name)
      const file = mounted.file(name, mount)
      if (file) return file
      const places = mounted.labelsAt(mount)
      if (mount !== undefined) {
        throw new AssetError('asset-unknown', `'${name}' is not a source in ${places}`)
      }
      try {
        return own.resolve(name)
      } catch (error) {
        if (!(error instanceof AssetError) || error.code !== 'asset-unknown') throw error
        throw new AssetError('asset-unknown', `${error.message}; nor is it a source in ${places}`)
      }
    }
  }
}
