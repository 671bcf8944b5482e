// An explanation, and its last step: the file in `public`, and the response to a request for it.
import { relative } from 'node:path'
import { AssetError } from '../../errors.ts'
import { digestOfFile } from '../../files/digest.ts'
import { isInside, statOf } from '../../files/disk.ts'
import { Bundles } from '../bundles/bundles.ts'
import type { Manifest } from '../building/manifest/manifest.ts'
import { readManifest } from '../building/manifest/read-manifest.ts'
import { kindOf, ordinaryBy, sourcedNameIn } from '../building/on-request/app-files.ts'
import type { ServedFile } from '../serving/files/served-file.ts'
import { Directories } from '../serving/directories/directories.ts'
import { fallbackAt } from '../serving/directories/fallback.ts'
import { covers } from '../serving/directories/served-directory.ts'
import type { Fields } from '../serving/fields.ts'
import { isOurs, type Wanted } from '../serving/request-path.ts'
import { publicFile } from '../settings/public-directory.ts'
import { manifestFile } from '../settings/manifest-file.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'
import type { Source } from '../sources/catalog.ts'
import { Sources } from '../sources/sources.ts'
import { encodePath } from '../urls/encode.ts'
import { splitFingerprint } from '../urls/fingerprint.ts'

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

/** One step from the path to the response. */
export interface Step {
  readonly subject:
    'settings' | 'path' | 'mounts' | 'app' | 'name' | 'sources' | 'target' | 'helpers' | 'file'
  readonly finding: string
  /** The facts behind the finding, one per line. */
  readonly details: readonly string[]
}

export interface ExplainedRepresentation {
  /** `identity`, or the name of a content coding. */
  readonly coding: string
  /** In bytes. */
  readonly size: number
  /** Of a 200 response. */
  readonly headers: Readonly<Record<string, string>>
}

export function step(subject: Step['subject'], finding: string, details: string[] = []): Step {
  return { subject, finding, details }
}

/** What a request for a name would publish. */
export interface Resolved {
  readonly source: Source | undefined
  /** Whether the source is published under this very name, rather than under its part before a fingerprint. */
  readonly isPlain: boolean
}

export async function explainFile(decider: Decider, wanted: Wanted, resolved: Resolved) {
  const { settings, directories } = decider
  const mounted = await directories.findInMounts(wanted)
  const file =
    mounted ?? (settings.servesPublic ? await directories.public.find(wanted) : undefined)
  const finding = file
    ? `${relative(settings.root, file.representations[0].file)} exists`
    : await whyNoFile(settings, wanted)
  const representations = (file?.representations ?? []).map(({ coding, size, ok }) => ({
    coding,
    size,
    headers: asRecord(ok.fields)
  }))
  const published = mounted ? undefined : outcomeBySource(wanted, resolved, file !== undefined)
  const place = mounted ? mountOf(settings, wanted, mounted) : 'public'
  const outcome =
    published ?? (file ? `200, the file in ${place}` : await outcomeWithoutFile(decider, wanted))
  return {
    step: step('file', finding, representations.flatMap(detailsOf)),
    outcome: settings.serve ? outcome : `with serving on: ${outcome}`,
    isFound: published ? published === PUBLISHED : file !== undefined,
    representations
  }
}

/** What decides about the requests of one `koaAssets()`: its pipeline, or the same for settings alone. */
export interface Decider {
  readonly settings: Settings
  readonly sources: Sources
  readonly directories: Directories
  /** Undefined for an app without fingerprints. */
  manifestOf(app: AppSettings): Manifest | undefined
}

/** Decides by the rules of a request, without the state of a running process. Warns about nothing. */
export async function deciderFor(settings: Settings): Promise<Decider> {
  const sources = new Sources(settings, () => undefined)
  const isNeeded = settings.apps.some(isPrecompiled)
  const manifest = isNeeded ? await ifStarts(() => readManifest(manifestFile(settings))) : undefined
  const bundles = await ifStarts(() => new Bundles(settings, () => undefined))
  const manifestOf = (app: AppSettings) => (isPrecompiled(app) ? manifest : undefined)
  const directories: Directories = new Directories(settings, {
    isOrdinary: ordinaryBy({
      manifestOf,
      sourcedName: (app, name) => sourcedNameIn(sources, app, name),
      has: asked => directories.public.has(asked)
    }),
    isHashed: (mount, path) => bundles?.isHashed(mount, path) ?? false
  })
  return { settings, sources, directories, manifestOf }
}

function isPrecompiled(app: AppSettings): boolean {
  return kindOf(app) === 'precompiled'
}

/** Undefined where koaAssets would not start; the step `helpers` says why. */
async function ifStarts<T>(make: () => Promise<T> | T): Promise<T | undefined> {
  try {
    return await make()
  } catch (error) {
    if (error instanceof AssetError) return undefined
    throw error
  }
}

function asRecord(headers: Fields): Record<string, string> {
  const pairs = headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1] ?? '']] : []))
  return Object.fromEntries(pairs) as Record<string, string>
}

const SHOWN_HEADERS = ['Cache-Control', 'ETag', 'Content-Type', 'Last-Modified']

function detailsOf({ coding, size, headers }: ExplainedRepresentation): string[] {
  if (coding !== 'identity') return [`${coding}: ${size} bytes, ETag ${headers['ETag']}`]
  const shown = SHOWN_HEADERS.filter(name => name in headers)
  return [`identity: ${size} bytes`, ...shown.map(name => `${name}: ${headers[name]}`)]
}

async function whyNoFile(settings: Settings, wanted: Wanted): Promise<string> {
  if (!settings.servesPublic) return `no mount has ${wanted.path}`
  const file = publicFile(settings, wanted.path)
  return `${relative(settings.root, file)} ${await whyNotServed(settings, wanted, file)}`
}

async function whyNotServed({ publicApp }: Settings, { name, app }: Wanted, file: string) {
  const stats = await statOf(file)
  if (!stats) return 'does not exist'
  if (!stats.isFile()) return 'is not a file'
  const fingerprint = app === publicApp ? undefined : splitFingerprint(name)
  if (fingerprint && (await digestOfFile(file)) !== fingerprint.digest) {
    return 'does not match its fingerprint, and is not served'
  }
  return 'is a symbolic link that may not be followed (option symlinks)'
}

const PUBLISHED = '200, after publishing its source'

/** Undefined where a request publishes nothing. */
function outcomeBySource({ app }: Wanted, { source, isPlain }: Resolved, isThere: boolean) {
  if (!app.compile || !source) return undefined
  if (isPlain || (app.fingerprint && isThere)) return PUBLISHED
  return app.fingerprint ? '200 if the source still yields these bytes, otherwise 404' : undefined
}

function mountOf({ mounts }: Settings, { path }: Wanted, { representations }: ServedFile): string {
  const [{ file }] = representations
  const mount = mounts.find(each => covers(each, path) && isInside(each.dir, file))
  return `the mount ${mount?.urlPath || '/'}`
}

async function outcomeWithoutFile({ settings, directories }: Decider, wanted: Wanted) {
  if (await directories.hasIndex(wanted)) return `301 to ${wanted.path}/, for its index file`
  const storing = isOurs(wanted.path, settings) ? '; a 404 gets Cache-Control: no-store' : ''
  return passedOn(settings, encodePath(wanted.path), storing)
}

/** @param path as it is sent */
export function passedOn(settings: Settings, path: string, storing = ''): string {
  const shell = fallbackAt(path, settings)
  const falling = shell ? `; a navigation that remains a 404 gets ${shell.path}` : ''
  return `passed to the next middleware${storing}${falling}`
}
