// Settles the options of each app. They come from layers; the last layer that sets an option wins.
import { isAbsolute, join } from 'node:path'
import { AssetError } from '../errors.ts'
import { futureRealpath, isDirectory, readDirectory } from '../files/at-start.ts'
import { absolutePath, pathFrom } from '../files/paths.ts'
import type { IntegrityAlgorithm } from '../files/digest.ts'
import { mediaTypeOf } from '../http/fields.ts'
import {
  entriesGiven,
  joinLayers,
  nearest,
  optionError,
  settleTable,
  unknownName,
  type Expectation
} from '../check-options.ts'
import { canonicalSegments } from '../urls/spelling.ts'
import { constantsOf } from './constants.ts'
import { LAYERED_EXTRAS } from './extra-options.ts'
import { digestsForBuild } from './of-build.ts'
import { ENVIRONMENTS, isAbsoluteUrl, LAYERED, type CommonSettings } from './table.ts'
import type { AppOptions, KoaAssetsOptions, LayeredOptions, SourceOptions } from './options.ts'
import { appsAtStart, manifestFile } from './public-directory.ts'

export type AppSettings = ReturnType<typeof settleApp>

export interface SourceDirectory {
  readonly dir: string
  /** The folder under which the tree appears in names, empty for none; if undefined, names drop the first folder. */
  readonly at?: string | undefined
  readonly include?: readonly string[] | undefined
  readonly exclude?: readonly string[] | undefined
}

type Basis = CommonSettings & { readonly options: KoaAssetsOptions }

export interface Apps {
  /** The apps, the longest `urlPrefix` first. */
  readonly apps: readonly AppSettings[]
  /** The settings of files and pages that belong to no app. It has no name and no sources. */
  readonly publicApp: AppSettings
}

export function appAt({ apps }: Pick<Apps, 'apps'>, path: string): AppSettings | undefined {
  return apps.find(({ urlPrefix }) => path.startsWith(`${urlPrefix}/`))
}

/** Returns the plain URL path of an asset, decoded: `/assets/app.css`. */
export function assetPath({ urlPrefix }: Pick<AppSettings, 'urlPrefix'>, name: string): string {
  return `${urlPrefix}/${name}`
}

/** Returns the app and the name at the path of a name: `admin/menu.css` in `web` is the app admin's `menu.css`. */
export function ownerOf(all: Apps, app: AppSettings, name: string) {
  const path = assetPath(app, name)
  const owner = (app !== all.publicApp && appAt(all, path)) || app
  return { app: owner, name: path.slice(owner.urlPrefix.length + 1) }
}

export const ofApp = (name: string): string => `'${name}' has it, as in assets.app('${name}')`

/** Returns the other app to which the path of a name belongs, or whose assets are below it; undefined for none. */
export function appInTheWay(all: Pick<Apps, 'apps'>, app: AppSettings, name: string) {
  const path = `${assetPath(app, name)}/`
  const owner = appAt(all, path)
  if (owner !== app) return owner
  return all.apps.find(({ urlPrefix }) => `${urlPrefix}/`.startsWith(path))
}

/** Returns the app to which the URL path of a page belongs, or else the app with the shortest path. */
export function appOfPage({ apps }: Apps, path: string): AppSettings | undefined {
  const app = apps.find(each => each.path === '/' || `${path}/`.startsWith(`${each.path}/`))
  return app ?? apps.at(-1)
}

export function settleApps(basis: Basis): Apps {
  const { options, env, publicDir } = basis
  const top = settleLayers(basis, layersOf(options, env))
  const found = () => findApps(basis, top.fingerprint && !top.compile)
  const given = entriesGiven(options.apps === false ? {} : (options.apps ?? found()))
  const apps = given
    .map(([name, app]) => settleApp(basis, name, app, given.length === 1))
    .toSorted((a, b) => b.urlPrefix.length - a.urlPrefix.length)
  for (const { name, path, urlPrefix } of apps) {
    const twin = apps.findLast(app => app.urlPrefix === urlPrefix)?.name
    if (twin === name) continue
    throw optionError('path', `different from that of '${twin}'`, path, `apps.${name}.`)
  }
  const none = { name: '', dir: publicDir, path: '/', urlPrefix: '', sources: [], forBuild: {} }
  const publicApp: AppSettings = Object.freeze({ ...top, ...none, fingerprint: false })
  return { apps: Object.freeze(apps), publicApp }
}

