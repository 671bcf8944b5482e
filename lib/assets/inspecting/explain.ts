// Shows step by step how a URL path is resolved, by the answers of what resolves it.
import { extname, relative } from 'node:path'
import { AssetError } from '../../errors.ts'
import { readManifest } from '../building/manifest/read-manifest.ts'
import { kindOf, sourcedNameIn } from '../building/on-request/app-files.ts'
import { withDot } from '../compilers/compiler.ts'
import { isBelow, isManifest, locate, rawPath, type Wanted } from '../serving/request-path.ts'
import { assetPath } from '../settings/app-settings.ts'
import { manifestFile } from '../settings/manifest-file.ts'
import type { KoaAssetsOptions } from '../settings/options.ts'
import { publicFile } from '../settings/public-directory.ts'
import { settle, type AppSettings, type Settings } from '../settings/settings.ts'
import type { Source } from '../sources/catalog.ts'
import { whyNotCanonical } from '../urls/canonical-path.ts'
import { encodePath } from '../urls/encode.ts'
import { splitFingerprint } from '../urls/fingerprint.ts'
import {
  deciderFor,
  findFile,
  goesOn,
  step,
  type Decider,
  type ExplainedRepresentation,
  type Resolved,
  type Step
} from './explain-file.ts'
import { adviseOn } from './missing-name.ts'

export interface Explanation {
  /** The explained path, as a request would send it. */
  readonly path: string
  readonly steps: readonly Step[]
  /** The response to a request for the path, in one sentence. */
  readonly outcome: string
  /** Whether the response is a file. */
  readonly isFound: boolean
  /** The source, relative to the project root. */
  readonly source?: string | undefined
  /** The representations of the file; empty without a file. */
  readonly representations: readonly ExplainedRepresentation[]
}

/**
 * Shows how a path, a URL or a name is resolved. Writes nothing.
 *
 * @param asked `/assets/app.css`, `https://example.org/assets/app.css`, or a name as a view writes it
 * @throws TypeError for a wrong option
 */
export async function explain(asked: string, options: KoaAssetsOptions = {}): Promise<Explanation> {
  return explainBy(await deciderFor(settle(options)), asked)
}

/** The same by what decides in a running process. */
export async function explainBy(decider: Decider, asked: string): Promise<Explanation> {
  const { settings } = decider
  const path = pathOf(asked, settings)
  const wanted = locate(path, settings)
  const steps = [settingsStep(settings), pathStep(path, settings), ...mountsStep(settings, wanted)]
  if (typeof wanted !== 'object') {
    const outcome = wanted ? '400 Bad Request: the path cannot be decoded' : goesOn(settings, path)
    return { path, steps, outcome, isFound: false, representations: [] }
  }
  const resolved = await resolveName(decider, wanted)
  const { source } = resolved
  const file = await findFile(decider, wanted, resolved)
  return {
    path,
    steps: [...steps, ...appStep(settings, wanted), ...resolved.steps, file.step],
    outcome: settings.serve ? file.outcome : `with serving on: ${file.outcome}`,
    isFound: file.isFound,
    source: source && relative(settings.root, source.file),
    representations: file.representations
  }
}

/** The path of a path, a URL or a name; a name, as a view writes it, belongs to the app at `/`. */
export function pathOf(asked: string, { apps }: Settings): string {
  if (/^(?:\/|https?:\/\/)/i.test(asked)) return rawPath(asked)
  const app = apps.find(({ path }) => path === '/') ?? apps.at(-1)
  return encodePath(`${app?.urlPrefix ?? ''}/${asked}`)
}

function settingsStep({ env, root, serve, publicDir, servesPublic }: Settings): Step {
  const serving = serve ? 'on' : "off: neither serve: true nor SERVE_STATIC_ASSETS='true' is set"
  const places = servesPublic ? [`public: ${relative(root, publicDir)}`] : []
  return step('settings', `${env}; serving is ${serving}`, [`root: ${root}`, ...places])
}

function pathStep(path: string, settings: Settings): Step {
  const reason = isManifest(path, settings) ? 'the manifest is never served' : whyNotCanonical(path)
  const finding = reason === undefined ? 'is canonical' : `is not an asset path: ${reason}`
  return step('path', `${path} ${finding}`, [`prefix: ${settings.prefix}`])
}

