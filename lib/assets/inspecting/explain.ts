// How a URL path is resolved, told step by step by the very functions that resolve it.
import { join, relative } from 'node:path'
import { AssetError } from '../../errors.ts'
import { nearestPath } from '../../nearest.ts'
import { MALFORMED, whyNotCanonical } from '../urls/canonical-path.ts'
import { choose, type Candidates } from '../sources/choose-source.ts'
import { withDot } from '../compilers/compiler.ts'
import { splitFingerprint } from '../urls/fingerprint.ts'
import { isLive } from '../publishing/live-build.ts'
import type { ManifestEntry } from '../building/manifest/manifest.ts'
import { readManifest } from '../building/manifest/read-manifest.ts'
import type { KoaAssetsOptions } from '../settings/options.ts'
import { manifestFile } from '../settings/manifest-file.ts'
import { explainFile } from './explain-file.ts'
import type { Explanation, Step } from './explanation.ts'
import { isManifest, isUnderPrefix, locate, rawPath, type Wanted } from '../serving/request-path.ts'
import { settle, type AppSettings, type Settings } from '../settings/settings.ts'
import type { Source } from '../sources/catalog.ts'
import { Sources } from '../sources/sources.ts'
import { encodePath } from '../urls/encode.ts'

/**
 * Tells how a path, a URL or a name is resolved. Reads, and writes nothing.
 *
 * @param asked `/assets/app.css`, `https://example.org/assets/app.css`, or a name as a view writes it
 * @throws TypeError for a wrong option
 */
export async function explain(asked: string, options: KoaAssetsOptions = {}): Promise<Explanation> {
  const settings = settle(options)
  const path = asPath(asked, settings)
  const wanted = locate(path, settings)
  const steps = [settingsStep(settings), pathStep(path, settings)]
  if (wanted === undefined || wanted === MALFORMED) return notOurs(path, steps, wanted, settings)
  const isOfApp = wanted.app !== settings.publicApp
  const resolved = isOfApp ? await resolve(settings, wanted.app, wanted.name) : undefined
  const file = await explainFile(settings, wanted, resolved?.source)
  return {
    path,
    steps: [...steps, appStep(settings, wanted), ...(resolved?.steps ?? []), file.step],
    ...file.outcome,
    source: resolved?.source && relative(settings.root, resolved.source.file),
    forms: file.forms
  }
}

/** A name, as a view writes it, belongs to the app at `/`. */
function asPath(asked: string, { apps }: Settings): string {
  if (/^(?:\/|https?:\/\/)/i.test(asked)) return rawPath(asked)
  const app = apps.find(({ path }) => path === '/') ?? apps.at(-1)
  return encodePath(`${app?.urlPrefix ?? ''}/${asked}`)
}

function settingsStep({ env, root, serve, publicDir }: Settings): Step {
  const details = [`root: ${root}`, `public: ${relative(root, publicDir)}`]
  const serving = serve ? 'on' : 'off: SERVE_STATIC_ASSETS is not true'
  return { subject: 'settings', finding: `${env}; serving is ${serving}`, details }
}

function pathStep(path: string, settings: Settings): Step {
  const { prefix } = settings
  const isKept = isManifest(path, settings)
  const reason = isKept ? 'the manifest is never served' : whyNotCanonical(path)
  const finding = reason === undefined ? `${path} is canonical` : `${path} is not ours: ${reason}`
  return { subject: 'path', finding, details: [`prefix: ${prefix}`] }
}

function notOurs(
  path: string,
  steps: readonly Step[],
  wanted: typeof MALFORMED | undefined,
  settings: Settings
): Explanation {
  const outcome =
    wanted === MALFORMED && isUnderPrefix(path, settings)
      ? '400: nobody can read this path'
      : 'passed on to the next middleware, untouched'
  return { path, steps, outcome, isFound: false, forms: [] }
}

function appStep({ apps, publicApp }: Settings, { app }: Wanted): Step {
  const details = apps.map(({ name, urlPrefix }) => `${urlPrefix}/… is the app ${name}`)
  if (app === publicApp)
    return { subject: 'app', finding: 'none: a file of public, if it is there', details }
  const compile = app.compile ? 'compiles on request' : 'does not compile on request'
  const fingerprint = app.fingerprint ? 'checksum names' : 'plain names'
  return { subject: 'app', finding: `${app.name}: ${compile}, ${fingerprint}`, details }
}

