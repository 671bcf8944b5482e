// Builds packages in a separate process, as Rolldown would hold hundreds of megabytes in a server, and keeps the build
// in `node_modules/.cache`, so that a restarted server builds nothing.
import { fork } from 'node:child_process'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { deserialize, serialize } from 'node:v8'
import type { SourceFile } from '../../../runtime/app/extra.ts'
import { reasonOf } from '../../../runtime/errors.ts'
import { digestOf } from '../../../runtime/files/digest.ts'
import { errorCode, realpathOf, statOf, undefinedIfMissing } from '../../../runtime/files/disk.ts'
import {
  isFileObservation,
  observeAll,
  type Observation
} from '../../../publishing/sources/observation.ts'
import { nodeModulesFrom } from '../../../publishing/compilers/compiler.ts'
import { makeDirectory, touch, writeAtomically } from '../../../publishing/writing/write.ts'
import { OPTION, splitSpecifier, unusable } from '../packages.ts'
import type { Needed } from '../resolving.ts'
import { loadRolldown } from '../rolldown.ts'
import { buildPackages, type Built } from './build.ts'
import { specifiersOf } from './read.ts'

/** A build on disk. Among its files, the modules that it made come first. */
export interface KeptBuild extends Omit<Built, 'texts'> {
  readonly directory: string
  inputs: readonly Observation[]
}

interface Job {
  readonly wanted: Needed
  readonly directory: string
  /** A text of everything from which the build is made except files. */
  readonly key: string
}

type Outcome = KeptBuild | (Pick<KeptBuild, 'inputs'> & { readonly failure: string })

/** The URL of this code; undefined if everything was joined into one CommonJS file. */
const OWN_URL = import.meta.url as string | undefined

/** Builds in another process, or in this one if none may be started. */
export async function buildApart(job: Job): Promise<Outcome> {
  const file = OWN_URL && fileURLToPath(new URL(`build-main${extname(OWN_URL)}`, OWN_URL))
  const mayStart = process.permission?.has('child') ?? true
  if (!file || !mayStart || !(await statOf(file))) return build(job)
  // Flags of the server, such as --watch and --inspect, must not apply to its builds.
  const started = file.endsWith('.ts')
    ? { execArgv: process.execArgv, cwd: dirname(file) }
    : { execArgv: [] }
  // This variable would make Node send messages of its own about loaded modules.
  const env = { ...process.env, WATCH_REPORT_DEPENDENCIES: undefined }
  const child = fork(file, { ...started, env, serialization: 'advanced' })
  try {
    return await new Promise<Outcome>((done, fail) => {
      child.once('error', fail)
      child.once('message', outcome => done(outcome as Outcome))
      child.once('exit', (code, signal) =>
        fail(unusable(`the build of packages ended with ${signal ?? `code ${code}`}`))
      )
      child.send(job)
    })
  } finally {
    child.kill()
  }
}

/** Builds again if a file has changed since the build found it. @throws any error except that of a package */
export async function build(job: Job, attempts = 5): Promise<Outcome> {
  const { wanted, directory, key } = job
  const rolldown = await loadRolldown(OPTION, wanted.root)
  const { built, error, seen, inputs: read } = await buildPackages(rolldown, wanted)
  const inputs = await observeAll(read)
  const files = inputs.filter(isFileObservation).filter(({ path }) => seen.has(path))
  const areAsSeen = files.every(({ path, stamp }) => isDeepStrictEqual(seen.get(path), stamp))
  if (attempts > 1 && !areAsSeen) return build(job, attempts - 1)
  if (!built) return { inputs, failure: reasonOf(error) }
  try {
    return await keepBuild(directory, key, built, inputs)
  } catch (error) {
    // If `node_modules` is read-only, as in a container, the build is kept with temporary files.
    if (!READ_ONLY.has(errorCode(error) ?? '')) throw error
    const elsewhere = await mkdtemp(join(tmpdir(), 'koa-fresh-assets-'))
    return keepBuild(elsewhere, key, built, inputs)
  }
}

const READ_ONLY = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST'])
const FILE = 'list'
const HOUR_MS = 3_600_000

/** @param app the name of the app, which has one build for each condition */
export async function directoryFor(root: string, app: string, condition: string): Promise<string> {
  const name = join('.cache/koa-fresh-assets/npm', digestOf(`${root}\n${app}\n${condition}`))
  for (const folder of nodeModulesFrom(root)) if (await statOf(folder)) return join(folder, name)
  return join(root, 'node_modules', name)
}

export async function restoreBuild({ directory, key }: Omit<Job, 'wanted'>) {
  const written = await undefinedIfMissing(readFile(join(directory, FILE)))
  const body = written?.subarray(digestOf('').length)
  if (!written || !body?.length || !written.equals(sealed(key, body))) return undefined
  return deserialize(body) as KeptBuild
}

/** Adds a seal with the version of Node, as another version may not be able to read the serialized data. */
function sealed(key: string, body: Buffer) {
  const seal = digestOf(Buffer.concat([Buffer.from(process.version + key), body]))
  return Buffer.concat([Buffer.from(seal), body])
}

/** Keeps a build in its own folder, named by the digest of its scripts: other processes may use or write another. */
async function keepBuild(
  directory: string,
  key: string,
  { texts, ...built }: Built,
  inputs: readonly Observation[]
): Promise<KeptBuild> {
  await makeDirectory(directory)
  const real = (await realpathOf(directory)) ?? directory
  const own = join(real, digestOf(JSON.stringify([...texts])))
  const made = Array.from(texts.keys(), (name): SourceFile => {
    const specifiers = specifiersOf(name, built.imports.names)
    const [packageName] = splitSpecifier(specifiers?.[0] ?? '-')
    return { name, file: join(own, name), directory: own, specifiers, packageName }
  })
  const kept = { ...built, files: [...made, ...built.files], directory: own, inputs }
  const times = inputs.filter(isFileObservation).map(({ stamp }) => stamp.mtimeNs)
  const newest = times.reduce((last, time) => (time > last ? time : last), 0n)
  for (const [name, text] of texts) {
    const file = join(own, name)
    await makeDirectory(dirname(file))
    await writeAtomically(file, Buffer.from(text))
    // This time keeps a page that was requested before the build from being older than its scripts.
    await touch(file, newest)
  }
  await writeAtomically(join(real, FILE), sealed(key, serialize(kept)))
  for (const name of await readdir(real)) {
    const path = join(real, name)
    const stats = path === own ? undefined : await statOf(path)
    // Another process may use younger ones.
    if (stats?.isDirectory() && Date.now() - Number(stats.mtimeMs) > HOUR_MS)
      await rm(path, { recursive: true, force: true, maxRetries: 3 })
  }
  return kept
}
