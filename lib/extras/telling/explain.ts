// Shows step by step how a URL path is resolved, by asking the code that resolves it.
import { AssetError } from '../../runtime/errors.ts'
import { listAssets } from '../../publishing/building/assets.ts'
import { publishingIn } from '../../publishing/building/on-request.ts'
import { Pipeline } from '../../runtime/app/pipeline.ts'
import { isManifest, isOurs, locate, wantedAt, type Wanted } from '../../runtime/serving/request.ts'
import { assetPath } from '../../runtime/settings/app-settings.ts'
import type { Project } from '../../runtime/app/parts.ts'
import type { AppSettings, Settings } from '../../runtime/settings/settings.ts'
import { adviseOn } from '../../publishing/sources/missing-name.ts'
import { encodePath, whyNotCanonical } from '../../runtime/urls/spelling.ts'
import { listMounts } from './listed-mounts.ts'
import { choiceOf, ownPath, pathOf } from './own-assets.ts'
import { readSource, verdictOn, type Verdict } from './state.ts'
import { fileNamed, goesOn, mountsFinding, whyNoFile } from './explain-mounts.ts'
import { nearPath } from './near-path.ts'
import { pathFrom } from '../../runtime/files/paths.ts'
import { isInlined } from '../media/extra.ts'

type VerdictOn = (path: string) => Promise<Verdict | undefined>

export interface Explanation {
  /** The URL path that was asked for, encoded. */
  readonly path: string
  readonly steps: readonly Step[]
  /** The outcome of a request, in words. */
  readonly outcome: string
  /** True if the outcome is a file. */
  readonly isFound: boolean
  /** The path relative to the project root; undefined for a path that is not an asset's. */
  readonly source: string | undefined
  /** The state of an asset that a request would publish. */
  readonly verdict?: Verdict
  /** The representations of the file as it is now. */
  readonly representations: readonly {
    readonly coding: string
    readonly size: number
    readonly headers: Readonly<Record<string, string>>
  }[]
}

/** A step on the way from the path to the response. */
export interface Step {
  readonly subject: 'settings' | 'path' | 'mounts' | 'app' | 'sources' | 'helpers' | 'file'
  readonly finding: string
  /** The facts behind the finding, one per line. */
  readonly details: readonly string[]
}

/**
 * Shows how a path, a URL or a name is resolved. Writes nothing.
 *
 * @param asked `/assets/app.css`, `https://example.org/assets/app.css`, or a name as a view writes it
 */
export async function explain(asked: string, project: Project): Promise<Explanation> {
  return explainBy(new Pipeline(project, () => undefined), asked)
}

/** Explains the same for a running process. */
export async function explainBy(
  pipeline: Pipeline,
  asked: string,
  verdictOf = verdictsOf(pipeline)
): Promise<Explanation> {
  await pipeline.load()
  const { settings } = pipeline
  const listed = await listMounts(settings)
  const bundled = fileNamed(asked, listed)
  const isBundled = bundled !== undefined && !(await ownPath(pipeline, asked))
  const path = isBundled ? bundled : pathOf(asked, settings)
  const wanted = locate(path, settings)
  const steps = [settingsStep(pipeline), pathStep(path, settings)]
  if (listed.length > 0) {
    steps.push({ subject: 'mounts', ...mountsFinding(settings, path, listed) })
  }
  if (typeof wanted !== 'object') {
    const outcome = wanted ? '400 Bad Request: the path cannot be decoded' : goesOn(settings, path)
    return { path, steps, outcome, isFound: false, source: undefined, representations: [] }
  }
  if (settings.apps.length > 0) steps.push(appStep(settings, wanted))
  const isOwn = wanted.app !== settings.publicApp
  const own = isOwn ? await findSource(pipeline, wanted, verdictOf) : undefined
  const { outcome, file, ...found } = await findFile(pipeline, wanted, own)
  const isAdvised = found.isFound || own?.isAdvised || own?.source || wanted.isFolder
  const near = isAdvised ? undefined : await unlessUnusable(nearPath(pipeline, listed, wanted.path))
  const hints = near === undefined ? [] : [`did you mean ${near}?`]
  return {
    path,
    steps: [...steps, ...(own?.steps ?? []), { ...file, details: [...file.details, ...hints] }],
    outcome: settings.serve ? outcome : `with serving on: ${outcome}`,
    ...found,
    source: own?.source && pathFrom(settings.root, own.source.file),
    ...(own?.verdict && { verdict: own.verdict })
  }
}

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

function appStep({ apps, publicApp, mounts }: Settings, { app }: Wanted): Step {
  const places = mounts.length === 0 ? 'public' : 'a mount or public'
  const compile = app.compile ? 'compiles on request' : 'does not compile on request'
  const fingerprint = app.fingerprint ? 'fingerprinted names' : 'plain names'
  const isOwn = app !== publicApp
  return {
    subject: 'app',
    finding: isOwn
      ? `${app.name}: ${compile}, ${fingerprint}`
      : `none: a file in ${places}, if it exists`,
    details: apps.map(({ name, urlPrefix }) => `${urlPrefix}/… belongs to the app ${name}`)
  }
}

