// What lies in public, judged on real paths: a link may lead out of it.
import { dirname, join } from 'node:path'
import { isInside, realpathOf } from './disk.ts'
import type { Settings } from './settings.ts'

/** Whether a file or folder that exists lies in public, as far as `symlinks` cares. */
export async function isWithinPublic(
  { symlinks, publicDir }: Settings,
  path: string
): Promise<boolean> {
  if (symlinks === 'follow') return true
  const [real, top] = await Promise.all([realpathOf(path), realpathOf(publicDir)])
  if (real === undefined || top === undefined) return false
  return symlinks === 'deny'
    ? real === join(top, path.slice(publicDir.length))
    : isInside(top, real)
}

/** Whether a file would lie in public once it is written: the folders that are there already tell. */
export async function wouldLieInPublic(settings: Settings, file: string): Promise<boolean> {
  for (let at = dirname(file); isInside(settings.publicDir, at); at = dirname(at)) {
    if ((await realpathOf(at)) !== undefined) return isWithinPublic(settings, at)
  }
  return true
}
