// From a reference in a stylesheet or a script to the asset it leads to.
import { dirname, join, relative, sep } from 'node:path'
import { posix } from 'node:path'
import { isInside, statOf } from '../../files/disk.ts'
import type { Reference } from './references.ts'
import { appAt } from '../settings/app-settings.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'
import type { Source } from '../sources/catalog.ts'
import type { Sources } from '../sources/sources.ts'

/** The asset that a reference leads to. */
export interface Referenced {
  readonly app: AppSettings
  readonly name: string
  /** Whether the reference, as it was written, leads a browser there already. */
  readonly isDirect: boolean
}

/** `elsewhere`: not an asset of ours, and nothing to complain about. Undefined: it leads nowhere. */
export type Resolution = Referenced | 'elsewhere' | undefined

interface Asker {
  readonly app: AppSettings
  readonly name: string
  readonly source: Source
  readonly dependencies: readonly string[]
}

/**
 * Tries the file beside the source, or beside a file that the source was compiled from: what its author
 * saw. Then what a browser would ask for, which may be another app's; then the reference as a name.
 */
export async function resolveReference(
  settings: Settings,
  sources: Sources,
  asker: Asker,
  reference: Reference
): Promise<Resolution> {
  const path = decoded(reference.path)
  if (path === undefined) return 'elsewhere'
  const asked = posix.join(asker.app.urlPrefix, posix.dirname(asker.name), path)
  const url = path.startsWith('/') ? posix.normalize(path) : asked
  const direct = await byUrl(settings, sources, url)
  if (path.startsWith('/')) {
    return direct ?? (url.startsWith(`${settings.prefix}/`) ? undefined : 'elsewhere')
  }
  const beside = await byFile(sources, asker, path)
  // Another file of its name would be the wrong one.
  if (beside === 'unreachable') return undefined
  if (beside && !(await isPublishedAs(sources, direct, beside))) return beside
  return direct ?? byName(sources, asker.app, path)
}

/** Whether both lead to one asset, so that the reference may stay as it was written. */
async function isPublishedAs(
  sources: Sources,
  direct: Resolution,
  { app, name }: Referenced
): Promise<boolean> {
  if (direct === undefined || direct === 'elsewhere' || direct.app !== app) return false
  return direct.name === name || (await sources.of(app).find(direct.name))?.name === name
}

/** Undefined: no path of a file. */
function decoded(path: string): string | undefined {
  try {
    const file = decodeURIComponent(path)
    return file.includes('\0') ? undefined : file
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

async function byUrl(settings: Settings, sources: Sources, url: string): Promise<Resolution> {
  const app = appAt(settings, url)
  if (!app) return undefined
  const name = url.slice(app.urlPrefix.length + 1)
  if (await sources.of(app).find(name)) return { app, name, isDirect: true }
  const inPublic = await statOf(join(settings.publicDir, url))
  return inPublic?.isFile() ? 'elsewhere' : undefined
}

async function byFile(
  sources: Sources,
  { app, source, dependencies }: Asker,
  path: string
): Promise<Referenced | 'unreachable' | undefined> {
  for (const file of [source.file, ...dependencies]) {
    const wanted = join(dirname(file), path)
    const directory = sources.of(app).directories.find(candidate => isInside(candidate, wanted))
    if (directory === undefined) continue
    const tail = relative(directory, wanted).split(sep).join('/')
    const found = await sources.of(app).findTail(directory, tail)
    const name = found && (await nameOf(sources, app, found))
    if (found) return name === undefined ? 'unreachable' : { app, name, isDirect: false }
  }
  return undefined
}

/** Of two of one name in a directory only the first is found by it; the other by its tail, if at all. */
async function nameOf(
  sources: Sources,
  app: AppSettings,
  found: Source
): Promise<string | undefined> {
  const first = await sources.of(app).find(found.name)
  const isHidden = first?.directory === found.directory && first.file !== found.file
  if (!isHidden) return found.name
  return app.tails ? found.tail : undefined
}

async function byName(sources: Sources, app: AppSettings, path: string): Promise<Resolution> {
  const name = posix.normalize(path).replace(/^(?:\.\.?\/)+/, '')
  const found = await sources.of(app).find(name)
  return found && { app, name: found.name, isDirect: false }
}