/** Finds the source of a name, with a fingerprint or without, and what the helpers write for it. */
async function findSource(pipeline: Pipeline, wanted: Wanted, verdictOf: VerdictOn) {
  const { settings, sources } = publishingIn(pipeline)
  const { app, name: given } = wanted
  const { name, source, clash, warning, candidates } = await choiceOf(sources, app, given)
  const shown = (path: string) => pathFrom(settings.root, path) || '.'
  const missing = warning ?? `no source is published as ${name}`
  const finding = source ? `found ${shown(source.file)}` : missing
  const advised = () => unlessUnusable(adviseOn(sources, app, name))
  const advice = clash ?? warning ?? (source ? undefined : await advised())
  const details = candidates.map(
    ({ directory, found }) => `${shown(directory)}: ${found.join(', ') || 'no match'}`
  )
  if (advice !== undefined && advice !== finding) details.push(advice)
  const emitted = helpersFinding(pipeline, app, source?.name ?? name)
  const made = madeOf(pipeline, app, source?.name ?? name)
  const unsent = await whyUnsent(pipeline, wanted, source?.name ?? name)
  const inlined = source && isInlined({ app, source }) ? ['inline() writes its element'] : []
  const verdict = source && app.compile ? await verdictOf(assetPath(app, source.name)) : undefined
  const steps: Step[] = [
    { subject: 'sources', finding, details },
    { subject: 'helpers', finding: emitted, details: [...made, ...inlined, ...unsent] }
  ]
  return { source, sourced: source && name, steps, verdict, isAdvised: advice !== undefined }
}

/** A package that no page of development can have is no obstacle to an asset that imports nothing of it. */
async function unlessUnusable<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof AssetError) || error.code !== 'package-unusable') throw error
    return undefined
  }
}

const verdictsOf =
  (pipeline: Pipeline): VerdictOn =>
  async path => {
    const places = await unlessUnusable(
      listAssets(pipeline.settings, publishingIn(pipeline).sources)
    )
    const place = places?.find(each => each.path === path)
    return place && verdictOn(pipeline, place, await readSource(pipeline, place))
  }

function madeOf(pipeline: Pipeline, app: AppSettings, name: string): string[] {
  const { sources = [] } = pipeline.namesOf(app)?.find(app, name) ?? {}
  return sources.length > 1 ? [`made of ${sources.join(', ')}`] : []
}

/** Says why a page does not get what its helpers name. What was asked for is judged by itself. */
async function whyUnsent(
  pipeline: Pipeline,
  { app, path }: Wanted,
  name: string
): Promise<string[]> {
  const { settings, directories } = pipeline
  const entry = app.compile ? undefined : pipeline.namesOf(app)?.find(app, name)
  if (!entry) return []
  const target = wantedAt(decodeURIComponent(entry.target), settings)
  const isSent = target.path === path || (await directories.public.find(target)) !== undefined
  return isSent ? [] : [await whyNoFile(settings, target)]
}

function helpersFinding(pipeline: Pipeline, app: AppSettings, name: string): string {
  const manifest = pipeline.namesOf(app)
  const { base } = pipeline.settings
  if (!app.fingerprint) return `emit ${base}${encodePath(assetPath(app, name))}`
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

interface OfSource {
  /** The plain name, if it has a source. */
  readonly sourced?: string | undefined
  readonly verdict?: Verdict | undefined
}

async function findFile(
  { settings, directories }: Pipeline,
  wanted: Wanted,
  { sourced, verdict }: OfSource = {}
) {
  const { app, path, name } = wanted
  const mounted = await directories.findInMounts(wanted)
  const found =
    mounted ?? (settings.servesPublic ? await directories.public.find(wanted) : undefined)
  const representations = (found?.variants ?? []).map(({ coding, size, ok }) => {
    return { coding, size, headers: Object.fromEntries(ok.fields) }
  })
  const file: Step = {
    subject: 'file',
    finding: found
      ? `${pathFrom(settings.root, found.variants[0].file)} exists`
      : await whyNoFile(settings, wanted),
    details: representations.flatMap(detailsOf)
  }
  const answer = (isFound: boolean, outcome: string) => {
    return { isFound, outcome, representations, file }
  }
  if (app.compile && sourced && !mounted && (sourced === name || app.fingerprint)) {
    if (sourced !== name && !found) {
      return answer(false, '200 if the source still yields these bytes, otherwise 404')
    }
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

function detailsOf({ coding, size, headers }: Explanation['representations'][number]): string[] {
  if (coding !== 'identity') return [`${coding}: ${size} bytes, ETag ${headers['ETag']}`]
  const shown = SHOWN_HEADERS.filter(name => name in headers)
  return [`identity: ${size} bytes`, ...shown.map(name => `${name}: ${headers[name]}`)]
}
