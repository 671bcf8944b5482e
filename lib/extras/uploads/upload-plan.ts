// Plans the upload of files that pages name by URLs of the host, with the fields that a server would send.
import { createHash } from 'node:crypto'
import { listPublishedPaths } from './published-paths.ts'
import { inParallel } from '../../concurrency.ts'
import { digestOf } from '../../files/digest.ts'
import { CODINGS } from '../../files/codings.ts'
import { streamOf, withOriginal } from '../../files/open-file.ts'
import { Pipeline } from '../../assets/pipeline.ts'
import type { Project } from '../../assets/parts.ts'
import { locate } from '../../assets/serving/request-path.ts'
import { warnOnce } from '../../errors.ts'
import { pathFrom } from '../../files/paths.ts'

interface Upload {
  /** The URL path with the base, without its first slash, decoded; that of a compressed copy has its extension. */
  readonly key: string
  /** The path relative to the project root. */
  readonly file: string
  readonly type: string
  /** The content coding; undefined for a file that is not a compressed copy. */
  readonly encoding: string | undefined
  readonly cacheControl: string
  /** The number of bytes. */
  readonly size: number
  /** The checksum in base64, as S3 writes it. */
  readonly sha256: string
}

export interface UploadPlan {
  /** The release changes with any of the files. */
  readonly release: string
  /** Files that never change at their URLs come first. */
  readonly files: readonly Upload[]
}

const CONCURRENCY = 8

/** @throws AssetError for a manifest that is missing or broken */
export async function planUploads(given: Project): Promise<UploadPlan> {
  // The options are those of a server, not of `precompile`.
  const project = given.changed({ env: given.env }, false)
  const pipeline = new Pipeline(project, warnOnce())
  if (pipeline.failure) throw pipeline.failure
  await pipeline.load()
  const paths = await listPublishedPaths(project)
  const found = await inParallel(paths, CONCURRENCY, path => uploadsOf(pipeline, path))
  const files = found.flat().toSorted((a, b) => rank(a) - rank(b) || (a.key < b.key ? -1 : 1))
  return { release: digestOf(JSON.stringify(files)), files }
}

const rank = ({ cacheControl }: Upload) => (/\bimmutable\b/.test(cacheControl) ? 0 : 1)

/** Returns nothing for a file that is not served. @param path is encoded */
async function uploadsOf({ settings, directories }: Pipeline, path: string): Promise<Upload[]> {
  const wanted = locate(path, settings)
  if (typeof wanted !== 'object') return []
  const mounted = await directories.findInMounts(wanted)
  const found =
    mounted ?? (settings.servesPublic ? await directories.public.find(wanted) : undefined)
  return inParallel(found?.representations ?? [], 1, async ({ coding, file, size, ok }) => {
    const fields = new Map(ok.fields.map(([name, value]) => [name.toLowerCase(), value]))
    const extension = CODINGS.find(({ name }) => name === coding)?.extension ?? ''
    return {
      key: (decodeURIComponent(settings.base) + wanted.path).slice(1) + extension,
      file: pathFrom(settings.root, file),
      type: fields.get('content-type') ?? '',
      encoding: fields.get('content-encoding'),
      cacheControl: fields.get('cache-control') ?? '',
      size,
      sha256: await sha256Of(file)
    }
  })
}

function sha256Of(file: string): Promise<string> {
  return withOriginal({ copyOf: file }, async original => {
    const sha256 = createHash('sha256')
    for await (const piece of streamOf(original) as AsyncIterable<Buffer>) sha256.update(piece)
    return sha256.digest('base64')
  })
}
