// The public directory as it is at start: everything in it is served, so nothing else may lie there.
import { join, relative } from 'node:path'
import { AssetError } from '../../errors.ts'
import type { AppSettings } from './app-settings.ts'
import { futureRealpath, statIfThere } from '../../files/at-start.ts'
import { isInside } from '../../files/disk.ts'

interface Place {
  readonly root: string
  readonly publicDir: string
  readonly apps: readonly AppSettings[]
}

/**
 * @param given as the option has it
 * @throws AssetError for a file, and for a directory that would serve the project itself
 */
export function checkPublic(place: Place, given: string): void {
  const stats = statIfThere(place.publicDir)
  if (stats && !stats.isDirectory()) {
    const message = `public must be a directory, but ${given} is a file: move it away or set another public`
    throw new AssetError('public-unusable', message)
  }
  const reason = whyPrivate(place)
  if (reason === undefined) return
  throw new AssetError(
    'public-unusable',
    `everything in public is served, but ${given} ${reason}: use a directory of its own, such as public: 'public'`
  )
}

/** Judged on real paths, since a link would serve it as well. */
function whyPrivate({ root, publicDir, apps }: Place): string | undefined {
  const real = futureRealpath(publicDir)
  if (isInside(real, futureRealpath(root))) return "is the project's root, or holds it"
  if (statIfThere(join(publicDir, 'package.json'))) return 'holds a package.json'
  for (const source of new Set(apps.flatMap(app => app.sources))) {
    const [shown, realSource] = [relative(root, source), futureRealpath(source)]
    if (isInside(real, realSource)) return `holds the source directory ${shown}`
    if (isInside(realSource, real)) return `lies in the source directory ${shown}`
  }
  return undefined
}
