// Looks in views for names of assets that do not exist.
import { readdir } from 'node:fs/promises'
import { isAbsolute, join, posix, resolve } from 'node:path'
import { inParallel } from '../../concurrency.ts'
import { bytesOf, undefinedIfMissing, statOf } from '../../files/disk.ts'
import { matcherOf } from '../../files/globs.ts'
import { didYouMean, nearestPath } from '../../nearest.ts'
import { holdersOf, Manifest, partOf } from '../../assets/building/manifest/manifest.ts'
import { readEntries, readManifest } from '../../assets/building/manifest/read-manifest.ts'
import type { Problem, Project } from '../../assets/parts.ts'
import { manifestFile } from '../../assets/settings/public-directory.ts'
import type { AppSettings } from '../../assets/settings/settings.ts'
import { encodePath } from '../../assets/urls/canonical-path.ts'
import { memoized } from '../../assets/sources/catalog.ts'
import { type Sources, withSources } from '../../assets/sources/sources.ts'
import { assetName } from '../../assets/views/asset-url.ts'
import { namesInMounts } from '../bundles/bundles.ts'
import { HELPERS, literalNames, OTHERS, type LiteralName } from './literal-names.ts'
import { isInside, pathFrom, withSlashes } from '../../files/paths.ts'

/**
 * A name in a view that neither an asset nor a helper has. Its `path` consists of the view's path below the root and
 * the line: `views/a.ejs:7`.
 */
interface ViewProblem extends Problem {
  readonly name: string
  /** The known name that is most similar. */
  readonly near?: string | undefined
}

export interface ViewsReport {
  /** The number of views that were read. */
  readonly files: number
  /** The number of names that were found in them. */
  readonly names: number
  /** The names that do not exist. */
  readonly problems: readonly ViewProblem[]
}

const CONCURRENCY = 16

/**
 * @param globs are relative to the root
 * @throws AssetError for the manifest of a mount that is missing or broken
 */
export async function checkViews(
  settings: Project,
  globs: readonly string[]
): Promise<ViewsReport> {
  const views = await viewsIn(settings.root, globs)
  return withSources(
    settings,
    () => undefined,
    sources => checkEach(settings, sources, views)
  )
}

async function checkEach(
  settings: Project,
  sources: Sources,
  views: readonly string[]
): Promise<ViewsReport> {
  const { root } = settings
  const apps = await ownNames(settings, sources)
  const problemOf = await makeCheck(settings, apps)
  // The names in a partial belong to many views.
  const known = memoized((key: string) => problemOf(JSON.parse(key) as Named))
  let names = 0
  const problems = await inParallel(views, CONCURRENCY, async file => {
    const text = String((await bytesOf(join(root, file))) ?? '')
    const found = literalNames(text)
    names += found.filter(({ helper }) => helper !== undefined).length
    const own = appOfView(apps, root, file)
    return found.flatMap(({ at, ...named }) => {
      const problem = known(JSON.stringify({ app: own, ...named }))
      if (!problem) return []
      const line = text.slice(0, at).split('\n').length
      return { path: `${file}:${line}`, name: named.name, ...problem }
    })
  })
  return { files: views.length, names, problems: problems.flat() }
}

/** Returns paths relative to the root, sorted. */
export async function viewsIn(root: string, globs: readonly string[]): Promise<string[]> {
  const files = await inParallel(globs, 1, glob => filesOf(root, glob))
  return [...new Set(files.flat())].toSorted()
}

/** Returns a message for each glob of the option `views` that matches no file. */
export async function unmatchedViews({ root, options }: Project): Promise<string[]> {
  const found = await inParallel([options.views ?? []].flat(), 1, async glob => {
    const isMatched = (await filesOf(root, glob)).length > 0
    return isMatched
      ? []
      : [`views: '${glob}' matches no file of the project: correct or remove it`]
  })
  return found.flat()
}

/** A view below an app's folder is for pages of that app, whose helpers it gets; any other is for all pages. */
export function appOfView(
  apps: readonly Pick<AppSettings, 'name' | 'dir'>[],
  root: string,
  file: string
): string | undefined {
  const around = apps.filter(({ dir }) => dir !== root && isInside(dir, resolve(root, file)))
  return around.toSorted((a, b) => b.dir.length - a.dir.length)[0]?.name
}

type Fault = Pick<ViewProblem, 'near' | 'message'>
type Named = Omit<LiteralName, 'at'>

const NONE: ReadonlySet<string> = new Set()

