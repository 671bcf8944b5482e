// Searches views for names of assets that do not exist.
import { ifAssetError } from '../../runtime/errors.ts'
import { didYouMean, nearestPath } from '../../runtime/check-options.ts'
import { statIfThere } from '../../runtime/files/at-start.ts'
import { statOf } from '../../runtime/files/disk.ts'
import { holdersOf, partOf } from '../../runtime/urls/manifest.ts'
import { readAssets, readNames } from '../../runtime/urls/read-manifest.ts'
import type { Check, Problem, Project } from '../../runtime/app/extra.ts'
import { assetPath, ofApp, ownerOf, type AppSettings } from '../../runtime/settings/apps.ts'
import { manifestFile, publicFile } from '../../runtime/settings/public-directory.ts'
import { encodePath } from '../../runtime/urls/spelling.ts'
import { count } from '../../publishing/cli/command.ts'
import { withSources, type Sources } from '../../publishing/sources/sources.ts'
import { assetName } from '../../runtime/views/asset-url.ts'
import { namesInMounts } from '../vite/bundles.ts'
import { isInlined } from '../media/extra.ts'
import { notInlined } from '../media/media.ts'
import { globsOf, HELPERS, inViews, literalNames, unmatchedViews, USUAL } from './views.ts'

/** The fault of a name; `path` is the view's path below the root and the line: `views/a.ejs:7`. */
interface ViewProblem extends Problem {
  readonly name: string
  readonly near?: string | undefined
}

/** @param isPublished true to check against published files; false for sources, which may not be precompiled yet */
export async function checkViews(
  project: Project,
  globs: readonly string[],
  isPublished = false,
  isChecked = (_named: Named) => true
) {
  const known = await knownIn(project, isPublished)
  let names = 0
  const problems = await inViews(project.root, known.apps, globs, (text, file, app) => {
    const found = literalNames(text).filter(isChecked)
    names += found.length
    return found.flatMap((named): ViewProblem[] => {
      const fault = faultOf({ app, ...named }, known)
      const path = `${file}:${text.slice(0, named.at).split('\n').length}`
      return fault ? [{ path, name: named.name, ...fault }] : []
    })
  })
  return { files: problems.length, names, problems: problems.flat() }
}

export const HELP = 'production.md#names-in-views'

export async function checkOption(project: Project): Promise<Check | undefined> {
  const isGiven = project.options.views !== undefined
  const globs = isGiven ? globsOf(project) : USUAL
  // These may not be views, and mounts may have no build yet.
  const isSure = ({ isCertain, helper }: Named) => isCertain && !helper.startsWith('entry')
  const checked = checkViews(project, globs, true, each => isGiven || isSure(each))
  const views = await (isGiven ? checked : checked.catch(ifAssetError(() => undefined)))
  if (!views || (!isGiven && views.names === 0)) return undefined
  const rest = { total: totalOf(views), help: HELP, report: { views } }
  if (isGiven) return { ...rest, problems: views.problems, doubts: await unmatchedViews(project) }
  const doubts = views.problems.map(({ path, message }) => `${path} ${message}`)
  return { ...rest, problems: [], doubts }
}

export const totalOf = ({ files, names }: Readonly<Record<'files' | 'names', number>>) =>
  `${count(names, 'name')} in ${count(files, 'view')}`

type Fault = Pick<ViewProblem, 'near' | 'message'>

/** Names of apps, entries of bundles, names of files in mounts, and files into which the last precompile put others. */
type Known = Awaited<ReturnType<typeof knownIn>>

async function knownIn(project: Project, isPublished: boolean) {
  const apps = await ownNames(project, isPublished)
  const none: ReadonlySet<string> = new Set()
  const { entries = none, sources = none } = (await namesInMounts(project, silent)) ?? {}
  return { apps, entries, sources, holders: holdersOf(await readAssets(manifestFile(project))) }
}

const silent = () => undefined

type Named = ReturnType<typeof literalNames>[number]

