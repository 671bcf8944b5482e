// The public directory: files that the apps publish, and those that a person put there.
import { encodePath } from '../../urls/encode.ts'
import { splitFingerprint, withoutFingerprint, type WithoutHash } from '../../urls/fingerprint.ts'
import type { Settings } from '../../settings/settings.ts'
import { fieldsFrom } from '../fields.ts'
import { useAsDictionary } from '../../../http/coding/dictionaries.ts'
import { contentType, isCompressibleType } from '../../../http/media-type.ts'
import type { ServedDirectory } from './served-directory.ts'

// RFC 8246: the bytes at this URL never change.
export const IMMUTABLE = 'public, max-age=31536000, immutable'

/** The value of Use-As-Dictionary for an immutable file; undefined when it has no deltas. */
export function dictionaryOf(
  { deltas }: Settings,
  path: string,
  next: WithoutHash | undefined
): string | undefined {
  if (!deltas || !next || !isCompressibleType(path)) return undefined
  return useAsDictionary(next.before, next.after)
}

/** For a file that may change at its URL. */
export function revalidated(isCompiled: boolean): string {
  return isCompiled ? 'no-cache' : 'public, max-age=0, must-revalidate'
}

export function publicDirectory(
  settings: Settings,
  { isHidden, isOrdinary }: Pick<ServedDirectory, 'isHidden' | 'isOrdinary'>
): ServedDirectory {
  const { apps, host, prefix, publicApp } = settings
  return {
    place: settings.place,
    urlPath: '',
    memoryKey: '',
    publishedFolder: /^\/[^/]*/.exec(prefix)?.[0],
    isPublishing: apps.some(({ compile }) => compile),
    revalidate: ({ app }) => app.revalidate,
    revalidateCopies: undefined,
    isPublishedOnRequest: ({ app }) => app.compile,
    isHidden,
    fingerprintOf: ({ app, path }) => (app === publicApp ? undefined : splitFingerprint(path)),
    isOrdinary,
    fieldsOf: ({ app, path }, isVerified) => ({
      type: contentType(path),
      cacheControl: isVerified ? IMMUTABLE : revalidated(app.compile),
      crossOrigin: host !== undefined && path.startsWith(`${prefix}/`),
      dictionary: isVerified
        ? dictionaryOf(settings, path, withoutFingerprint(encodePath(path)))
        : undefined,
      more: fieldsFrom(settings.headers?.(path))
    })
  }
}
