// Files that browsers ask for again at the same URL, whatever is in them.
import { basename } from 'node:path'
import { mediaTypeOf } from '../../http/media-type.ts'

const TYPES = new Set(['text/html', 'application/xhtml+xml', 'application/manifest+json'])
// `sw.js`, `sw-3f9a.js`, `service-worker.js`, `firebase-messaging-sw.js`; some apps call theirs `manifest.json`.
const NAMES =
  /^(?:(?:.*[-_.])?(?:ng)?(?:sw|service[-_.]?worker)(?:[-_.].*)?\.[cm]?js|manifest\.json)$/i

/**
 * Whether a file is a page, a service worker or a web app manifest: cached for a year, it would keep a site
 * from being updated.
 * @param path decoded
 */
export function hasFixedUrl(path: string): boolean {
  return TYPES.has(mediaTypeOf(path) ?? '') || NAMES.test(basename(path))
}
