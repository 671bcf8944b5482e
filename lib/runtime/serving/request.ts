// Finds the file that a request target asks for.
import { withoutCodingExtension } from '../files/codings.ts'
import { folded } from '../files/paths.ts'
import { appAt } from '../settings/apps.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'
import { canonicalSegments, MALFORMED } from '../urls/spelling.ts'

/** The file that a request asks for. */
export interface Wanted {
  /** The decoded path: `/assets/admin/menu.css`. */
  readonly path: string
  /** `settings.publicApp` for a path that belongs to no app. */
  readonly app: AppSettings
  /** The path below the app's prefix: `menu.css`. */
  readonly name: string
  /** True if the path ends in a slash: it asks for the index file of a mount's folder. */
  readonly isFolder: boolean
  readonly mounts: Mounts
}

type Mounts = Settings['mounts']

// RFC 9112 section 3.2.2. The authority may only have its own characters: parsers disagree about `http://host\admin/x`.
const ABSOLUTE_FORM = /^https?:\/\/[\w.:[\]-]+(?=\/)/i

export function rawPath(target: string): string {
  const origin = target.startsWith('/') ? target : target.replace(ABSOLUTE_FORM, '')
  const query = origin.indexOf('?')
  return query === -1 ? origin : origin.slice(0, query)
}

export function isRead({ method }: { readonly method?: string | undefined }): boolean {
  return method === 'GET' || method === 'HEAD'
}

const PLAIN = /^\/[\w\-./~@]*$/

/** Tells whether every parser reads the path in the same way, decoded or encoded. */
export const hasOneSpelling = (path: string): boolean => PLAIN.test(path)

/** Returns the file that a raw path asks for; undefined for a path that is not canonical, or is the manifest's. */
export function locate(raw: string, settings: Settings, mounts?: Mounts) {
  const isFolder = raw.endsWith('/') && settings.mounts.some(({ index }) => index !== undefined)
  const segments = raw === '/' ? [] : canonicalSegments(isFolder ? raw.slice(0, -1) : raw)
  if (segments === undefined || (raw === '/' && !isFolder)) return undefined
  if (segments === MALFORMED) return isOurs(raw, settings) ? MALFORMED : undefined
  const path = `/${[...segments, ...(isFolder ? [''] : [])].join('/')}`
  if (isManifest(path, settings)) return undefined
  return wantedAt(path, settings, isFolder, path === raw ? mounts : undefined)
}

/** @param path decoded and canonical */
export function wantedAt(
  path: string,
  settings: Settings,
  isFolder = false,
  mounts = mountsAt(path, settings)
): Wanted {
  const app = appAt(settings, path) ?? settings.publicApp
  return { path, app, name: path.slice(app.urlPrefix.length + 1), isFolder, mounts }
}

/** The manifest names the paths of sources: it is never served, not even compressed or spelled differently. */
export function isManifest(path: string, { prefix }: Settings): boolean {
  const name = folded(path)
  const manifest = `${folded(prefix)}.json`
  return name.startsWith(manifest) && withoutCodingExtension(name) === manifest
}

/** Tells whether a path, decoded or not, can only be that of a file: it is under the prefix, or in a mount. */
export function isOurs(path: string, settings: Settings, mounts?: Mounts): boolean {
  if (isUnder(path, settings.prefix)) return true
  if (settings.mounts.length === 0) return false
  const possible = mounts && hasOneSpelling(path) ? mounts : settings.mounts
  // A mount at `/` shares its paths with the routes: only a path with an extension belongs to a file.
  const isFile = /\.[^./]+$/.test(path)
  return possible.some(({ urlPath }) => (urlPath === '' ? isFile : isUnder(path, urlPath)))
}

function isUnder(raw: string, urlPath: string): boolean {
  if (isBelow(raw, urlPath)) return true
  return raw.includes('%') && isBelow(raw, encodeURI(urlPath))
}

export function isBelow(path: string, urlPath: string): boolean {
  return path.startsWith('/', urlPath.length) && path.startsWith(urlPath)
}

/** Lists the mounts that may have the file or folder of a decoded path; called once for a request. */
export function mountsAt(path: string, { mounts }: Settings): Mounts {
  if (mounts.length === 0) return mounts
  return mounts.filter(mount => path === mount.urlPath || isMounted(path, mount))
}

/** Tells whether a mount may have the file of a path, decoded or not: what the apps publish is not the mount's. */
export function isMounted(path: string, { urlPath, excludedPrefix }: Mounts[number]): boolean {
  return isBelow(path, urlPath) && (excludedPrefix === undefined || !isBelow(path, excludedPrefix))
}
