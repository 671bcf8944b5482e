// What decides about requests, and the last step of an explanation: the file, and the response to a request.
import { relative } from 'node:path'
import { AssetError } from '../../errors.ts'
import { digestOfFile } from '../../files/digest.ts'
import { isInside, statOf } from '../../files/disk.ts'
import type { Manifest } from '../building/manifest/manifest.ts'
import { readManifest } from '../building/manifest/read-manifest.ts'
import { kindOf, ordinaryBy, sourcedNameIn } from '../building/on-request/app-files.ts'
import { Bundles } from '../bundles/bundles.ts'
import { Directories } from '../serving/directories/directories.ts'
import { fallbackAt } from '../serving/directories/fallback.ts'
import { isBelow, isOurs, type Wanted } from '../serving/request-path.ts'
import { manifestFile } from '../settings/manifest-file.ts'
import { publicFile } from '../settings/public-directory.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'
import type { Source } from '../sources/catalog.ts'
import { Sources } from '../sources/sources.ts'
import { encodePath } from '../urls/encode.ts'
import { splitFingerprint } from '../urls/fingerprint.ts'

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

export function step(
  subject: Step['subject'],
  finding: string,
  details: readonly string[] = []
): Step {
  return { subject, finding, details }
}

export interface Resolved {
  readonly source: Source | undefined
  /** Whether the source is published under this very name, rather than under its part before a fingerprint. */
  readonly isPlain: boolean
  readonly steps: readonly Step[]
}

/** One koaAssets(): its pipeline, or the same rules without a running process. */
export interface Decider {
  readonly settings: Settings
  readonly sources: Sources
  readonly directories: Directories
  /** Undefined for an app without fingerprints, and for one whose manifest cannot be read. */
  manifestOf(app: AppSettings): Manifest | undefined
}

/** Warns about nothing. */
export async function deciderFor(settings: Settings): Promise<Decider> {
  const sources = new Sources(settings, () => undefined)
  const isPrecompiled = (app: AppSettings) => kindOf(app) === 'precompiled'
  const manifest = settings.apps.some(isPrecompiled)
    ? await ifStarts(() => readManifest(manifestFile(settings)))
    : undefined
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

/** Undefined where koaAssets would not start; the step `helpers` of an explanation says why. */
async function ifStarts<T>(make: () => Promise<T> | T): Promise<T | undefined> {
  try {
    return await make()
  } catch (error) {
    if (error instanceof AssetError) return undefined
    throw error
  }
}

export async function findFile(
  { settings, directories }: Decider,
  wanted: Wanted,
  { source, isPlain }: Resolved
) {
  const { app, path } = wanted
  const mounted = await directories.findInMounts(wanted)
  const file =
    mounted ?? (settings.servesPublic ? await directories.public.find(wanted) : undefined)
  const representations = (file?.representations ?? []).map(({ coding, size, ok }) => ({
    coding,
    size,
    headers: Object.fromEntries(ok.fields) as Record<string, string>
  }))
  const found = file && relative(settings.root, file.representations[0].file)
  const finding = found === undefined ? await whyNoFile(settings, wanted) : `${found} exists`
  const described = {
    step: step('file', finding, representations.flatMap(detailsOf)),
    representations
  }
  if (app.compile && source && !mounted && (isPlain || app.fingerprint)) {
    const isFound = isPlain || file !== undefined
    const unsure = '200 if the source still yields these bytes, otherwise 404'
    return { ...described, isFound, outcome: isFound ? '200, after publishing its source' : unsure }
  }
  if (!file) {
    const isFolder = await directories.hasIndex(wanted)
    const storing = isOurs(path, settings) ? '; a 404 gets Cache-Control: no-store' : ''
    const onward = goesOn(settings, encodePath(path), storing)
    const outcome = isFolder ? `301 to ${path}/, for its index file` : onward
    return { ...described, isFound: false, outcome }
  }
  const { file: onDisk } = file.representations[0]
  const mount = settings.mounts.find(
    each => isBelow(path, each.urlPath) && isInside(each.dir, onDisk)
  )
  const place = mounted ? `the mount ${mount?.urlPath || '/'}` : 'public'
  return { ...described, isFound: true, outcome: `200, the file in ${place}` }
}

const SHOWN_HEADERS = ['Cache-Control', 'ETag', 'Content-Type', 'Last-Modified']

function detailsOf({ coding, size, headers }: ExplainedRepresentation): string[] {
  if (coding !== 'identity') return [`${coding}: ${size} bytes, ETag ${headers['ETag']}`]
  const shown = SHOWN_HEADERS.filter(name => name in headers)
  return [`identity: ${size} bytes`, ...shown.map(name => `${name}: ${headers[name]}`)]
}

async function whyNoFile(settings: Settings, { app, name, path }: Wanted): Promise<string> {
  if (!settings.servesPublic) return `no mount has ${path}`
  const file = publicFile(settings, path)
  const stats = await statOf(file)
  const shown = relative(settings.root, file)
  if (!stats) return `${shown} does not exist`
  if (!stats.isFile()) return `${shown} is not a file`
  const fingerprint = app === settings.publicApp ? undefined : splitFingerprint(name)
  return fingerprint && (await digestOfFile(file)) !== fingerprint.digest
    ? `${shown} does not match its fingerprint, and is not served`
    : `${shown} is a symbolic link that may not be followed (option symlinks)`
}

/** What happens to a request for which there is no file. @param path as it is sent */
export function goesOn(settings: Settings, path: string, storing = ''): string {
  const shell = fallbackAt(path, settings)
  const falling = shell ? `; a navigation that remains a 404 gets ${shell.path}` : ''
  return `passed to the next middleware${storing}${falling}`
}
