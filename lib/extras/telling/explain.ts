// Shows step by step how a URL path is resolved, by calling the code that resolves it. Writes nothing.
import { publishingIn } from '../../publishing/building/on-request.ts'
import { adviseOn } from '../../publishing/sources/advice.ts'
import type { AppSources } from '../../publishing/sources/app-sources.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'
import { AssetError } from '../../runtime/errors.ts'
import { digestOfFile } from '../../runtime/files/digest.ts'
import { statOf } from '../../runtime/files/disk.ts'
import { excluderOf, pathFrom } from '../../runtime/files/paths.ts'
import { fallbackAt } from '../../runtime/serving/missing.ts'
import { isManifest, isOurs, locate, wantedAt, type Wanted } from '../../runtime/serving/request.ts'
import { assetPath } from '../../runtime/settings/apps.ts'
import { publicFile } from '../../runtime/settings/public-directory.ts'
import type { AppSettings, Settings } from '../../runtime/settings/settings.ts'
import {
  encodeAsImported,
  encodePath,
  whyNotCanonical,
  splitFingerprint
} from '../../runtime/urls/spelling.ts'
import { isInlined } from '../media/extra.ts'
import {
  listMounts,
  ownPath,
  pathOf,
  verdictOn,
  withoutPackages,
  type ListedMount,
  type Verdict
} from './list.ts'

export interface Step {
  readonly subject: 'settings' | 'path' | 'mounts' | 'app' | 'sources' | 'helpers' | 'file'
  readonly finding: string
  readonly details: readonly string[]
}

/** @param asked a path, a URL, or a name as a view writes it @param known the state of its asset, if it is known */
export async function explain(pipeline: Pipeline, asked: string, known?: Verdict) {
  await pipeline.load()
  const { settings } = pipeline
  const mounts = await listMounts(settings)
  const bundled = fileNamed(asked, mounts)
  const isBundled = bundled !== undefined && !(await ownPath(pipeline, asked))
  const path = isBundled ? bundled : pathOf(asked, settings)
  const located = locate(path, settings)
  const wanted = typeof located === 'object' ? located : undefined
  const steps = [settingsStep(pipeline), pathStep(path, settings)]
  if (mounts.length > 0) steps.push(mountsStep(settings, mounts, wanted))
  if (!wanted) {
    const outcome = located ? '400 Bad Request: the path cannot be decoded' : goesOn(settings, path)
    return { path, steps, outcome, isFound: false, source: undefined, representations: [] }
  }
  const { apps, publicApp, root, serve } = settings
  if (apps.length > 0) steps.push(appStep(settings, wanted))
  const own = wanted.app === publicApp ? undefined : await findSource(pipeline, wanted, known)
  steps.push(...(own?.steps ?? []))
  const { outcome, file, ...found } = await findFile(pipeline, wanted, own)
  return {
    path,
    steps: [...steps, file],
    outcome: serve ? outcome : `with serving on: ${outcome}`,
    ...found,
    source: own?.source && pathFrom(root, own.source.file),
    ...(own?.verdict && { verdict: own.verdict })
  }
}

/** Returns the URL path of a bundle's file by the name of its source, or of an entry; undefined for other names. */
function fileNamed(name: string, mounts: readonly ListedMount[]): string | undefined {
  const files = mounts.flatMap(each => each.files)
  const made = files.find(({ source }) => source === name)
  return (made ?? files.find(({ entries }) => entries.includes(name)))?.path
}

/** Ignores unusable packages, which do not affect an asset that imports nothing from them. */
const ifUsable = <T>(work: Promise<T>) => withoutPackages(work, () => undefined)

function settingsStep({ settings, failure }: Pipeline): Step {
  const { env, root, serve, publicDir, servesPublic, host } = settings
  const serving = serve ? 'on' : "off: neither serve: true nor SERVE_STATIC_ASSETS='true' is set"
  const details = [`root: ${root}`]
  if (servesPublic) details.push(`public: ${pathFrom(root, publicDir)}`)
  if (host) details.push(`host: ${host}, in front of every URL that helpers emit`)
  if (failure) details.push(`koaAssets() throws: ${failure.message}`)
  return { subject: 'settings', finding: `${env}; serving is ${serving}`, details }
}

function pathStep(path: string, settings: Settings): Step {
  const reason = isManifest(path, settings) ? 'the manifest is never served' : whyNotCanonical(path)
  const finding = reason ? `${path} is not an asset path: ${reason}` : `${path} is canonical`
  return { subject: 'path', finding, details: [] }
}

