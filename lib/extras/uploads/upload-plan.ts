// Plans the upload of files that pages name by URLs of the host, with the fields that a server would send.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { listPublishedPaths } from './published-paths.ts'
import { inParallel } from '../../runtime/concurrency.ts'
import { digestOf } from '../../runtime/files/digest.ts'
import { CODINGS } from '../../runtime/files/codings.ts'
import { streamOf, withFile, withOriginal } from '../../runtime/files/open-file.ts'
import { REMEDY } from '../../runtime/urls/read-manifest.ts'
import { Pipeline } from '../../runtime/app/pipeline.ts'
import type { Problem, Project } from '../../runtime/app/parts.ts'
import { locate, type Wanted } from '../../runtime/serving/request-path.ts'
import { publicFile } from '../../runtime/settings/public-directory.ts'
import { listMounts } from '../telling/listed-mounts.ts'
import { reasonOf, warnOnce } from '../../runtime/errors.ts'
import { pathFrom } from '../../runtime/files/paths.ts'

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
  /** The files that pages name and a server would not send; with any of them the plan is no release. */
  readonly problems: readonly Problem[]
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
  const files = found
    .flatMap(({ uploads }) => uploads)
    .toSorted((a, b) => rank(a) - rank(b) || (a.key < b.key ? -1 : 1))
  const problems = [...(await missingInBuilds(project)), ...found.flatMap(each => each.problems)]
  return { release: digestOf(JSON.stringify(files)), files, problems }
}

const rank = ({ cacheControl }: Upload) => (/\bimmutable\b/.test(cacheControl) ? 0 : 1)

async function missingInBuilds(project: Project): Promise<Problem[]> {
  const listed = await listMounts(project)
  return listed.flatMap(({ mount, manifest, problem, files }) => {
    if (problem !== undefined) return { path: mount, message: `has no build: ${problem}` }
    const missing = files.filter(({ sizes }) => sizes['identity'] === undefined)
    return missing.map(({ path }) => ({
      path,
      message: `is missing, and ${manifest} names it: build again`
    }))
  })
}

interface Planned {
  readonly uploads: readonly Upload[]
  readonly problems: readonly Problem[]
}

/** @param path is encoded */
async function uploadsOf({ settings, directories }: Pipeline, path: string): Promise<Planned> {
  const wanted = locate(path, settings)
  if (typeof wanted !== 'object') return { uploads: [], problems: [] }
  const mounted = await directories.findInMounts(wanted)
  const found =
    mounted ?? (settings.servesPublic ? await directories.public.find(wanted) : undefined)
  const uploads = await inParallel(
    found?.representations ?? [],
    1,
    async ({ coding, file, size, ok }) => {
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
    }
  )
  const file = found?.representations[0].file ?? fileOf(wanted, settings)
  const expected = found ? found.copies.map(({ coding: { extension } }) => extension) : ['']
  const faults = await Promise.all(expected.map(extension => faultOf(file + extension)))
  const problems = faults.flatMap((message, at) =>
    message === undefined ? [] : [{ path: path + (expected[at] ?? ''), message }]
  )
  return { uploads, problems }
}

/** Returns the absolute path of a file in the first mount that may have it, or in public. */
function fileOf({ path, mounts: [mount] }: Wanted, settings: Project): string {
  return mount ? join(mount.dir, path.slice(mount.urlPath.length)) : publicFile(settings, path)
}

/** Returns undefined for a file that can be read: a server has another reason for not sending it. */
async function faultOf(file: string): Promise<string | undefined> {
  try {
    return (await withFile(file, () => true)) ? undefined : `is missing: ${REMEDY}`
  } catch (error) {
    return `cannot be read, so no server would send it: ${reasonOf(error)}`
  }
}

function sha256Of(file: string): Promise<string> {
  return withOriginal({ copyOf: file }, async original => {
    const sha256 = createHash('sha256')
    for await (const piece of streamOf(original) as AsyncIterable<Buffer>) sha256.update(piece)
    return sha256.digest('base64')
  })
}
