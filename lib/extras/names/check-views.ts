// Looks in views for names of assets that do not exist.
import { readdir } from 'node:fs/promises'
import { isAbsolute, join, posix, resolve } from 'node:path'
import { inParallel } from '../../runtime/concurrency.ts'
import { statIfThere } from '../../runtime/files/at-start.ts'
import { bytesOf, undefinedIfMissing, statOf } from '../../runtime/files/disk.ts'
import { matcherOf, isInside, pathFrom, withSlashes } from '../../runtime/files/paths.ts'
import { didYouMean, nearestPath } from '../../runtime/check-options.ts'
import { holdersOf, partOf } from '../../runtime/urls/manifest.ts'
import { readAssets, readNames } from '../../runtime/urls/read-manifest.ts'
import type { Problem, Project } from '../../runtime/app/parts.ts'
import { assetPath, ofApp, ownerOf } from '../../runtime/settings/app-settings.ts'
import { manifestFile, publicFile } from '../../runtime/settings/public-directory.ts'
import type { AppSettings } from '../../runtime/settings/settings.ts'
import { encodePath } from '../../runtime/urls/spelling.ts'
import { memoized } from '../../runtime/concurrency.ts'
import { withSources } from '../../publishing/sources/sources.ts'
import { assetName } from '../../runtime/views/asset-url.ts'
import { namesInMounts } from '../vite/bundles.ts'
import { notInlined } from '../media/inline.ts'
import { isInlined } from '../media/extra.ts'
import { HELPERS, literalNames, OTHERS, type LiteralName } from './literal-names.ts'

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
 * @param isPublished true: what answers in production is asked; false: the sources, which may not be precompiled yet
 * @throws AssetError for the manifest of a mount that is missing or broken
 */
export async function checkViews(
  settings: Project,
  globs: readonly string[],
  isPublished = false
): Promise<ViewsReport> {
  const { root } = settings
  const views = await viewsIn(settings, globs)
  const apps = await ownNames(settings, isPublished)
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

/**
 * Returns paths relative to the root, sorted. Assets and declarations of types are no views, whatever a glob matches:
 * they name what no page loads by itself.
 */
export async function viewsIn(
  { root, apps }: Pick<Project, 'root' | 'apps'>,
  globs: readonly string[]
): Promise<string[]> {
  const files = await inParallel(globs, 1, glob => filesOf(root, glob))
  const isAsset = (file: string) =>
    apps.some(({ dir }) => isInside(join(dir, 'assets'), resolve(root, file)))
  const views = files.flat().filter(file => !/\.d\.[cm]?ts$/.test(file) && !isAsset(file))
  return [...new Set(views)].toSorted()
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

/** A view below an app's folder is for pages of that app, whose helpers it gets; any other is for those of all. */
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
  const holders = holdersOf(await readAssets(manifestFile(project)))
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
    // Applications have functions of that name for other files.
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
      const fault = missing(names, { apps, app, holders, others: sources })
      if (fault || helper !== 'inline') return fault
      const own = apps.filter(each => app === undefined || each.name === app)
      return own.every(each => each.isInlined(name)) ? undefined : { message: notInlined(name) }
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

interface Known {
  readonly apps: readonly OwnNames[]
  /** The app whose name it is; undefined: the pages of every app may have the view. */
  readonly app: string | undefined
  /** The files into which the last precompile put others, by path. */
  readonly holders: ReadonlyMap<string, string>
  /** The names of files in mounts. */
  readonly others: Iterable<string>
}

/** @param names are the name, and others that it may stand for */
function missing(
  names: readonly string[],
  { apps, app, holders, others }: Known
): Fault | undefined {
  const [name = ''] = names
  const holderOf = (urlPrefix: string, each: string) =>
    holders.get(encodePath(`${urlPrefix}/${each}`))
  const hasIt = ({ has, urlPrefix }: OwnNames) =>
    names.some(each => has(each) && holderOf(urlPrefix, each) === undefined)
  const own = apps.filter(each => app === undefined || each.name === app)
  const lacking = own.filter(each => !hasIt(each))
  const [first] = lacking
  if (!first) return undefined
  const held = lacking.flatMap(({ urlPrefix }) => names.map(each => holderOf(urlPrefix, each)))
  const holder = held.find(Boolean)
  if (holder !== undefined) return { message: `'${name}' has no file: ${partOf(holder)}` }
  const other = apps.find(hasIt)
  const isAnyones = apps.length === 1 || (app === undefined && !other)
  const what = isAnyones ? 'an asset' : `an asset of the app '${first.name}'`
  if (!other) return unlike(what, name, [...own.flatMap(each => each.names), ...others])
  const pages = app === undefined ? ', whose pages may have this view' : ''
  return { message: `'${name}' is not ${what}${pages}; ${ofApp(other.name)}` }
}

interface OwnNames extends Pick<AppSettings, 'name' | 'dir' | 'urlPrefix'> {
  readonly names: readonly string[]
  readonly has: (name: string) => boolean
  /** Tells whether the helper `inline` may write a file that it has. */
  readonly isInlined: (name: string) => boolean
}

/** Returns the names of each app: of the manifest, or of sources that may not be precompiled yet. */
async function ownNames(settings: Project, isPublished: boolean): Promise<OwnNames[]> {
  const file = manifestFile(settings)
  const isBuilt = settings.mounts.some(({ manifest }) => manifest !== undefined)
  const isNone = settings.apps.length === 0 || (isBuilt && !(await statOf(file)))
  const sources = isPublished && !isNone ? undefined : await listed(settings)
  return sources && (isNone || sources.some(({ names }) => names.length > 0))
    ? sources
    : inManifest(settings, file)
}

async function listed(settings: Project): Promise<OwnNames[]> {
  return withSources(
    settings,
    () => undefined,
    async sources => {
      const all = await Promise.all(settings.apps.map(app => sources.of(app).list()))
      return settings.apps.map((app, at) => ({
        ...app,
        names: (all[at] ?? []).map(({ name }) => name),
        has(given) {
          const owner = ownerOf(settings, app, given)
          return sources.of(owner.app).has(owner.name)
        },
        isInlined(given) {
          const { app: owning, name } = ownerOf(settings, app, given)
          const { source } = sources.of(owning).chosen(name)
          return source !== undefined && isInlined({ app: owning, source })
        }
      }))
    }
  )
}

async function inManifest(given: Project, file: string): Promise<OwnNames[]> {
  // These names are those of the manifest, unless the options set `compile`.
  const settings = given.changed({ compile: false })
  const manifest = await readNames(file, settings.apps)
  const isThere = (path: string) => statIfThere(publicFile(settings, path)) !== undefined
  return settings.apps.map(app => ({
    ...app,
    names: manifest.namesOf(app),
    has(given) {
      const owner = ownerOf(settings, app, given)
      // Without fingerprints a page has the URL of any name, and a file may answer there.
      if (!owner.app.fingerprint) return isThere(assetPath(owner.app, owner.name))
      return manifest.find(owner.app, owner.name) !== undefined
    },
    isInlined(given) {
      const owner = ownerOf(settings, app, given)
      return manifest.find(owner.app, owner.name)?.svg !== undefined
    }
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