function mountsStep(settings: Settings, listed: readonly ListedMount[], wanted?: Wanted): Step {
  const { root, mounts, servesPublic } = settings
  const covering = wanted?.mounts ?? []
  const served = covering.filter(({ isServed }) => isServed)
  const places = served.map(({ urlPath }) => `the mount ${urlPath || '/'}`)
  if (places.length > 0 && servesPublic) places.push('public')
  const without = covering.length === 0 ? 'none has this path' : "left to the bundler's dev server"
  const details = mounts.map(mount => {
    const { urlPath, dir, isServed, excludedPrefix, exclude = [] } = mount
    const from = isServed ? pathFrom(root, dir) : "the bundler's dev server"
    const apps = excludedPrefix ? `, except ${excludedPrefix}/…, which the apps publish` : ''
    const below = covering.includes(mount) && wanted?.path.slice(urlPath.length + 1)
    const isExcluded = below && excluderOf(exclude)(below)
    return `${urlPath}/…: ${from}${apps}${isExcluded ? ', but exclude leaves this path out' : ''}`
  })
  const told = listed.filter((_, at) => covering.some(mount => mount === mounts[at]))
  details.push(...told.flatMap(mount => toldBy(mount, encodeAsImported(wanted?.path ?? ''))))
  return { subject: 'mounts', finding: places.join(', then ') || without, details }
}

function toldBy({ manifest, problem, files }: ListedMount, path: string): string[] {
  if (problem !== undefined) return [problem]
  if (manifest === undefined) return []
  const file = files.find(each => each.path === path)
  if (!file) return [`${manifest} does not name it`]
  const { source, entries, sizes } = file
  const details = [`${manifest} names it${source === undefined ? '' : `, made from ${source}`}`]
  if (!('identity' in sizes)) details.push('it is missing on disk: build again')
  if (entries.length > 0) details.push(`in the tags of ${entries.join(', ')}`)
  return details
}

function appStep({ apps, publicApp, mounts }: Settings, { app }: Wanted): Step {
  const compile = app.compile ? 'compiles on request' : 'does not compile on request'
  const fingerprint = app.fingerprint ? 'fingerprinted names' : 'plain names'
  const none = `none: a file in ${mounts.length === 0 ? 'public' : 'a mount or public'}, if it exists`
  const finding = app === publicApp ? none : `${app.name}: ${compile}, ${fingerprint}`
  const details = apps.map(({ name, urlPrefix }) => `${urlPrefix}/… belongs to the app ${name}`)
  return { subject: 'app', finding, details }
}

async function findSource(pipeline: Pipeline, wanted: Wanted, known: Verdict | undefined) {
  const { settings, sources, plain } = publishingIn(pipeline)
  const { app } = wanted
  await ifUsable(plain.find(app, splitFingerprint(wanted.name)?.name ?? wanted.name))
  const { name, source, clash, warning, candidates = [] } = await choiceOf(pipeline, wanted)
  const shown = (path: string) => pathFrom(settings.root, path) || '.'
  const missing = warning ?? `no source is published as ${name}`
  const finding = source ? `found ${shown(source.file)}` : missing
  const advised = source ? undefined : ifUsable(adviseOn(sources, app, name))
  const advice = clash ?? warning ?? (await advised)
  const details = candidates.map(each => {
    return `${shown(each.directory)}: ${each.found.join(', ') || 'no match'}`
  })
  if (advice !== undefined && advice !== finding) details.push(advice)
  const helpers = await helpersStep(pipeline, wanted, source?.name ?? name)
  if (source && isInlined({ app, source })) helpers.details.push('inline() writes its element')
  const steps: Step[] = [{ subject: 'sources', finding, details }, helpers]
  const asset = source && app.compile && { app, source, path: assetPath(app, source.name) }
  const verdict = asset ? (known ?? (await verdictOn(pipeline, asset))) : undefined
  return { source, sourced: source && name, steps, verdict }
}

type Chosen = Partial<Awaited<ReturnType<AppSources['explain']>>> & { readonly name: string }

/** Chooses the source of a name, with or without a fingerprint; if packages are unusable, the warning says so. */
async function choiceOf(pipeline: Pipeline, { app, name: given }: Wanted): Promise<Chosen> {
  const { sources, sourced } = publishingIn(pipeline)
  const plain = splitFingerprint(given)?.name ?? given
  const choose = async () => {
    const name = (await sourced(app, given)) ?? plain
    return { name, ...(await sources.of(app).explain(name)) }
  }
  return withoutPackages(choose(), error => {
    if (!app.fingerprint) throw error
    return { name: plain, warning: error.message }
  })
}

