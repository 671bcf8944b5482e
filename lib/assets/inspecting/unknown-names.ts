// A name that a page writes and no source bears: said in development, behind the page's back.
import { join, relative } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { reasonOf } from '../../errors.ts'
import { nearestPath } from '../../nearest.ts'
import { choose } from '../sources/choose-source.ts'
import { statOf } from '../../files/disk.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'
import type { Sources } from '../sources/sources.ts'

const MAX_REMEMBERED = 1000

/** Looks for a name once, later: a helper never waits for the disk, and never fails. */
export function makeNameCheck(
  settings: Settings,
  sources: Sources,
  warn: (message: string) => void
): (app: AppSettings, name: string) => void {
  const seen = new Set<string>()

  const check = async (app: AppSettings, name: string): Promise<void> => {
    const { source, warning } = choose(name, await sources.of(app).candidates(name))
    if (source) return
    // What a person put into public needs no source.
    if (await statOf(join(settings.publicDir, app.urlPrefix, name))) return
    const names = (await sources.of(app).list()).map(listed => listed.name)
    const near = nearestPath(name, names)
    const hint = near === undefined ? '' : `; did you mean '${near}'?`
    const searched = sources.of(app).directories.map(path => relative(settings.root, path) || '.')
    const missing = `a page links to ${app.urlPrefix}/${name}, which has no source in ${searched.join(', ')}`
    warn(warning ?? missing + hint)
  }

  const queue: (readonly [app: AppSettings, name: string])[] = []

  /** One name in a turn of the event loop, since a search among many names takes a while. */
  const drain = async (): Promise<void> => {
    for (let next = queue[0]; next; next = queue[0]) {
      const [app, name] = next
      await setImmediate()
      await check(app, name).catch((error: unknown) =>
        warn(`cannot look for ${app.urlPrefix}/${name}: ${reasonOf(error)}`)
      )
      queue.shift()
    }
  }

  return (app, name) => {
    const key = `${app.urlPrefix}/${name}`
    if (seen.has(key) || queue.length >= MAX_REMEMBERED) return
    if (seen.size >= MAX_REMEMBERED) seen.clear()
    seen.add(key)
    if (queue.push([app, name]) === 1) void drain()
  }
}