function settleApp(basis: Basis, name: string, app: AppOptions, isOnly: boolean) {
  const { options, root, env, prefix } = basis
  const dir = absolutePath(root, app.dir ?? join('apps', name))
  const given = app.path ?? (isOnly || name === 'web' ? '/' : `/${name}`)
  const expected = "a path such as '/admin'"
  const path = settlePath(given, 'path', expected, `apps.${name}.`)
  // Development has its pages below `/-/`.
  if (`${path}/`.startsWith('/-/')) throw optionError('path', expected, given, `apps.${name}.`)
  const layers = [...layersOf(options, env), ...layersOf(app, env, `apps.${name}.`)]
  const layered = settleLayers(basis, layers)
  const asked = layered.sources.map(each => (typeof each === 'string' ? { dir: each } : each))
  const extraSources = settleSources(asked, dir, layered.compile)
  const mustExist = options.apps !== undefined && layered.compile && extraSources.length === 0
  if (mustExist) existingDirectory(`apps.${name}.dir`, root, dir)
  const assets = join(dir, 'assets')
  // Some of them may be the app's own directory, with more of its `exclude`.
  const isOwn = (each: SourceDirectory) => each.dir === assets && each.at === undefined
  const globs = (key: 'include' | 'exclude') => {
    const all = extraSources.filter(isOwn).flatMap(each => each[key] ?? [])
    return all.length > 0 ? all : undefined
  }
  const own = { dir: assets, include: globs('include'), exclude: globs('exclude') }
  const others = extraSources.filter(each => !isOwn(each))
  const sources = Object.freeze(unique([own, ...others]))
  const written = (each: string) => (isAbsolute(each) ? pathFrom(root, each) : each)
  const dirs = asked.map(each => ({ ...each, dir: written(each.dir) }))
  const places = { path, dir: pathFrom(root, dir), sources: dirs }
  return Object.freeze({
    ...layered,
    /** The options as given; an app that was found on disk or in the manifest has none of its own. */
    given: { ...options, ...(options.apps && app), ...layered.given },
    /** The digests of the options that a build must know; sources count as written, as a server may lack them. */
    forBuild: digestsForBuild({ ...options, ...basis, ...layered, ...places }),
    name,
    dir,
    /** The decoded URL path: `/`, or `/admin`. */
    path: path || '/',
    /** The decoded URL prefix of its assets: `/assets`, or `/assets/admin`. */
    urlPrefix: prefix + path,
    /** The directories to search, the app's own `assets` first, without third-party directories. */
    sources
  })
}

/** Tells whether there is anything to publish: a production server may have only `public`. */
export function hasSources(app: AppSettings): boolean {
  const lists: Readonly<Record<string, unknown>> = app
  const isNamed = Object.entries<Expectation>(LAYERED_EXTRAS).some(
    ([name, { isAppended }]) => isAppended && [lists[name]].flat().length > 0
  )
  return isNamed || app.sources.some(({ dir }) => isDirectory(dir))
}

/** The options set at one level: those that always hold, then those of the environment. */
function layersOf(options: Omit<AppOptions, 'dir' | 'path'>, env: string, place = '') {
  const { configure = {} } = options
  for (const name of Object.keys(configure)) {
    // A name that contains a standard one, such as `production-eu`, is not a typo.
    if (name === env || ENVIRONMENTS.some(each => name.includes(each))) continue
    if (nearest(name, ENVIRONMENTS, 2) === undefined) continue
    throw unknownName('environment', name, ENVIRONMENTS, { place: `${place}configure.` })
  }
  return [options, (Object.hasOwn(configure, env) && configure[env]) || {}]
}

