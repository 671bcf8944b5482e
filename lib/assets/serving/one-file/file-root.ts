// A directory from which routes send single files.
import { contentType } from '../../../http/media-type.ts'
import type { Settings } from '../../settings/settings.ts'
import type { ServedDirectory } from '../directories/served-directory.ts'

/** @param root absolute */
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
