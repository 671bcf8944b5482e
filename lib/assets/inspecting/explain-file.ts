// The last step of an explanation: the file that lies in public, and what it is sent as.
import { join, relative } from 'node:path'
import { AssetError } from '../../errors.ts'
import { statOf } from '../../files/disk.ts'
import { splitFingerprint } from '../urls/fingerprint.ts'
import { isLive } from '../publishing/live-build.ts'
import { manifestFile } from '../settings/manifest-file.ts'
import type { Manifest } from '../building/manifest/manifest.ts'
import { ordinaryBy } from '../publishing/ordinary-names.ts'
import type { PublicFile } from '../serving/public-file.ts'
import { makePublicFiles } from '../serving/public-files.ts'
import { readManifest } from '../building/manifest/read-manifest.ts'
import type { Headers } from '../serving/representation.ts'
import type { Form, Step } from './explanation.ts'
import type { Wanted } from '../serving/request-path.ts'
import type { Settings } from '../settings/settings.ts'
import type { Source } from '../sources/catalog.ts'
import { digestOfFile } from '../../files/digest.ts'

export interface FileExplained {
  readonly step: Step
  readonly outcome: { readonly outcome: string; readonly isFound: boolean }
  readonly forms: readonly Form[]
}

/** @param source what would be published under that name, were it asked for */
export async function explainFile(
  settings: Settings,
  wanted: Wanted,
  source: Source | undefined
): Promise<FileExplained> {
  const file = await findFile(settings, wanted, source)
  const path = relative(settings.root, join(settings.publicDir, wanted.path))
  const forms = (file?.forms ?? []).map(({ coding, size, ok }) => ({
    coding,
    size,
    headers: asRecord(ok.fields)
  }))
  const finding = file ? `${path} is there` : await whyNoFile(settings, wanted, path)
  const step: Step = { subject: 'file', finding, details: forms.flatMap(formDetails) }
  return { step, outcome: conclude(settings, wanted, source, file), forms }
}

/** By the rules of a request, without what only a running process knows. */
async function findFile(
  settings: Settings,
  wanted: Wanted,
  source: Source | undefined
): Promise<PublicFile | undefined> {
  const manifest = await manifestFor(settings, wanted)
  const files = makePublicFiles(
    settings,
    ordinaryBy({
      manifestOf: () => manifest,
      sourcedName: async (_, name) => {
        if (!source) return undefined
        return isNamed(source, name) ? name : splitFingerprint(name)?.name
      },
      has: asked => files.has(asked)
    })
  )
  return files.find(wanted)
}

async function manifestFor(settings: Settings, { app }: Wanted): Promise<Manifest | undefined> {
  if (!app.fingerprint || app.compile) return undefined
  try {
    return await readManifest(manifestFile(settings))
  } catch (error) {
    // What the helpers do without it tells what is wrong.
    if (error instanceof AssetError) return undefined
    throw error
  }
}

/** Whether a source bears the name itself, not what is left of it without its fingerprint. */
function isNamed({ tail }: Source, name: string): boolean {
  return `/${tail}`.endsWith(`/${name}`)
}

function asRecord(headers: Headers): Record<string, string> {
  const pairs = headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1] ?? '']] : []))
  return Object.fromEntries(pairs) as Record<string, string>
}

const TOLD = ['Cache-Control', 'ETag', 'Content-Type', 'Last-Modified']

function formDetails({ coding, size, headers }: Form): string[] {
  if (coding !== 'identity') return [`${coding}: ${size} bytes, ETag ${headers['ETag']}`]
  const told = TOLD.filter(name => name in headers).map(name => `${name}: ${headers[name]}`)
  return [`identity: ${size} bytes`, ...told]
}

async function whyNoFile(
  { publicDir, publicApp }: Settings,
  { path, name, app }: Wanted,
  shown: string
): Promise<string> {
  const file = join(publicDir, path)
  const stats = await statOf(file)
  if (!stats) return `${shown} is not there`
  if (!stats.isFile()) return `${shown} is no file`
  const fingerprint = app === publicApp ? undefined : splitFingerprint(name)
  if (fingerprint && (await digestOfFile(file)) !== fingerprint.digest) {
    return `${shown} holds other bytes than its fingerprint says, and is not sent`
  }
  return `${shown} is a link that may not be followed (symlinks)`
}

function conclude(
  settings: Settings,
  wanted: Wanted,
  source: Source | undefined,
  file: PublicFile | undefined
): FileExplained['outcome'] {
  const { outcome, isFound } = outcomeOf(settings, wanted, source, file)
  const condition = settings.serve ? '' : 'where koaAssets serves: '
  return { outcome: condition + outcome, isFound }
}

function outcomeOf(
  { publicApp }: Settings,
  { app, name }: Wanted,
  source: Source | undefined,
  file: PublicFile | undefined
): FileExplained['outcome'] {
  const isOwn = source !== undefined && isNamed(source, name)
  const isFingerprinted = app !== publicApp && !isOwn && splitFingerprint(name) !== undefined
  const isMade = app.compile && source && (!isFingerprinted || isLive(app))
  if (isMade && isFingerprinted && !file) {
    return { outcome: '200 if the source still makes these bytes, else 404', isFound: false }
  }
  if (isMade) return { outcome: '200, brought up to date with its source first', isFound: true }
  if (file) return { outcome: '200, the file as it lies in public', isFound: true }
  const unkept = app !== publicApp ? '; a 404 of theirs gets Cache-Control: no-store' : ''
  return { outcome: `passed on to the next middleware${unkept}`, isFound: false }
}