function faultOf(named: Named, known: Known): Fault | undefined {
  const { app, helper, name: given, isCertain } = named
  const { apps, entries, sources } = known
  // The pages of every app may use a view that is below no app.
  const own = apps.filter(each => app === undefined || each.name === app)
  const appNames = apps.map(({ name }) => name)
  if (app !== undefined && own.length === 0)
    return { message: unlike('an app', app, appNames).message }
  // Applications may have a function with that name for other files.
  if (helper === 'inline' && !isCertain) return undefined
  const entry = given.replace(/^(?:\.?\/)+/, '')
  if (helper === 'entry' || helper === 'entryFiles') {
    const isElse = entries.size === 0 && !isCertain
    const what = entries.size > 0 ? 'an entry' : 'an entry: no mount has a manifest'
    return isElse || entries.has(entry) ? undefined : unlike(what, entry, [...entries])
  }
  try {
    const name = assetName(given, HELPERS[helper])
    const isPreload = helper === 'preload'
    if (name === undefined || (isPreload && entries.has(entry))) return undefined
    const names = (isPreload ? ['', '.js', '.css'] : ['']).map(ending => name + ending)
    if (names.some(each => sources.has(each))) return undefined
    const fault = missing(names, own, known)
    if (fault || helper !== 'inline') return fault
    return own.every(each => each.find(name)?.isInlined) ? undefined : { message: notInlined(name) }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return isCertain ? { message: error.message } : undefined
  }
}

function unlike(what: string, name: string, known: readonly string[]): Fault {
  const near = nearestPath(name, known)
  const hint = near === undefined ? '' : `; ${didYouMean(name, near)}`
  return { near, message: `'${name}' is not ${what}${hint}` }
}

/** @param names the name, and others for which it may stand @param own the apps whose pages may use the view */
function missing(names: string[], own: OwnNames[], known: Known): Fault | undefined {
  const { apps, holders, sources } = known
  const [name = ''] = names
  const holderOf = ({ urlPrefix }: OwnNames, each: string) =>
    holders.get(encodePath(`${urlPrefix}/${each}`))
  const hasIt = (app: OwnNames) =>
    names.some(each => app.find(each) && holderOf(app, each) === undefined)
  const lacking = own.filter(each => !hasIt(each))
  const [first] = lacking
  if (!first) return undefined
  const [holder] = lacking.flatMap(each => names.flatMap(name => holderOf(each, name) ?? []))
  if (holder !== undefined) return { message: `'${name}' has no file: ${partOf(holder)}` }
  const other = apps.find(hasIt)
  const isEveryones = own.length === apps.length
  const isAnyones = apps.length === 1 || (isEveryones && !other)
  const what = isAnyones ? 'an asset' : `an asset of the app '${first.name}'`
  if (!other) return unlike(what, name, [...own.flatMap(each => each.names), ...sources])
  const pages = isEveryones ? ', whose pages may have this view' : ''
  return { message: `'${name}' is not ${what}${pages}; ${ofApp(other.name)}` }
}

interface OwnNames extends Pick<AppSettings, 'name' | 'dir' | 'urlPrefix'> {
  readonly names: readonly string[]
  /** Finds a name, and tells whether the helper `inline` may write the file. */
  readonly find: (name: string) => { readonly isInlined: boolean } | undefined
}

async function ownNames(project: Project, isPublished: boolean): Promise<OwnNames[]> {
  const file = manifestFile(project)
  const isBuilt = project.mounts.some(({ manifest }) => manifest !== undefined)
  const isNone = project.apps.length === 0 || (isBuilt && !(await statOf(file)))
  if (!isPublished || isNone) {
    const listed = await withSources(project, silent, sources => inSources(project, sources))
    if (isNone || listed.some(({ names }) => names.length > 0)) return listed
  }
  return inManifest(project, file)
}

async function inSources(project: Project, sources: Sources): Promise<OwnNames[]> {
  const all = await Promise.all(project.apps.map(app => sources.of(app).list()))
  return project.apps.map((app, at) => ({
    ...app,
    names: (all[at] ?? []).map(({ source }) => source.name),
    find(given) {
      const owner = ownerOf(project, app, given)
      const { source } = sources.of(owner.app).chosen(owner.name)
      return source && { isInlined: isInlined({ app: owner.app, source }) }
    }
  }))
}

async function inManifest(given: Project, file: string): Promise<OwnNames[]> {
  // Without `compile`, the names are those of the manifest.
  const settings = given.changed({ compile: false })
  const manifest = await readNames(file, settings.apps)
  const isThere = (path: string) => statIfThere(publicFile(settings, path)) !== undefined
  return settings.apps.map(app => ({
    ...app,
    names: manifest.namesOf(app).all,
    find(name) {
      const owner = ownerOf(settings, app, name)
      const entry = manifest.find(owner.app, owner.name)
      // Without fingerprints a page has a URL for any name, and a file may be there.
      const isFound = owner.app.fingerprint ? entry : isThere(assetPath(owner.app, owner.name))
      return isFound ? { isInlined: entry?.svg !== undefined } : undefined
    }
  }))
}
