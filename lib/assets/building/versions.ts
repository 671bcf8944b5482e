// The fingerprinted files of all deploys.
import { inParallel } from '../../concurrency.ts'
import { CODINGS } from '../../files/codings.ts'
import { digestOfFile } from '../../files/digest.ts'
import { statOf } from '../../files/disk.ts'
import { manifestFile } from '../settings/manifest-file.ts'
import type { Settings } from '../settings/settings.ts'
import { encodePath } from '../urls/encode.ts'
import { splitFingerprint } from '../urls/fingerprint.ts'
import { readManifest } from './manifest/read-manifest.ts'
import type { PublishedFile } from './deltas/published-files.ts'

/** A fingerprinted file that `precompile` made. */
export interface Version extends PublishedFile {
  /** The path without its fingerprint. */
  readonly plain: string
  /** Its change time: when it was written, or dropped from the manifest. */
  readonly changedMs: number
  /** The extensions of its compressed copies. */
  readonly copies: readonly string[]
  /** Its size with its compressed copies. */
  readonly bytes: number
  /** Whether the manifest names it. */
  readonly isCurrent: boolean
}

const CONCURRENCY = 8

/** @param files what `listPublished` returns */
export async function findVersions(
  settings: Settings,
  files: readonly PublishedFile[]
): Promise<readonly Version[]> {
  const { assets } = await readManifest(manifestFile(settings))
  const current = new Set(Array.from(assets.values(), ({ target }) => target))
  const versions = await inParallel(files, CONCURRENCY, file => asVersion(file, current))
  return versions.filter(version => version !== undefined)
}

/** Undefined for a file that `precompile` did not make. */
async function asVersion({ file, path }: PublishedFile, current: ReadonlySet<string>) {
  const fingerprint = splitFingerprint(path)
  if (!fingerprint) return undefined
  const isCurrent = current.has(encodePath(path))
  if (!isCurrent && (await digestOfFile(file)) !== fingerprint.digest) return undefined
  const [stats, ...copied] = await Promise.all(
    ['', ...CODINGS.map(coding => coding.extension)].map(extension => statOf(file + extension))
  )
  if (!stats) return undefined
  const copies = CODINGS.filter((_, at) => copied[at]?.isFile()).map(({ extension }) => extension)
  const bytes = [stats, ...copied].reduce((sum, one) => sum + Number(one?.size ?? 0), 0)
  const changedMs = Number(stats.ctimeNs / 1_000_000n)
  return { path, file, plain: fingerprint.name, changedMs, copies, bytes, isCurrent }
}
