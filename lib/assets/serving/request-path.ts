// From a request target to the file that it asks for.
import { withoutCodingExtension } from '../../files/codings.ts'
import { appAt } from '../settings/app-settings.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'
import { canonicalSegments, MALFORMED } from '../urls/canonical-path.ts'

/** What a request asks for. */
export interface Wanted {
  /** Decoded: `/assets/admin/menu.css`. */
  readonly path: string
  /** `settings.publicApp` for a path that belongs to no app. */
  readonly app: AppSettings
  /** The path below the app's prefix: `menu.css`. */
  readonly name: string
}

// RFC 9112 section 3.2.2: a server accepts the absolute form as well. The authority may only have its own
// characters: parsers disagree about `http://host\admin/x`.
const ABSOLUTE_FORM = /^https?:\/\/[\w.:[\]-]+(?=\/)/i

/** The path of a request target, as it was sent. */
export function rawPath(target: string): string {
  const origin = target.startsWith('/') ? target : target.replace(ABSOLUTE_FORM, '')
  const query = origin.indexOf('?')
  return query === -1 ? origin : origin.slice(0, query)
}

const PLAIN = /^\/[\w\-./~@]*$/

/** Whether a path is the same decoded and encoded, to every parser. */
export function hasOneSpelling(path: string): boolean {
  return PLAIN.test(path)
}

/** What a raw path asks for; undefined for one that is not canonical, and for the manifest. */
export function locate(raw: string, settings: Settings): Wanted | typeof MALFORMED | undefined {
  const segments = canonicalSegments(raw)
  if (segments === undefined) return undefined
  if (segments === MALFORMED) return isUnderPrefix(raw, settings) ? MALFORMED : undefined
  const path = `/${segments.join('/')}`
  if (isManifest(path, settings)) return undefined
  const app = appAt(settings, path) ?? settings.publicApp
  return { path, app, name: path.slice(app.urlPrefix.length + 1) }
}

/** The manifest names the paths of sources: it is never served, compressed or spelled otherwise either. */
export function isManifest(path: string, { prefix }: Settings): boolean {
  const name = folded(path)
  const manifest = `${folded(prefix)}.json`
  return name.startsWith(manifest) && withoutCodingExtension(name) === manifest
}

/** Some file systems ignore case and normalization; APFS also takes `\u017f` for `s`. */
function folded(path: string): string {
  return path.normalize('NFD').toUpperCase().toLowerCase()
}

/** Whether a raw path begins with the prefix and a slash. */
export function isUnderPrefix(raw: string, { prefix }: Settings): boolean {
  return raw.startsWith(`${prefix}/`) || raw.startsWith(`${encodeURI(prefix)}/`)
}
