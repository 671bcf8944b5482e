// Gives advice about names without a source, and in development warns of such names in pages.
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Project } from '../../runtime/app/extra.ts'
import type { OnRequest } from '../../runtime/app/on-request.ts'
import { reasonOf } from '../../runtime/errors.ts'
import { statOf, whyHidden } from '../../runtime/files/disk.ts'
import { didYouMean, nearestPath } from '../../runtime/check-options.ts'
import { assetPath, ofApp, type AppSettings } from '../../runtime/settings/apps.ts'
import { publicFile } from '../../runtime/settings/public-directory.ts'
import type { Sources } from './sources.ts'
import { pathFrom } from '../../runtime/files/paths.ts'

/** Returns one sentence; undefined if nothing resembles the name. */
export async function adviseOn(all: Sources, app: AppSettings, name: string) {
  const unusable = await all.unpublishedAt(assetPath(app, name))
  if (unusable !== undefined) return unusable
  const listed = await all.of(app).list()
  const maps = [app.imports, ...all.of(app).lists.map(each => each.imports?.names)]
  const module = maps.find(map => map?.has(name))?.get(name)
  if (module !== undefined) return `the import map has it, for ${module}`
  const tailed = listed.find(({ source }) => `/${source.tail}`.endsWith(`/${name}`))
  if (tailed && tailed.source.tail !== tailed.source.name && !app.tails) {
    return `${tailed.source.path} is published as ${tailed.source.name}; tails: false disables other names`
  }
  const raw = listed.find(({ source }) => `/${source.path}`.endsWith(`/${name}`))
  if (raw) return `${raw.source.path} is a source; it is published as ${raw.source.name}`
  const hidden = listed.find(({ shadowed, rivals }) =>
    [...shadowed, ...rivals].some(({ tail }) => `/${tail}`.endsWith(`/${name}`))
  )
  if (hidden)
    return `only one source is published as ${hidden.source.name}, here ${hidden.source.path}: rename the other, or set at for its directory`
  const other = await all.otherWith(app, name)
  if (other !== undefined) return ofApp(other)
  // A partial `_part.scss` would be published as `_part.css`.
  const rule = whyHidden(name.replace(/\.css$/, '.scss'))
  if (rule !== undefined) return rule
  const names = listed.map(({ source }) => source.name)
  const near = nearestPath(name, names)
  return near === undefined ? undefined : didYouMean(name, near)
}

const MAX_REMEMBERED = 200

/** Looks up names later, each once until a file is added or removed, so helpers neither wait for the disk nor fail. */
export function makeNameCheck(
  settings: Project,
  sources: Sources,
  warn: (message: string) => void
): OnRequest['checkName'] {
  const problemOf = async (app: AppSettings, name: string, whose: string) => {
    const own = sources.of(app)
    // Everything is listed again only for an unlisted name.
    if (await own.find(name)) return undefined
    const { warning } = own.chosen(name)
    const path = assetPath(app, name)
    const isThere = (await statOf(publicFile(settings, path)))?.isFile()
    const searched = own.directories.map(dir => pathFrom(settings.root, dir) || '.').join(', ')
    const missing = `${whose} ${path}, which has no source in ${searched}`
    if (isThere) {
      const near =
        (await adviseOn(sources, app, name)) ?? 'write its URL, or move it to the sources'
      return `${missing}: public has a file of that name, from a precompile or put there by hand, but with fingerprints no helper finds it: ${near}`
    }
    if (warning !== undefined) return warning
    const advice =
      (await adviseOnFile(name)) ??
      (await adviseOn(sources, app, name)) ??
      (await adviseOnFolder(own.directories))
    return advice === undefined ? missing : `${missing}; ${advice}`
  }
  const adviseOnFile = async (name: string) => {
    const isThere = (await statOf(join(settings.publicDir, name)))?.isFile()
    return isThere
      ? `public has a file of that name, which needs no helper: write ${settings.base}/${name} in the page`
      : undefined
  }
  const adviseOnFolder = async (directories: readonly string[]) => {
    const found =
      settings.options.apps === undefined && (await Promise.all(directories.map(statOf)))
    if (!found || found.some(Boolean)) return undefined
    return 'if it is in the folder assets, restart this process, which looked for that folder at its start'
  }
  const seen = new Map<string, number>()
  let last: Promise<unknown> = Promise.resolve()
  return (app, name, whose = 'a page links to') => {
    const path = assetPath(app, name)
    const { generation } = sources.of(app)
    if (seen.get(path) === generation || seen.size >= MAX_REMEMBERED) return
    seen.set(path, generation)
    // Only one name is searched for per turn of the event loop, because many names take a while.
    last = last
      .then(() => setImmediate())
      .then(() => problemOf(app, name, whose))
      .catch((error: unknown) => `cannot look up ${path}: ${reasonOf(error)}`)
      .then(problem => problem === undefined || warn(problem))
  }
}
