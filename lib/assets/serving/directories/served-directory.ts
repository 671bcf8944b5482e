// What distinguishes the directories that are served: public and each mount.
import { join, sep } from 'node:path'
import type { ServedPlace } from '../../../files/containment.ts'
import type { Fingerprinted } from '../../urls/fingerprint.ts'
import type { SharedFields } from '../files/representation.ts'
import { isBelow, type Wanted } from '../request-path.ts'
import type { Settings } from '../../settings/settings.ts'
import { contentType } from '../../../http/media-type.ts'

export interface ServedDirectory {
  readonly place: ServedPlace
  /** Decoded: `/static`; the empty string for `/`. */
  readonly urlPath: string
  /** Precedes a path in the memory that all directories share. */
  readonly memoryKey: string
  /** The URL path of the top folder that contains the assets of all apps; undefined in a mount. */
  readonly publishedFolder: string | undefined
  /** Whether files may be published there by a request. */
  readonly isPublishing: boolean
  /** Seconds for which a stat result is reused. */
  readonly revalidate: (wanted: Wanted) => number
  /** Seconds for which the compressed copies beside an unchanged file are not looked for again; undefined: 0. */
  readonly revalidateCopies: ((wanted: Wanted) => number) | undefined
  /**
   * Whether a file may be published by the request itself: compressed copies beside it do not keep up, and
   * it may appear at any time.
   */
  readonly isPublishedOnRequest: (wanted: Wanted) => boolean
  /** Whether a file is never served; undefined when all are. @param file absolute, as named or real */
  readonly isHidden: ((file: string) => boolean) | undefined
  /** The fingerprint in a name, which the bytes must have. */
  readonly fingerprintOf: (wanted: Wanted) => Fingerprinted | undefined
  /**
   * Whether 32 hex characters that are not the digest of the bytes are part of the name itself.
   * @param plain the path without them
   */
  readonly isOrdinary: (wanted: Wanted, plain: string) => Promise<boolean>
  /** @param isVerified whether the bytes have the digest in the name */
  readonly fieldsOf: (wanted: Wanted, isVerified: boolean) => SharedFields
}

/** The file for a decoded URL path under the directory's; absolute. */
export function fileIn(
  { place, urlPath }: Pick<ServedDirectory, 'place' | 'urlPath'>,
  path: string
): string {
  const below = path.slice(urlPath.length)
  // Of a canonical path there is nothing to normalize.
  return sep === '/' && place.dir !== sep ? place.dir + below : join(place.dir, below)
}

/** Whether a decoded path is below a directory's URL path. */
export function covers({ urlPath }: { readonly urlPath: string }, path: string): boolean {
  return isBelow(path, urlPath)
}

/** A directory from which routes send single files. @param root absolute */
export function fileRoot(settings: Settings, root: string): ServedDirectory {
  const { root: project, symlinks } = settings
  return {
    place: { root: project, dir: root, symlinks },
    urlPath: '',
    // No path contains a NUL.
    memoryKey: `${root}\0`,
    publishedFolder: undefined,
    isPublishing: false,
    // A route may just have written the file.
    revalidate: () => 0,
    revalidateCopies: undefined,
    isPublishedOnRequest: () => false,
    isHidden: undefined,
    fingerprintOf: () => undefined,
    isOrdinary: () => Promise.resolve(true),
    fieldsOf: ({ path }) => ({
      type: contentType(path),
      // The route may have sent it to one visitor only.
      cacheControl: 'private, no-cache',
      crossOrigin: false,
      // Its URL is the route's.
      dictionary: undefined,
      more: []
    })
  }
}
