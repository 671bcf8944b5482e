// Warns in development about a name in a page that has no source.
import { relative } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { reasonOf } from '../../errors.ts'
import { statOf } from '../../files/disk.ts'
import { nearestPath } from '../../nearest.ts'
import { publicFile } from '../settings/public-directory.ts'
import { assetPath } from '../settings/app-settings.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'
import { choose } from '../sources/catalog.ts'
import type { Sources } from '../sources/sources.ts'

const MAX_REMEMBERED = 1000

/** Looks up each name once and later: a helper never waits for the disk, and never fails. */
export function makeNameCheck(
  settings: Settings,
  sources: Sources,
  warn: (message: string) => void
): (app: AppSettings, name: string) => void {
  const seen = new Set<string>()
  let waiting = 0
  let last = Promise.resolve()

  const check = async (app: AppSettings, name: string) => {
    const problem = await problemOf(settings, sources, app, name).catch(
      (error: unknown) => `cannot look up ${assetPath(app, name)}: ${reasonOf(error)}`
    )
    if (problem !== undefined) warn(problem)
    waiting--
  }

  return (app, name) => {
    const key = assetPath(app, name)
    if (seen.has(key) || waiting >= MAX_REMEMBERED) return
    if (seen.size >= MAX_REMEMBERED) seen.clear()
    seen.add(key)
    waiting++
    // One name per turn of the event loop, because a search among many names takes a while.
    last = last.then(() => setImmediate()).then(() => check(app, name))
  }
}

async function problemOf(
  settings: Settings,
  sources: Sources,
  app: AppSettings,
  name: string
): Promise<string | undefined> {
  const own = sources.of(app)
  const { source, warning } = choose(name, await own.candidates(name))
  // A file that a person put into public needs no source.
  if (source || (await statOf(publicFile(settings, assetPath(app, name))))) return undefined
  if (warning !== undefined) return warning
  const names = (await own.list()).map(listed => listed.name)
  const near = nearestPath(name, names)
  const hint = near === undefined ? '' : `; did you mean '${near}'?`
  const searched = own.directories.map(path => relative(settings.root, path) || '.').join(', ')
  return `a page links to ${assetPath(app, name)}, which has no source in ${searched}${hint}`
}
