// Where names lead: plain names, a manifest, and behind either the bundles of mounts.
import { AssetError } from '../errors.ts'
import type { ManifestEntry } from './building/manifest/manifest.ts'
import type { AppFiles } from './building/on-request/app-files.ts'
import type { Bundles } from './bundles/bundles.ts'
import { assetPath } from './settings/app-settings.ts'
import type { AppSettings } from './settings/settings.ts'
import type { AppPackages } from './sources/packages.ts'
import { encodePath } from './urls/encode.ts'
import { plainAddress, type AppAssets, type AssetAddress } from './views/asset-url.ts'

export type Addresses = Pick<AppAssets, 'modules' | 'moduleAt' | 'resolve' | 'bareImports'>

interface Own {
  readonly files: AppFiles
  readonly packages: AppPackages | undefined
  /** Looks up each plain name that something is published under. */
  readonly check: ((app: AppSettings, name: string) => void) | undefined
}

export function ownAddresses(app: AppSettings, { files, packages, check }: Own): Addresses {
  if (app.fingerprint) return inManifest(app, files)
  const plain = plainNames(app, app.compile ? check : undefined)
  return packages ? withPackages(plain, app, packages) : plain
}

/** Those of a project without assets of its own. */
export function noAddresses(app: AppSettings): Addresses {
  return plainNames(app, (_, name) => {
    const message = `'${name}' is not an asset: this project has none of its own`
    throw new AssetError('asset-unknown', message)
  })
}

function plainNames(app: AppSettings, check?: (app: AppSettings, name: string) => void): Addresses {
  const prefix = encodePath(app.urlPrefix)
  return {
    modules: () => [],
    moduleAt: () => undefined,
    resolve(name) {
      check?.(app, name)
      return plainAddress(prefix, name)
    }
  }
}

/** Plain names, and what the modules of packages, and those that import them, lead to. */
function withPackages(plain: Addresses, app: AppSettings, packages: AppPackages): Addresses {
  const pathOf = (name: string) => encodePath(assetPath(app, name))
  const nameAt = (path: string) => decodeURIComponent(path).slice(app.urlPrefix.length + 1)
  return {
    ...plain,
    moduleAt(path) {
      const imports = packages.graph?.links.get(nameAt(path))
      return imports && { path, imports: imports.map(pathOf) }
    },
    bareImports() {
      const { imports = [], scopes = [] } = packages.graph ?? {}
      const inFolders = Array.from(
        scopes,
        ([folder, names]) => [`${pathOf(folder)}/`, names] as const
      )
      return { everywhere: imports, scopes: inFolders }
    },
    resolve(name) {
      const address = plain.resolve(name)
      return { ...address, plainPath: address.path }
    }
  }
}

function inManifest(app: AppSettings, files: AppFiles): Addresses {
  return {
    *modules() {
      for (const [path, entry] of files.manifest?.entries ?? []) yield [path, addressOf(entry)]
    },
    moduleAt(path) {
      const entry = files.manifest?.entries.get(path)
      return entry && addressOf(entry)
    },
    resolve(name) {
      const problem = files.failureOf(assetPath(app, name))
      const entry = problem ? files.manifest?.find(app, name) : files.manifest?.entry(app, name)
      if (!entry) throw problem
      return { ...addressOf(entry[1]), plainPath: entry[0] }
    }
  }
}

function addressOf({ target, ...entry }: ManifestEntry): AssetAddress {
  const { integrity, imports, dynamicImports, specifiers } = entry
  return { path: target, integrity, imports, dynamicImports, specifiers }
}

/** Own assets come first; a name that is not one of them is looked for in the bundles. */
export function withBundles(
  own: Addresses,
  isOwn: (name: string) => boolean,
  bundles: Bundles
): Addresses {
  return {
    ...own,
    resolve(name, mount) {
      if (mount === undefined && isOwn(name)) return own.resolve(name)
      const file = bundles.file(name, mount)
      if (file) return file
      const places = bundles.labelsAt(mount)
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
