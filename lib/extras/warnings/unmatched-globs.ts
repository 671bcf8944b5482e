// Warns in development of globs that match nothing, as a misspelled folder does, which is then served.
import { join } from 'node:path'
import { entriesBelow, errorCode } from '../../runtime/files/disk.ts'
import { excluderOf, matcherOf, pathFrom } from '../../runtime/files/paths.ts'
import type { Settings } from '../../runtime/settings/settings.ts'

/** A directory with more folders is not judged: reading it would take longer than the start. */
const MAX_FOLDERS = 2000

export async function unmatchedGlobs(settings: Settings): Promise<string[]> {
  const messages: string[] = []
  for (const { option, dir, globs, matcher } of selectionsOf(settings)) {
    const paths = await pathsBelow(dir)
    for (const glob of paths.length === 0 ? [] : globs) {
      if (paths.some(matcher([glob]))) continue
      const place = pathFrom(settings.root, dir) || '.'
      messages.push(`${option}: '${glob}' matches nothing in ${place}: correct or remove it`)
    }
  }
  return messages
}

function selectionsOf({ apps, mounts }: Settings) {
  const ofMounts = mounts
    .filter(({ isServed }) => isServed)
    .map(({ urlPath, dir, exclude: globs = [] }) => {
      return { option: `exclude of the mount ${urlPath || '/'}`, dir, globs, matcher: excluderOf }
    })
  const ofSources = apps.flatMap(({ name, sources }) =>
    sources.flatMap(({ dir, include = [], exclude = [] }) => [
      { option: `include of apps.${name}.sources`, dir, globs: include, matcher: matcherOf },
      { option: `exclude of apps.${name}.sources`, dir, globs: exclude, matcher: excluderOf }
    ])
  )
  return [...ofMounts, ...ofSources].filter(({ globs }) => globs.length > 0)
}

async function pathsBelow(dir: string): Promise<string[]> {
  let folders = 0
  try {
    const entries = await entriesBelow(dir, () => (folders += 1) < MAX_FOLDERS)
    if (folders >= MAX_FOLDERS) return []
    return entries.map(({ parentPath, name }) => pathFrom(dir, join(parentPath, name)))
  } catch (error) {
    // A folder that cannot be read cannot be judged.
    if (errorCode(error) === undefined) throw error
    return []
  }
}