/** A directory that is not read need not exist: a production server may have only `public`. */
function settleSources(given: readonly SourceOptions[], base: string, isRead: boolean) {
  return given.map(({ dir, at, include, exclude }): SourceDirectory => ({
    dir: isRead ? existingDirectory('sources', base, dir) : absolutePath(base, dir),
    at: at === '/' ? '' : at,
    include: include === undefined ? undefined : [include].flat(),
    exclude: exclude === undefined ? undefined : [exclude].flat()
  }))
}

export function existingDirectory(option: string, base: string, given: string): string {
  const path = absolutePath(base, given)
  if (isDirectory(path)) return path
  const message = `${option} names ${given}, but ${path} is not a directory: create it, or correct ${option}`
  throw new AssetError('source-missing', message)
}

/** Keeps each directory once, whatever links lead to it, unless it is published differently; the first path stays. */
function unique(sources: readonly SourceDirectory[]): SourceDirectory[] {
  const keys = sources.map(({ dir, ...rest }) => JSON.stringify([futureRealpath(dir), rest]))
  return sources.filter((_, at) => keys.indexOf(keys[at] as string) === at)
}

function settleLayers(basis: Basis, layers: readonly LayeredOptions[]) {
  const given: LayeredOptions = joinLayers(LAYERED, layers)
  const plain = settleTable(LAYERED, given, basis)
  // A build tool's output has fingerprints wherever it is deployed, in `staging` as well.
  const isDeployed = plain.fingerprint || !['development', 'test'].includes(basis.env)
  const { integrity = isDeployed ? 'sha384' : false, compilers = [], imports } = given
  const define = Object.fromEntries(entriesGiven(given.define))
  return {
    ...plain,
    given,
    integrity: Object.freeze<IntegrityAlgorithm[]>(integrity === false ? [] : [integrity].flat()),
    /** The name of an asset, or an absolute URL, for each bare module specifier. */
    imports: new Map(entriesGiven(imports).map(([bare, name]) => [bare, scriptName(name)])),
    compilers,
    define,
    constants: constantsOf(basis, define),
    revalidate: basis.options.revalidate ?? (plain.compile ? 0 : 1),
    tails: basis.tails
  }
}

/** Appends `.js` to a name without a known extension, as `javascript()` does. */
function scriptName(name: string): string {
  return isAbsoluteUrl(name) || mediaTypeOf(name) !== undefined ? name : `${name}.js`
}

/** Normalizes the path of an app or the prefix: `/admin/` -> `/admin`, `/` -> the empty string. */
export function settlePath(path: string, option: string, expected: string, place = ''): string {
  const trimmed = path.replace(/\/$/, '')
  const isEncoded = /%[\da-f]{2}/i.test(path)
  const isCanonical = trimmed === '' || Array.isArray(canonicalSegments(encodeURI(trimmed)))
  if (path.startsWith('/') && isCanonical && !isEncoded) return trimmed
  throw optionError(option, isEncoded ? `${expected}, not percent-encoded` : expected, path, place)
}

// Returns the apps on disk, else those of the manifest, else one app, `web`, whose directory may be created later.
function findApps(basis: Basis, needsManifest: boolean): Readonly<Record<string, AppOptions>> {
  const { root } = basis
  const names = appsIn(root)
  if (names.length > 0) return Object.fromEntries(names.map(name => [name, {}]))
  const published = needsManifest ? appsAtStart(manifestFile(basis)) : undefined
  if (published && Object.keys(published).some(name => name !== 'web')) return published
  return { web: { ...published?.['web'], ...(isDirectory(join(root, 'assets')) && { dir: root }) } }
}

export function appsIn(root: string): string[] {
  const names = readDirectory(join(root, 'apps')).map(({ name }) => name)
  const isApp = (name: string) => isDirectory(join(root, 'apps', name, 'assets'))
  return names.filter(name => !name.startsWith('.') && isApp(name)).toSorted()
}
