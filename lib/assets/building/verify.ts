// Compares the published files with the manifest.
import { join } from 'node:path'
import { inParallel } from '../../concurrency.ts'
import { checksumsOf, INTEGRITY_ALGORITHMS } from '../../files/checksums.ts'
import { CODINGS } from '../../files/codings.ts'
import { sameBytes, statOf } from '../../files/disk.ts'
import { manifestFile } from '../settings/manifest-file.ts'
import type { KoaAssetsOptions } from '../settings/options.ts'
import { settleForPrecompile } from '../settings/settings.ts'
import { canonicalSegments } from '../urls/canonical-path.ts'
import { encodePath } from '../urls/encode.ts'
import { splitFingerprint, withFingerprint } from '../urls/fingerprint.ts'
import { checkCopies } from './copies/check-copies.ts'
import { faultOfDelta } from './deltas/check-delta.ts'
import type { ManifestEntries, ManifestEntry } from './manifest/entries.ts'
import { readManifest } from './manifest/read-manifest.ts'
import { deltasByTarget, listPublished } from './deltas/published-files.ts'

/** A file that is not as it must be. */
export interface VerifyProblem {
  /** The URL path of the file, `/assets/app-<32 hex>.css.br`; in a directory, its path there. */
  readonly path: string
  /** What is wrong, to be read after the path: `is missing`. */
  readonly message: string
}

export interface VerifyReport {
  /** Absolute path of the manifest. */
  readonly manifest: string
  /** The number of assets in the manifest. */
  readonly assets: number
  /** Empty when every file is intact. */
  readonly problems: readonly VerifyProblem[]
}

const CONCURRENCY = 8

/**
 * Compares the files in `public` with the manifest: size, digest and Subresource Integrity of every
 * fingerprinted file, the bytes of its plain name, the compressed copies of both, and the deltas. These are
 * decoded where the earlier version is there and Node can (22.19, 24.6). Writes nothing.
 *
 * @param options those of `koaAssets`, with the defaults of `precompile`
 * @throws TypeError for an invalid option
 * @throws AssetError with the code `manifest-missing` or `manifest-broken`
 * @example
 * const { problems } = await verify({ root: import.meta.dirname })
 * for (const { path, message } of problems) console.error(path, message)
 */
export async function verify(options: KoaAssetsOptions = {}): Promise<VerifyReport> {
  const settings = settleForPrecompile(options)
  const manifest = manifestFile(settings)
  const { assets } = await readManifest(manifest)
  const deltas = deltasByTarget(await listPublished(settings))
  const verifier = new Verifier(settings.publicDir, assets, deltas)
  const problems = await inParallel([...assets], CONCURRENCY, ([path, entry]) =>
    verifier.verify(path, entry)
  )
  return { manifest, assets: assets.size, problems: problems.flat() }
}

class Verifier {
  readonly #publicDir: string
  readonly #assets: ManifestEntries
  readonly #deltas: ReturnType<typeof deltasByTarget>

  constructor(
    publicDir: string,
    assets: ManifestEntries,
    deltas: ReturnType<typeof deltasByTarget>
  ) {
    this.#publicDir = publicDir
    this.#assets = assets
    this.#deltas = deltas
  }

  async verify(path: string, entry: ManifestEntry): Promise<VerifyProblem[]> {
    const { target } = entry
    const [fingerprinted, plain] = [this.#fileAt(target), this.#fileAt(path)]
    if (fingerprinted === undefined || plain === undefined) {
      return [{ path, message: `is not a valid request path, or its target ${target} is not` }]
    }
    const fault = await faultOfTarget(fingerprinted, path, entry)
    if (fault !== undefined) return [{ path: target, message: fault }]
    const problems = await this.#verifyCopies(target, fingerprinted)
    if (target === path) return problems
    problems.push(...(await this.#verifyDeltas(target, fingerprinted)))
    if (!(await sameBytes(fingerprinted, plain))) {
      const isThere = (await statOf(plain)) !== undefined
      const message = isThere ? `differs from ${target}` : 'is missing'
      return [...problems, { path, message }]
    }
    return [...problems, ...(await this.#verifyCopies(path, plain))]
  }

  async #verifyDeltas(target: string, file: string): Promise<VerifyProblem[]> {
    const path = decodeURIComponent(target)
    const plain = splitFingerprint(path)?.name ?? path
    const checked = (this.#deltas.get(path) ?? []).map(async delta => {
      const older = this.#fileAt(encodePath(withFingerprint(plain, delta.from)))
      const fault = await faultOfDelta(delta.file, delta.from, file, older)
      return fault === undefined ? [] : [{ path: encodePath(delta.path), message: fault }]
    })
    return (await Promise.all(checked)).flat()
  }

  #fileAt(path: string): string | undefined {
    const segments = canonicalSegments(path)
    return Array.isArray(segments) ? join(this.#publicDir, ...segments) : undefined
  }

  async #verifyCopies(path: string, file: string): Promise<VerifyProblem[]> {
    // `data.json.gz` may be an asset of its own.
    const codings = CODINGS.filter(({ extension }) => !this.#assets.has(path + extension))
    const copies = await checkCopies(file, codings)
    return copies.flatMap(({ coding, fault }) =>
      fault === undefined ? [] : [{ path: path + coding.extension, message: fault }]
    )
  }
}

/** The message of its problem, if it has one. */
async function faultOfTarget(file: string, path: string, entry: ManifestEntry) {
  const { target, size, integrity } = entry
  const stats = await statOf(file)
  if (!stats) return 'is missing'
  if (!stats.isFile()) return 'is not a file'
  if (Number(stats.size) !== size) return `has size ${stats.size}, not ${size}`
  // The algorithm of an unknown hash does not matter: it differs in any case.
  const algorithms = integrity.map(
    hash => INTEGRITY_ALGORITHMS.find(name => hash.startsWith(`${name}-`)) ?? 'sha256'
  )
  const sums = await checksumsOf({ copyOf: file }, algorithms)
  const fingerprint = splitFingerprint(decodeURIComponent(target))?.digest
  // Without fingerprints the target is the plain name.
  if (target !== path && sums.digest !== fingerprint) return 'does not match its fingerprint'
  const isIntact = sums.integrity.every((hash, at) => hash === integrity[at])
  return isIntact ? undefined : 'does not match its integrity in the manifest'
}
