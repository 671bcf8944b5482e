// A mount: a directory that something else filled.
import { join } from 'node:path'
import { contentType } from '../../../http/media-type.ts'
import type { MountSettings, Settings } from '../../settings/settings.ts'
import { encodeAsImported } from '../../urls/encode.ts'
import { withoutHash } from '../../urls/fingerprint.ts'
import { fieldsFrom, without, type Fields } from '../fields.ts'
import { dictionaryOf, IMMUTABLE, revalidated } from './public.ts'
import { fileIn, type ServedDirectory } from './served-directory.ts'

/** By decoded URL path: whether a bundler's manifest names the file and its URL contains a hash. */
export type IsHashed = (mount: MountSettings, path: string) => boolean

export function mountDirectory(
  settings: Settings,
  mount: MountSettings,
  { isHidden, isHashed }: Pick<ServedDirectory, 'isHidden'> & { readonly isHashed: IsHashed }
): ServedDirectory {
  const { host, publicApp } = settings
  const { urlPath, place } = mount
  const shells = new Set(settings.mounts.flatMap(shellOf))
  const isShell = (path: string): boolean => shells.has(fileIn(mount, path))
  const isImmutable = (path: string): boolean => mount.isImmutable?.(path) ?? isHashed(mount, path)
  const cacheControlOf = (path: string): string =>
    mount.cacheControl?.(path) ?? revalidated(publicApp.compile)
  return {
    place,
    urlPath,
    // No canonical path contains a line break.
    memoryKey: `${urlPath}\n`,
    publishedFolder: undefined,
    isPublishing: false,
    revalidate: () => mount.revalidate ?? publicApp.revalidate,
    // Where each request looks at its file, three more stats would be most of its cost.
    revalidateCopies: () => publicApp.revalidate,
    isPublishedOnRequest: () => false,
    isHidden,
    fingerprintOf: () => undefined,
    isOrdinary: () => Promise.resolve(true),
    fieldsOf({ path }) {
      const isPage = isShell(path)
      const isFixed = !isPage && isImmutable(path)
      const next = isFixed ? withoutHash(encodeAsImported(path)) : undefined
      return {
        type: contentType(path),
        cacheControl: isPage ? 'no-cache' : isFixed ? IMMUTABLE : cacheControlOf(path),
        // Scripts and fonts of a CDN are fetched in CORS mode.
        crossOrigin: host !== undefined && mount.manifest !== undefined,
        dictionary: dictionaryOf(settings, path, next),
        more: [settings.headers, mount.headers].flatMap(values => {
          const fields = fieldsFrom(values?.(path))
          return isPage && values?.isSameForAll ? withoutLifetime(fields) : fields
        })
      }
    }
  }
}

function shellOf({ dir, fallback }: MountSettings): string[] {
  return fallback === undefined ? [] : [join(dir, fallback)]
}

/**
 * The page of a single-page application is sent for paths at which something else may be tomorrow, an API's
 * for example, so no cache may keep it (RFC 9213: some have a field of their own).
 */
function withoutLifetime(fields: Fields): Fields {
  const names = fields.filter(
    (name, at) => at % 2 === 0 && /(?:cache|^surrogate)-control$/i.test(name)
  )
  return names.reduce(without, fields)
}