interface Resolved {
  readonly source: Source | undefined
  readonly steps: readonly Step[]
}

async function resolve(settings: Settings, app: AppSettings, name: string): Promise<Resolved> {
  const sources = new Sources(settings, () => undefined)
  const fingerprint = splitFingerprint(name)
  // A source may bear a checksum in its own name.
  const own = await sources.of(app).candidates(name)
  const plain = fingerprint && !choose(name, own).source ? fingerprint.name : name
  const candidates = plain === name ? own : await sources.of(app).candidates(plain)
  const { source, warning } = choose(plain, candidates)
  const digest =
    plain === name ? 'without a fingerprint' : `with the fingerprint ${fingerprint?.digest}`
  return {
    source,
    steps: [
      { subject: 'name', finding: `${plain}, ${digest}`, details: [] },
      await sourcesStep(settings, sources, app, plain, candidates, warning),
      ...(source ? [targetStep(settings, app, plain, source)] : []),
      await helpersStepOf(settings, app, source?.name ?? plain)
    ]
  }
}

async function sourcesStep(
  settings: Settings,
  sources: Sources,
  app: AppSettings,
  name: string,
  all: readonly Candidates[],
  warning: string | undefined
): Promise<Step> {
  const shown = (path: string) => relative(settings.root, path) || '.'
  const details = all.map(({ directory, named, tailed }) => {
    const found = [...new Set([...named, ...tailed])].map(({ path }) => path).join(', ')
    return `${shown(directory)}: ${found || 'nothing of that name'}`
  })
  const { source } = choose(name, all)
  if (source) {
    const finding = `found ${shown(source.file)}`
    return { subject: 'sources', finding, details: warning ? [...details, warning] : details }
  }
  const finding = warning ?? `no source is published as ${name}`
  const advice = warning ? [] : await adviseOn(sources, app, name)
  return { subject: 'sources', finding, details: [...details, ...advice] }
}

async function adviseOn(sources: Sources, app: AppSettings, name: string): Promise<string[]> {
  const listed = await sources.of(app).list()
  const tailed = listed.find(({ source }) => `/${source.tail}`.endsWith(`/${name}`))
  if (tailed && !app.tails) {
    return [`${tailed.source.path} is published as ${tailed.name}: tails are switched off`]
  }
  const raw = listed.find(({ source }) => `/${source.path}`.endsWith(`/${name}`))
  if (raw) return [`${raw.source.path} is a source, and is published as ${raw.name}`]
  const last = name.slice(name.lastIndexOf('/') + 1)
  if (last.startsWith('_')) return ['a name that starts with _ is a partial, and is not published']
  const names = listed.map(one => one.name)
  const near = nearestPath(name, names)
  return near === undefined ? [] : [`did you mean ${near}?`]
}

function targetStep(
  settings: Settings,
  { urlPrefix }: AppSettings,
  name: string,
  { path, compiler }: Source
): Step {
  const target = relative(settings.root, join(settings.publicDir, urlPrefix, name))
  const extension = path.slice(path.lastIndexOf('.'))
  const how = compiler ? `compiled, ${extension} to ${withDot(compiler.target)}` : 'copied'
  return { subject: 'target', finding: `${how}, into ${target}`, details: [] }
}

async function helpersStepOf(settings: Settings, app: AppSettings, name: string): Promise<Step> {
  const plain = encodePath(`${app.urlPrefix}/${name}`)
  if (!app.fingerprint) return helpersStep(`emit ${plain}`)
  if (isLive(app)) return helpersStep('emit a checksum URL, from a manifest that is kept in memory')
  try {
    const entry = (await readManifest(manifestFile(settings))).entry(app, name)
    return helpersStep(`emit ${entry.target}`, entryDetails(entry))
  } catch (error) {
    if (!(error instanceof AssetError)) throw error
    return helpersStep(`fail: ${error.message}`)
  }
}

function helpersStep(finding: string, details: readonly string[] = []): Step {
  return { subject: 'helpers', finding, details }
}

function entryDetails({ source, size, integrity }: ManifestEntry): string[] {
  return [`manifest: ${size} bytes from ${source}`, ...integrity]
}