/** Also says why a page does not get the file that its helpers name; the requested file is checked elsewhere. */
async function helpersStep(pipeline: Pipeline, { app, path }: Wanted, name: string) {
  const { settings, directories } = pipeline
  const details: string[] = []
  const entry = pipeline.namesOf(app)?.find(app, name)
  const { sources = [], target = '' } = entry ?? {}
  if (sources.length > 1) details.push(`made of ${sources.join(', ')}`)
  const sent = wantedAt(decodeURIComponent(target), settings)
  if (entry && !app.compile && sent.path !== path && !(await directories.public.find(sent)))
    details.push(await whyNoFile(settings, sent))
  return { subject: 'helpers' as const, finding: emittedFor(pipeline, app, name), details }
}

function emittedFor(pipeline: Pipeline, app: AppSettings, name: string) {
  const { base } = pipeline.settings
  if (!app.fingerprint) return `emit ${base}${encodePath(assetPath(app, name))}`
  const manifest = pipeline.namesOf(app)
  if (!manifest) return `fail: ${pipeline.failure?.message}`
  if (app.compile && manifest.assets.size === 0)
    return 'emit a fingerprinted URL from the manifest in memory'
  try {
    return `emit ${base}${manifest.entry(app, name).target}`
  } catch (error) {
    if (!(error instanceof AssetError)) throw error
    return `fail: ${error.message}`
  }
}

type Own = Partial<Awaited<ReturnType<typeof findSource>>>

async function findFile(pipeline: Pipeline, wanted: Wanted, { sourced, verdict }: Own = {}) {
  const { settings, directories } = pipeline
  const { app, path, name } = wanted
  const mounted = await directories.findInMounts(wanted)
  const found =
    mounted ?? (settings.servesPublic ? await directories.public.find(wanted) : undefined)
  const representations = (found?.variants ?? []).map(({ coding, size, ok }) => {
    const headers: Readonly<Record<string, string>> = Object.fromEntries(ok.fields)
    return { coding, size, headers }
  })
  const finding = found
    ? `${pathFrom(settings.root, found.variants[0].file)} exists`
    : await whyNoFile(settings, wanted)
  const details = representations.flatMap(({ coding, size, headers }) => {
    if (coding !== 'identity') return `${coding}: ${size} bytes, ETag ${headers['ETag']}`
    const shown = SHOWN_HEADERS.filter(header => header in headers)
    return [`identity: ${size} bytes`, ...shown.map(header => `${header}: ${headers[header]}`)]
  })
  const file: Step = { subject: 'file', finding, details }
  const told = { representations, file }
  const answer = (isFound: boolean, outcome: string) => ({ isFound, outcome, ...told })
  if (pipeline.failure) return answer(false, 'none, as koaAssets() throws')
  if (app.compile && sourced && !mounted && (sourced === name || app.fingerprint)) {
    if (sourced !== name && !found)
      return answer(false, '200 if the source still yields these bytes, otherwise 404')
    if (verdict?.state === 'published') return answer(true, '200, its target, which is current')
    if (verdict?.state !== 'broken')
      return answer(true, `200, after publishing its source${found ? ', which has changed' : ''}`)
    // A developer must not miss it.
    return found && settings.env !== 'development'
      ? answer(true, '200, the last target, as its source cannot be published')
      : answer(false, '500, as its source cannot be published')
  }
  if (found) return answer(true, `200, the file in ${mounted ? 'a mount' : 'public'}`)
  if (await directories.hasIndex(wanted))
    return answer(false, `301 to ${path}/, for its index file`)
  const storing = isOurs(path, settings) ? '; a 404 gets Cache-Control: no-store' : ''
  return answer(false, goesOn(settings, encodePath(path), storing))
}

const SHOWN_HEADERS = ['Cache-Control', 'ETag', 'Content-Type', 'Last-Modified']

function goesOn(settings: Settings, path: string, storing = ''): string {
  const shell = fallbackAt(path, settings)
  const got = shell && `; a navigation that remains a 404 gets ${shell.wanted?.path ?? 'a page'}`
  return `passed to the next middleware${storing}${got ?? ''}`
}

async function whyNoFile(settings: Settings, wanted: Wanted): Promise<string> {
  const { app, name, path, mounts } = wanted
  if (!settings.servesPublic) return `no mount has ${path}`
  const file = publicFile(settings, path)
  const stats = await statOf(file)
  const shown = pathFrom(settings.root, file)
  if (!stats)
    return `${mounts.length > 0 ? `no mount has ${path}, and ` : ''}${shown} does not exist`
  if (!stats.isFile()) return `${shown} is not a file`
  const fingerprint = app === settings.publicApp ? undefined : splitFingerprint(name)
  return fingerprint && (await digestOfFile(file)) !== fingerprint.digest
    ? `${shown} does not match its fingerprint, and is not served`
    : `${shown} is a symbolic link that may not be followed (option symlinks)`
}
