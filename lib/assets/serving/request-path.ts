// From a request target to what it asks for, or to "not ours".
import { withoutCodingExtension } from '../../files/codings.ts'
import { canonicalSegments, MALFORMED } from '../urls/canonical-path.ts'
import { appAt } from '../settings/app-settings.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'

/** What a request asks for. */
export interface Wanted {
  /** Decoded: `/assets/admin/menu.css`. */
  readonly path: string
  /** `settings.publicApp` for a path that belongs to no app. */
  readonly app: AppSettings
  /** The path below the app's prefix: `menu.css`. */
  readonly name: string
}

// RFC 9110 7.1: a server accepts the absolute form as well. The authority is held to its own
// characters: `http://host\admin/x` is read in more than one way.
const ABSOLUTE_FORM = /^https?:\/\/[\w.:[\]-]+(?=\/)/i

/** The path of a request target, as it was sent. */
export function rawPath(target: string): string {
  const origin = target.startsWith('/') ? target : target.replace(ABSOLUTE_FORM, '')
  const query = origin.indexOf('?')
  return query === -1 ? origin : origin.slice(0, query)
}

const PLAIN = /^\/[\w\-./~@]*$/

/** Whether a path has one spelling alone, decoded and encoded, to whoever reads it. */
export function hasOneSpelling(path: string): boolean {
  return PLAIN.test(path)
}

/** What the path asks for; undefined when it is not ours and goes on. */
export function locate(raw: string, settings: Settings): Wanted | typeof MALFORMED | undefined {
  const segments = canonicalSegments(raw)
  if (segments === undefined) return undefined
  if (segments === MALFORMED) return isUnderPrefix(raw, settings) ? MALFORMED : undefined
  const path = `/${segments.join('/')}`
  if (isManifest(path, settings)) return undefined
  const app = appAt(settings, path) ?? settings.publicApp
  return { path, app, name: path.slice(app.urlPrefix.length + 1) }
}

/** The manifest tells the paths of sources, so nobody is sent it, compressed or in other letters either. */
export function isManifest(path: string, { prefix }: Settings): boolean {
  const name = folded(path)
  const manifest = `${folded(prefix)}.json`
  return name.startsWith(manifest) && withoutCodingExtension(name) === manifest
}

/** Some file systems take other letters for the same name: `A` for `a`, APFS also `\u017f` for `s`. */
function folded(path: string): string {
  return path.normalize('NFD').toUpperCase().toLowerCase()
}

/** Whether a path, as it was sent, begins with the prefix; the prefix ends at a segment. */
export function isUnderPrefix(raw: string, { prefix }: Settings): boolean {
  return raw.startsWith(`${prefix}/`) || raw.startsWith(`${encodeURI(prefix)}/`)
}
