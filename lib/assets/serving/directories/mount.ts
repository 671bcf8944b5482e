// A mount: a directory that something else filled.
import { contentType } from '../../../http/media-type.ts'
import type { MountSettings, Settings } from '../../settings/settings.ts'
import { encodeAsImported } from '../../urls/encode.ts'
import { withoutHash } from '../../urls/hashed-name.ts'
import { moreFields } from '../more-fields.ts'
import { dictionaryOf, IMMUTABLE, revalidated } from './public.ts'
import type { ServedDirectory } from './served-directory.ts'

/** By decoded URL path: whether a bundler's manifest names the file and its URL contains a hash. */
export type IsHashed = (mount: MountSettings, path: string) => boolean

export function mountDirectory(
  settings: Settings,
  mount: MountSettings,
  { isHidden, isHashed }: Pick<ServedDirectory, 'isHidden'> & { readonly isHashed: IsHashed }
): ServedDirectory {
  const { host, publicApp } = settings
  const { urlPath, place, fallback } = mount
  const shell = fallback === undefined ? undefined : `${urlPath}/${fallback}`
  // The shell is sent for other URLs than its own.
  const isImmutable = (path: string): boolean =>
    path !== shell && (mount.isImmutable?.(path) ?? isHashed(mount, path))
  const cacheControlOf = (path: string): string =>
    mount.cacheControl?.(path) ?? revalidated(publicApp.compile || path === shell)
  return {
    place,
    urlPath,
    // No canonical path contains a line break.
    memoryKey: `${urlPath}\n`,
    publishedFolder: undefined,
    isPublishing: false,
    revalidate: () => publicApp.revalidate,
    isPublishedOnRequest: () => false,
    isHidden,
    fingerprintOf: () => undefined,
    isOrdinary: () => Promise.resolve(true),
    fieldsOf({ path }) {
      const isFixed = isImmutable(path)
      const next = isFixed ? withoutHash(encodeAsImported(path)) : undefined
      return {
        type: contentType(path),
        cacheControl: isFixed ? IMMUTABLE : cacheControlOf(path),
        // Scripts and fonts of a CDN are fetched in CORS mode.
        crossOrigin: host !== undefined && mount.manifest !== undefined,
        dictionary: dictionaryOf(settings, path, next),
        more: [...moreFields(settings.headers?.(path)), ...moreFields(mount.headers?.(path))]
      }
    }
  }
}
