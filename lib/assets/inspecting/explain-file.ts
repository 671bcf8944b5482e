// The last step of an explanation: the file in `public`, and the response to a request for it.
import { relative } from 'node:path'
import { AssetError } from '../../errors.ts'
import { digestOfFile } from '../../files/digest.ts'
import { isInside, statOf } from '../../files/disk.ts'
import { Bundles } from '../bundles/bundles.ts'
import type { Manifest } from '../building/manifest/manifest.ts'
import { readManifest } from '../building/manifest/read-manifest.ts'
import { kindOf, ordinaryBy } from '../building/on-request/app-files.ts'
import type { ServedFile } from '../serving/files/served-file.ts'
import { Directories } from '../serving/directories/directories.ts'
import { fallbackAt } from '../serving/directories/fallback.ts'
import { covers } from '../serving/directories/served-directory.ts'
import type { Fields } from '../serving/fields.ts'
import { isOurs, type Wanted } from '../serving/request-path.ts'
import { publicFile } from '../settings/public-directory.ts'
import { manifestFile } from '../settings/manifest-file.ts'
import type { Settings } from '../settings/settings.ts'
import type { Source } from '../sources/catalog.ts'
import { encodePath } from '../urls/encode.ts'
import { splitFingerprint } from '../urls/fingerprint.ts'
import { step, type ExplainedRepresentation } from './explanation.ts'

/** @param source what a request for that name would publish */
export async function explainFile(settings: Settings, wanted: Wanted, source: Source | undefined) {
  const directories = await directoriesFor(settings, wanted, source)
  const mounted = await directories.findInMounts(wanted)
  const file =
    mounted ?? (settings.servesPublic ? await directories.public.find(wanted) : undefined)
  const finding = file ? existing(settings, file) : await whyNoFile(settings, wanted)
  const representations = (file?.representations ?? []).map(({ coding, size, ok }) => ({
    coding,
    size,
    headers: asRecord(ok.fields)
  }))
  const { outcome, isFound } =
    (mounted && outcomeByFile(placeOf(settings, wanted, mounted))) ??
    outcomeBySource(wanted, source, file) ??
    (file && outcomeByFile('public')) ??
    (await outcomeWithoutFile(settings, wanted, directories))
  const condition = settings.serve ? '' : 'with serving on: '
  return {
    step: step('file', finding, representations.flatMap(detailsOf)),
    outcome: condition + outcome,
    isFound,
    representations
  }
}

/** By the rules of a request, but without the state of a running process. */
async function directoriesFor(
  settings: Settings,
  wanted: Wanted,
  source: Source | undefined
): Promise<Directories> {
  const manifest = await manifestFor(settings, wanted)
  const bundles = bundlesFor(settings)
  const isOrdinary = ordinaryBy({
    manifestOf: () => manifest,
    sourcedName: async (_, name) => {
      if (!source) return undefined
      return isNamed(source, name) ? name : splitFingerprint(name)?.name
    },
    has: asked => directories.public.has(asked)
  })
  const directories = new Directories(settings, {
    isOrdinary,
    isHashed: (mount, path) => bundles?.isHashed(mount, path) ?? false
  })
  return directories
}

/** Undefined where koaAssets would not start. */
function bundlesFor(settings: Settings): Bundles | undefined {
  try {
    return new Bundles(settings, () => undefined)
  } catch (error) {
    if (error instanceof AssetError) return undefined
    throw error
  }
}

async function manifestFor(settings: Settings, { app }: Wanted): Promise<Manifest | undefined> {
  if (!app.fingerprint || app.compile) return undefined
  try {
    return await readManifest(manifestFile(settings))
  } catch (error) {
    // The step `helpers` reports it.
    if (error instanceof AssetError) return undefined
    throw error
  }
}

/** Whether the source is published under this very name, rather than under its part before a fingerprint. */
function isNamed({ tail }: Source, name: string): boolean {
  return `/${tail}`.endsWith(`/${name}`)
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

function existing({ root }: Settings, { representations }: ServedFile): string {
  return `${relative(root, representations[0].file)} exists`
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

interface Outcome {
  readonly outcome: string
  readonly isFound: boolean
}

/** Undefined where a request publishes nothing. */
function outcomeBySource(
  { app, name }: Wanted,
  source: Source | undefined,
  file: ServedFile | undefined
): Outcome | undefined {
  if (!app.compile || !source) return undefined
  const isPlain = isNamed(source, name) || splitFingerprint(name) === undefined
  if (isPlain || (kindOf(app) === 'fingerprints' && file)) {
    return { outcome: '200, after publishing its source', isFound: true }
  }
  if (kindOf(app) !== 'fingerprints') return undefined
  return { outcome: '200 if the source still yields these bytes, otherwise 404', isFound: false }
}

/** Where the file of a path is, in a mount if there is one that has it. */
function placeOf({ mounts }: Settings, { path }: Wanted, { representations }: ServedFile): string {
  const [{ file }] = representations
  const mount = mounts.find(each => covers(each, path) && isInside(each.dir, file))
  return `the mount ${mount?.urlPath || '/'}`
}

function outcomeByFile(place: string): Outcome {
  return { outcome: `200, the file in ${place}`, isFound: true }
}

async function outcomeWithoutFile(
  settings: Settings,
  wanted: Wanted,
  directories: Directories
): Promise<Outcome> {
  if (await directories.hasIndex(wanted)) {
    return { outcome: `301 to ${wanted.path}/, for its index file`, isFound: false }
  }
  const storing = isOurs(wanted.path, settings) ? '; a 404 gets Cache-Control: no-store' : ''
  return { outcome: passedOn(settings, encodePath(wanted.path), storing), isFound: false }
}

/** @param path as it is sent */
export function passedOn(settings: Settings, path: string, storing = ''): string {
  const shell = fallbackAt(path, settings)
  const falling = shell ? `; a navigation that remains a 404 gets ${shell.path}` : ''
  return `passed to the next middleware${storing}${falling}`
}
