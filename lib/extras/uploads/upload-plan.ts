// Lists, for the command `upload-plan`, the files that a bucket behind a CDN needs, with the fields of a server.
import { join } from 'node:path'
import { printProblems, formatBytes, table } from '../../publishing/cli/command.ts'
import { withSources } from '../../publishing/sources/sources.ts'
import type { Command, Project } from '../../runtime/app/extra.ts'
import { Pipeline } from '../../runtime/app/pipeline.ts'
import { inParallel } from '../../runtime/concurrency.ts'
import { reasonOf, warnOnce } from '../../runtime/errors.ts'
import { CODINGS, withoutCodingExtension } from '../../runtime/files/codings.ts'
import { checksumsOf, digestOf } from '../../runtime/files/digest.ts'
import { withFile } from '../../runtime/files/open-file.ts'
import { excluderOf, pathFrom } from '../../runtime/files/paths.ts'
import type { Variant } from '../../runtime/serving/variant.ts'
import { isMounted, locate, type Wanted } from '../../runtime/serving/request.ts'
import { manifestFile, publicFile } from '../../runtime/settings/public-directory.ts'
import type { MountSettings } from '../../runtime/settings/settings.ts'
import { encodePath } from '../../runtime/urls/spelling.ts'
import { readNames, REMEDY } from '../../runtime/urls/read-manifest.ts'
import { splitDelta } from '../deltas/delta-format.ts'
import { requestableFiles } from '../deltas/directory.ts'
import { faultsOf, listMounts, listOwn } from '../telling/list.ts'

export type UploadPlan = Awaited<ReturnType<typeof planUploads>>

export const uploadPlan: Command = {
  name: 'upload-plan',
  summary: 'list what to upload to a bucket behind a CDN, in which order',
  about: `Prints a line for each file that a CDN, the option host, serves: its key in a
bucket, its size, and the Content-Type, Content-Encoding and Cache-Control with
which a server would send it, immutable files first. Fails, and names them, where
files are missing or cannot be read.

With --json, each file has its SHA-256, and the list the name of the release, which
changes with any file. Uploaded last, that JSON says which files the release needs.`,
  examples: [
    ['koa-fresh-assets upload-plan', 'Which keys?'],
    ['koa-fresh-assets upload-plan --json', 'For a script that uploads:']
  ],
  async run({ output, loadProject }) {
    const plan = await planUploads(await loadProject('deployment'))
    if (plan.problems.length > 0) return printProblems(output, { problems: plan.problems }, [])
    const rows = plan.files.map(({ key, size, type, encoding = '', cacheControl }) => {
      return [key, formatBytes(size), type, encoding, cacheControl]
    })
    const heading = ['key', 'size', 'type', 'encoding', 'cache-control']
    return output.result(plan, table([heading, ...rows], [1]))
  }
}

const CONCURRENCY = 8

/** @throws AssetError for a missing or broken manifest */
async function planUploads(given: Project) {
  // The options are those of a server, not of `precompile`.
  const project = given.changed({ env: given.env }, false)
  const pipeline = new Pipeline(project, warnOnce())
  if (pipeline.failure) throw pipeline.failure
  await pipeline.load()
  const inMounts = await inParallel(project.mounts, 1, pathsIn)
  const paths = [...new Set([...(await ownPaths(project)), ...inMounts.flat()])]
  const found = await inParallel(paths, CONCURRENCY, path => uploadsOf(pipeline, path))
  const uploads = found.flatMap(each => each.uploads)
  const files = uploads.toSorted((a, b) => rank(a) - rank(b) || (a.key < b.key ? -1 : 1))
  const missing = (await listMounts(project)).flatMap(each => faultsOf(each, ': build again'))
  const problems = [...missing, ...found.flatMap(each => each.problems)]
  /** A problem is a file that pages name but a server would not send; with any, the plan is not a release. */
  return { release: digestOf(JSON.stringify(files)), files, problems }
}

const rank = (file: { cacheControl: string }) => (/\bimmutable\b/.test(file.cacheControl) ? 0 : 1)

async function ownPaths(project: Project): Promise<readonly string[]> {
  if (project.apps.length === 0) return []
  const { assets } = await readNames(manifestFile(project))
  const own = await withSources(project, warnOnce(), sources => listOwn(project, sources, assets))
  return own.flatMap(({ path, entry }) => {
    const wanted = locate(path, project)
    const isFingerprinted = typeof wanted === 'object' && wanted.app.fingerprint
    return isFingerprinted ? (entry?.target ?? []) : path
  })
}

/** Lists files of a mount with a manifest: URLs of the host lead only to those that it names, or that these load. */
async function pathsIn(mount: MountSettings): Promise<readonly string[]> {
  const names = new Set(mount.manifest === undefined ? [] : await requestableFiles(mount.dir))
  const isExcluded = excluderOf(mount.exclude ?? [])
  return [...names].flatMap(name => {
    const path = `${mount.urlPath}/${name}`
    const original = withoutCodingExtension(name)
    const isCopy = (original !== name && names.has(original)) || splitDelta(name) !== undefined
    return isCopy || isExcluded(name) || !isMounted(path, mount) ? [] : encodePath(path)
  })
}

async function uploadsOf({ settings, directories }: Pipeline, path: string) {
  const wanted = locate(path, settings)
  if (typeof wanted !== 'object') return { uploads: [], problems: [] }
  const mounted = await directories.findInMounts(wanted)
  const found =
    mounted ?? (settings.servesPublic ? await directories.public.find(wanted) : undefined)
  const key = (decodeURIComponent(settings.base) + wanted.path).slice(1)
  const uploads = await inParallel(found?.variants ?? [], 1, each => uploadOf(each, key, settings))
  const file = found?.variants[0].file ?? fileOf(wanted, settings)
  const expected = found ? Array.from(found.copies.keys(), ({ extension }) => extension) : ['']
  const faults = await inParallel(expected, CONCURRENCY, async extension => {
    const message = await faultOf(file + extension)
    return message === undefined ? [] : [{ path: path + extension, message }]
  })
  return { uploads, problems: faults.flat() }
}

async function uploadOf(variant: Variant, key: string, { root }: Project) {
  const { coding, file, size, ok } = variant
  const fields = new Map(ok.fields.map(([name, value]) => [name.toLowerCase(), value]))
  const { integrity } = await checksumsOf({ copyOf: file }, ['sha256'])
  const extension = CODINGS.find(({ name }) => name === coding)?.extension ?? ''
  return {
    /** The decoded URL path with the base, without its first slash; a compressed copy's ends in its extension. */
    key: key + extension,
    file: pathFrom(root, file),
    type: fields.get('content-type') ?? '',
    /** The content coding; undefined for a file that is not a compressed copy. */
    encoding: fields.get('content-encoding'),
    cacheControl: fields.get('cache-control') ?? '',
    size,
    /** The SHA-256 in base64, as S3 has it. */
    sha256: integrity[0]?.replace('sha256-', '') ?? ''
  }
}

const fileOf = ({ path, mounts: [mount] }: Wanted, settings: Project) =>
  mount ? join(mount.dir, path.slice(mount.urlPath.length)) : publicFile(settings, path)

/** Returns undefined for a readable file: a server has another reason for not sending it. */
async function faultOf(file: string): Promise<string | undefined> {
  try {
    return (await withFile(file, () => true)) ? undefined : `is missing: ${REMEDY}`
  } catch (error) {
    return `cannot be read, so no server would send it: ${reasonOf(error)}`
  }
}
