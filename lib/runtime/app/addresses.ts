// Resolves names to URLs: plain names or those of a manifest, then the names of files in mounts.
import { AssetError } from '../errors.ts'
import { Names } from '../urls/manifest.ts'
import type { OnRequest } from './on-request.ts'
import type { KnownImports, Running } from './extra.ts'
import {
  plainAddress,
  type MountAssets,
  type AppAssets,
  type LoadedUrl
} from '../views/asset-url.ts'
import { assetPath, ownerOf } from '../settings/apps.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'
import { encodePath } from '../urls/spelling.ts'

export interface Addresses extends Pick<
  AppAssets,
  'modules' | 'moduleAt' | 'resolve' | 'bareImports' | 'inViews' | 'isLasting'
> {
  readonly has: (name: string) => boolean
  /** Returns the files that a page loads for a name; undefined for an asset of the apps, and for an unknown name. */
  readonly loadedFor?: (name: string, mount: string | undefined) => readonly LoadedUrl[] | undefined
}

interface Parts {
  readonly settings: Settings
  readonly running: readonly Running[]
  readonly onRequest: OnRequest | undefined
  namesOf(app: AppSettings): Names | undefined
}

export function makeAddresses(parts: Parts): ReadonlyMap<AppSettings, Addresses> {
  const { settings, running } = parts
  const { apps, publicApp } = settings
  const own: OwnAddresses = new Map(
    [...apps, publicApp].map(app => [app, ownAddresses(app, parts)])
  )
  const mounts = running.flatMap(({ mountAssets }) => mountAssets ?? [])
  return new Map(
    Array.from(own, ([app, plain]) => {
      const ofAll = apps.length > 1 ? withOwners(app, plain, settings, own) : plain
      return [app, mounts.reduce(withMountAssets, ofAll)]
    })
  )
}

type OwnAddresses = ReadonlyMap<AppSettings, Addresses>

function ownAddresses(app: AppSettings, parts: Parts): Addresses {
  const { settings, onRequest } = parts
  if (app.fingerprint) return inManifest(app, parts)
  const isChecked = settings.env === 'development' && app.compile
  const known = isChecked ? onRequest?.checkName.bind(onRequest) : undefined
  const check = app === settings.publicApp ? refuseName : known
  return plainNames(app, app.compile ? onRequest : undefined, check)
}

/** A name that begins with the path of another app is that app's, like its URL. */
function withOwners(app: AppSettings, own: Addresses, settings: Settings, all: OwnAddresses) {
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
  } satisfies Addresses
}

function refuseName(_: AppSettings, name: string): never {
  const message = `'${name}' is not an asset: this project has none of its own`
  throw new AssetError('asset-unknown', message)
}

/** @param check rejects a name under which nothing is published, or warns of it later */
function plainNames(app: AppSettings, onRequest?: OnRequest, check?: OnRequest['checkName']) {
  const prefix = encodePath(app.urlPrefix)
  const plain: Addresses = {
    isLasting: !check && !onRequest,
    has: name => onRequest?.chosen(app, name) !== undefined,
    modules: () => [],
    moduleAt: () => undefined,
    resolve(given) {
      check?.(app, given)
      // A tail is found, as in production, but the URL has the whole name.
      const { name = given, readDetails } = onRequest?.chosen(app, given) ?? {}
      return { ...plainAddress(prefix, name), readDetails }
    }
  }
  const imports = onRequest?.imports(app)
  return imports ? withImports(plain, app, imports) : plain
}

/** Adds the addresses of the modules that bare specifiers resolve to, and of their importers. */
function withImports(plain: Addresses, app: AppSettings, known: () => readonly KnownImports[]) {
  const pathOf = (name: string) => encodePath(assetPath(app, name))
  const nameAt = (path: string) => decodeURIComponent(path).slice(app.urlPrefix.length + 1)
  return {
    ...plain,
    moduleAt(path) {
      const name = nameAt(path)
      const importer = known().find(each => each.links.has(name))
      const links = importer?.links.get(name)
      return links && { path, target: path, imports: links.map(pathOf) }
    },
    bareImports: () => known().flatMap(({ names }) => [...names])
  } satisfies Addresses
}

function inManifest(app: AppSettings, parts: Parts): Addresses {
  const names = () => parts.namesOf(app) ?? NONE
  return {
    // A name of an app with `compile` has no address while its source does not compile.
    isLasting: !app.compile,
    has: name => names().has(app, name),
    inViews: () => names().inViews,
    modules: () => names().assets.values(),
    moduleAt: path => names().assets.get(path),
    resolve: name => names().entry(app, name)
  }
}

const NONE = new Names({ assets: [] })

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
      if (mount !== undefined)
        throw new AssetError('asset-unknown', `'${name}' is not a source in ${places}`)
      try {
        return own.resolve(name)
      } catch (error) {
        if (!(error instanceof AssetError) || error.code !== 'asset-unknown') throw error
        throw new AssetError('asset-unknown', `${error.message}; nor is it a source in ${places}`)
      }
    }
  }
}