function mountsStep(settings: Settings, wanted: ReturnType<typeof locate>): Step[] {
  const { root, mounts, servesPublic } = settings
  if (mounts.length === 0) return []
  const covering = mounts.filter(
    each => typeof wanted === 'object' && isBelow(wanted.path, each.urlPath)
  )
  const places = covering
    .filter(({ dev }) => dev === undefined)
    .map(({ urlPath }) => `the mount ${urlPath || '/'}`)
  if (places.length > 0 && servesPublic) places.push('public')
  const without = covering.length === 0 ? 'none has this path' : "left to the bundler's dev server"
  const details = mounts.map(({ urlPath, dir, dev, index, extensions, fallback }) => {
    const from = dev === undefined ? relative(root, dir) : "the bundler's dev server"
    const more = { index, extensions: extensions.join(' '), fallback }
    const given = Object.entries(more).flatMap(([name, value]) => (value ? `${name} ${value}` : []))
    return [`${urlPath}/…: ${from}`, ...given].join(', ')
  })
  return [step('mounts', places.join(', then ') || without, details)]
}

function appStep({ apps, publicApp, mounts }: Settings, { app }: Wanted): Step[] {
  if (apps.length === 0) return []
  const places = mounts.length === 0 ? 'public' : 'a mount or public'
  const details = apps.map(({ name, urlPrefix }) => `${urlPrefix}/… belongs to the app ${name}`)
  if (app === publicApp) return [step('app', `none: a file in ${places}, if it exists`, details)]
  const compile = app.compile ? 'compiles on request' : 'does not compile on request'
  const fingerprint = app.fingerprint ? 'fingerprinted names' : 'plain names'
  return [step('app', `${app.name}: ${compile}, ${fingerprint}`, details)]
}

async function resolveName(decider: Decider, { app, name }: Wanted): Promise<Resolved> {
  const { settings, sources } = decider
  if (app === settings.publicApp) return { source: undefined, isPlain: true, steps: [] }
  const fingerprint = splitFingerprint(name)
  const plain = (await sourcedNameIn(sources, app, name)) ?? fingerprint?.name ?? name
  const { source, warning, candidates } = await sources.of(app).explain(plain)
  const shown = (path: string) => relative(settings.root, path) || '.'
  const details = candidates.map(({ directory, named, tailed }) => {
    const found = new Set([...named, ...tailed].map(({ path }) => path))
    return `${shown(directory)}: ${[...found].join(', ') || 'no match'}`
  })
  const advice = source ? warning : (warning ?? (await adviseOn(sources, app, plain)))
  const finding = source
    ? `found ${shown(source.file)}`
    : (warning ?? `no source is published as ${plain}`)
  if (advice !== undefined && advice !== finding) details.push(advice)
  const isPlain = plain === name
  const ending = isPlain ? 'without a fingerprint' : `with the fingerprint ${fingerprint?.digest}`
  const steps = [
    step('name', `${plain}, ${ending}`),
    step('sources', finding, details),
    ...(source ? [targetStep(settings, assetPath(app, plain), source)] : []),
    await helpersStep(decider, app, source?.name ?? plain)
  ]
  return { source, isPlain, steps }
}

function targetStep(settings: Settings, path: string, source: Source): Step {
  const target = relative(settings.root, publicFile(settings, path))
  if (!source.compiler) return step('target', `copied to ${target}`)
  const [from, to] = [extname(source.path), withDot(source.compiler.target)]
  return step('target', `compiled from ${from} to ${to}, into ${target}`)
}

async function helpersStep(decider: Decider, app: AppSettings, name: string): Promise<Step> {
  if (!app.fingerprint) return step('helpers', `emit ${encodePath(assetPath(app, name))}`)
  try {
    const known = decider.manifestOf(app)
    if (!known && kindOf(app) === 'fingerprints') {
      return step('helpers', 'emit a fingerprinted URL from the manifest in memory')
    }
    const manifest = known ?? (await readManifest(manifestFile(decider.settings)))
    const [, { target, source, size, integrity }] = manifest.entry(app, name)
    const details = [`manifest: ${size} bytes from ${source}`, ...integrity]
    return step('helpers', `emit ${target}`, details)
  } catch (error) {
    if (!(error instanceof AssetError)) throw error
    return step('helpers', `fail: ${error.message}`)
  }
}
