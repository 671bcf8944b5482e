// Shows step by step how a URL path is resolved, by calling the functions that resolve it.
import { relative } from 'node:path'
import { AssetError } from '../../errors.ts'
import { whyHidden } from '../../files/folder-entries.ts'
import { nearestPath } from '../../nearest.ts'
import { readManifest } from '../building/manifest/read-manifest.ts'
import { withDot } from '../compilers/compiler.ts'
import { kindOf, sourcedNameIn } from '../building/on-request/app-files.ts'
import { covers } from '../serving/directories/served-directory.ts'
import { isManifest, locate, rawPath, type Wanted } from '../serving/request-path.ts'
import { assetPath } from '../settings/app-settings.ts'
import { publicFile } from '../settings/public-directory.ts'
import { manifestFile } from '../settings/manifest-file.ts'
import type { KoaAssetsOptions } from '../settings/options.ts'
import { settle, type AppSettings, type Settings } from '../settings/settings.ts'
import type { Source } from '../sources/catalog.ts'
import { choose } from '../sources/catalog.ts'
import type { AppSources } from '../sources/sources.ts'
import { MALFORMED, whyNotCanonical } from '../urls/canonical-path.ts'
import { encodePath } from '../urls/encode.ts'
import { splitFingerprint } from '../urls/fingerprint.ts'
import {
  deciderFor,
  explainFile,
  passedOn,
  step,
  type Decider,
  type Explanation,
  type Step
} from './explain-file.ts'

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
  if (wanted === undefined || wanted === MALFORMED) {
    const outcome = wanted
      ? '400 Bad Request: the path cannot be decoded'
      : passedOn(settings, path)
    return { path, steps, outcome, isFound: false, representations: [] }
  }
  const resolved = await resolve(decider, wanted)
  const { step: fileStep, ...result } = await explainFile(decider, wanted, resolved)
  return {
    path,
    steps: [...steps, ...appStep(settings, wanted), ...resolved.steps, fileStep],
    source: resolved.source && relative(settings.root, resolved.source.file),
    ...result
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
  return step('settings', `${env}; serving is ${serving}`, [
    `root: ${root}`,
    ...(servesPublic ? [`public: ${relative(root, publicDir)}`] : [])
  ])
}

function pathStep(path: string, settings: Settings): Step {
  const reason = isManifest(path, settings) ? 'the manifest is never served' : whyNotCanonical(path)
  const finding = reason === undefined ? 'is canonical' : `is not an asset path: ${reason}`
  return step('path', `${path} ${finding}`, [`prefix: ${settings.prefix}`])
}

function mountsStep(
  { root, mounts, servesPublic }: Settings,
  wanted: ReturnType<typeof locate>
): Step[] {
  if (mounts.length === 0) return []
  const path = typeof wanted === 'object' ? wanted.path : ''
  const covering = mounts.filter(mount => covers(mount, path))
  const here = covering.filter(({ dev }) => dev === undefined)
  const places = here.map(({ urlPath }) => `the mount ${urlPath || '/'}`)
  const details = mounts.map(({ urlPath, dir, dev, index, extensions, fallback }) =>
    [
      `${urlPath}/…: ${dev === undefined ? relative(root, dir) : "the bundler's dev server"}`,
      ...(index === undefined ? [] : [`index ${index}`]),
      ...(extensions.length === 0 ? [] : [`extensions ${extensions.join(' ')}`]),
      ...(fallback === undefined ? [] : [`fallback ${fallback}`])
    ].join(', ')
  )
  const without = covering.length === 0 ? 'none has this path' : "left to the bundler's dev server"
  if (places.length > 0 && servesPublic) places.push('public')
  const finding = places.join(', then ') || without
  return [step('mounts', finding, details)]
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

async function resolve(decider: Decider, { app, name }: Wanted) {
  const { settings } = decider
  if (app === settings.publicApp) return { source: undefined, isPlain: true, steps: [] }
  const sources = decider.sources.of(app)
  const fingerprint = splitFingerprint(name)
  const plain = (await sourcedNameIn(decider.sources, app, name)) ?? fingerprint?.name ?? name
  const candidates = await sources.candidates(plain)
  const { source, warning } = choose(plain, candidates)
  const shown = (path: string) => relative(settings.root, path) || '.'
  const details = candidates.map(({ directory, named, tailed }) => {
    const found = [...new Set([...named, ...tailed])].map(({ path }) => path).join(', ')
    return `${shown(directory)}: ${found || 'no match'}`
  })
  if (source && warning) details.push(warning)
  if (!source && !warning) details.push(...(await adviseOn(sources, app, plain)))
  const finding = source
    ? `found ${shown(source.file)}`
    : (warning ?? `no source is published as ${plain}`)
  const isPlain = plain === name
  const ending = isPlain ? 'without a fingerprint' : `with the fingerprint ${fingerprint?.digest}`
  const steps = [
    step('name', `${plain}, ${ending}`),
    step('sources', finding, details),
    ...(source ? [targetStep(settings, app, plain, source)] : []),
    await helpersStep(decider, app, source?.name ?? plain)
  ]
  return { source, isPlain, steps }
}

async function adviseOn(sources: AppSources, app: AppSettings, name: string): Promise<string[]> {
  const listed = await sources.list()
  const tailed = listed.find(({ source }) => `/${source.tail}`.endsWith(`/${name}`))
  if (tailed && !app.tails) {
    return [
      `${tailed.source.path} is published as ${tailed.name}; tails: false disables other names`
    ]
  }
  const raw = listed.find(({ source }) => `/${source.path}`.endsWith(`/${name}`))
  if (raw) return [`${raw.source.path} is a source; it is published as ${raw.name}`]
  // `_part.css` is what `_part.scss` would be published as.
  const rule = whyHidden(name.replace(/\.css$/, '.scss'))
  if (rule !== undefined) return [rule]
  const names = listed.map(asset => asset.name)
  const near = nearestPath(name, names)
  return near === undefined ? [] : [`did you mean ${near}?`]
}

function targetStep(settings: Settings, app: AppSettings, name: string, source: Source): Step {
  const { path, compiler } = source
  const target = relative(settings.root, publicFile(settings, assetPath(app, name)))
  if (!compiler) return step('target', `copied to ${target}`)
  const extension = path.slice(path.lastIndexOf('.'))
  return step('target', `compiled from ${extension} to ${withDot(compiler.target)}, into ${target}`)
}

async function helpersStep(decider: Decider, app: AppSettings, name: string): Promise<Step> {
  if (!app.fingerprint) return step('helpers', `emit ${encodePath(assetPath(app, name))}`)
  if (kindOf(app) === 'fingerprints')
    return step('helpers', 'emit a fingerprinted URL from the manifest in memory')
  try {
    const manifest = decider.manifestOf(app) ?? (await readManifest(manifestFile(decider.settings)))
    const [, { target, source, size, integrity }] = manifest.entry(app, name)
    const details = [`manifest: ${size} bytes from ${source}`, ...integrity]
    return step('helpers', `emit ${target}`, details)
  } catch (error) {
    if (!(error instanceof AssetError)) throw error
    return step('helpers', `fail: ${error.message}`)
  }
}