async function makeCheck(
  project: Project,
  apps: readonly OwnNames[]
): Promise<(named: Named) => Fault | undefined> {
  const appNames = apps.map(({ name }) => name)
  const known = await namesInMounts(project, () => undefined)
  const holders = holdersOf(await readEntries(manifestFile(project)))
  const { entries, sources } = known ?? { entries: NONE, sources: NONE }
  return ({ app, helper, name: given, isCertain }) => {
    if (app !== undefined && !appNames.includes(app)) {
      return { message: unlike('an app', app, appNames).message }
    }
    if (helper === undefined) {
      const misspelled = unlike('a helper', given, [...Object.keys(HELPERS), ...OTHERS])
      // The member may belong to an array of that name.
      return misspelled.near === undefined ? undefined : misspelled
    }
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
      const holder = holderIn(holders, names, apps, app)
      if (holder !== undefined) return { message: `'${name}' has no file: ${partOf(holder)}` }
      return missing(names, sources, apps, app)
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      return isCertain ? { message: error.message } : undefined
    }
  }
}

function unlike(what: string, name: string, known: readonly string[]): Fault {
  const near = nearestPath(name, known)
  const hint = near === undefined ? '' : `; ${didYouMean(name, near)}`
  return { near, message: `'${name}' is not ${what}${hint}` }
}

/**
 * @param names are the name, and others that it may stand for
 * @param app is undefined where the name may be any app's
 */
function missing(
  names: readonly string[],
  sources: Iterable<string>,
  apps: readonly OwnNames[],
  app: string | undefined
): Fault | undefined {
  const [name = ''] = names
  const own = apps.filter(each => app === undefined || each.name === app)
  const hasIt = ({ has }: OwnNames) => names.some(has)
  if (own.some(hasIt)) return undefined
  const what = app === undefined || apps.length === 1 ? 'an asset' : `an asset of the app '${app}'`
  const other = apps.find(hasIt)?.name
  if (other === undefined)
    return unlike(what, name, [...own.flatMap(each => each.names), ...sources])
  return { message: `'${name}' is not ${what}; '${other}' has it, as in assets.app('${other}')` }
}

/** Returns the file into which the last precompile put it, in every app that may be meant. */
function holderIn(
  holders: ReadonlyMap<string, string>,
  names: readonly string[],
  apps: readonly OwnNames[],
  app: string | undefined
): string | undefined {
  const own = apps.filter(each => app === undefined || each.name === app)
  const found = own.map(({ urlPrefix }) =>
    names.map(name => holders.get(encodePath(`${urlPrefix}/${name}`))).find(Boolean)
  )
  return found.every(Boolean) ? found[0] : undefined
}

interface OwnNames extends Pick<AppSettings, 'name' | 'dir' | 'urlPrefix'> {
  readonly names: readonly string[]
  readonly has: (name: string) => boolean
}

/** Returns the names of each app: of its sources or, on a machine that has none, of the manifest. */
async function ownNames(settings: Project, sources: Sources): Promise<OwnNames[]> {
  const listed = await Promise.all(settings.apps.map(app => sources.of(app).list()))
  const file = manifestFile(settings)
  const isOnlyBundles =
    settings.mounts.some(({ manifest }) => manifest !== undefined) && !(await statOf(file))
  if (listed.some(list => list.length > 0) || settings.apps.length === 0 || isOnlyBundles) {
    return settings.apps.map((app, at) => ({
      ...{ name: app.name, dir: app.dir, urlPrefix: app.urlPrefix },
      names: (listed[at] ?? []).map(({ name }) => name),
      has: (name: string) => sources.of(app).has(name)
    }))
  }
  const { assets } = await readManifest(file)
  const manifest = new Manifest(assets)
  // These names are those of the manifest, unless the options set `compile`.
  const { apps } = settings.changed({ compile: false })
  return apps.map(app => ({
    ...{ name: app.name, dir: app.dir, urlPrefix: app.urlPrefix },
    names: manifest.namesOf(app),
    has: (name: string) => manifest.find(app, name) !== undefined
  }))
}

/**
 * Returns the files that match a glob, relative to the root; in folders of packages and hidden ones only if it begins
 * there.
 */
async function filesOf(root: string, given: string): Promise<string[]> {
  const written = withSlashes(given)
  // `/views/**` begins at the root of the project, unless it is the absolute path of something in it.
  const glob = isAbsolute(written) && isInside(root, written) ? pathFrom(root, written) : written
  // These are the folders before the first name with a pattern.
  const below = glob.replace(/^(?:\.?\/)+/, '')
  const [base = ''] = /^(?:[^*?[\]{}()!+@\\/]+\/)*/.exec(below) ?? []
  const matches = matcherOf([glob])
  const walk = async (folder: string): Promise<string[]> => {
    const entries =
      (await undefinedIfMissing(readdir(resolve(root, folder), { withFileTypes: true }))) ?? []
    const found = await inParallel(entries, CONCURRENCY, async entry => {
      const path = posix.join(folder, entry.name)
      if (entry.isDirectory()) return /^\.|^node_modules$/.test(entry.name) ? [] : walk(path)
      // A link may lead to a folder.
      const isView = matches(path) && (await statOf(resolve(root, path)))?.isFile()
      return isView ? [path] : []
    })
    return found.flat()
  }
  return walk(base)
}
