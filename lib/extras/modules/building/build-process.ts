// Builds packages in a process that ends: Rolldown would keep hundreds of megabytes of a server.
import { fork } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { errorCode, statOf } from '../../../runtime/files/disk.ts'
import { observeAll, type Observation } from '../../../publishing/building/observation.ts'
import { reasonOf } from '../../../runtime/errors.ts'
import { buildPackages, type Built } from './build.ts'
import { keepBuild, type KeptBuild } from './kept.ts'
import { OPTION, unusable } from '../packages.ts'
import { loadRolldown } from '../rolldown.ts'
import type { Wanted } from '../resolving.ts'

interface Job {
  readonly wanted: Wanted
  readonly directory: string
  readonly key: string
}

interface Outcome {
  readonly kept?: KeptBuild
  /** A message, and what was read until then. */
  readonly failure?: { readonly message: string; readonly inputs: readonly Observation[] }
}

/** @throws any error but that of a package */
export async function build({ wanted, directory, key }: Job): Promise<Outcome> {
  const rolldown = await loadRolldown(OPTION, wanted.root)
  const built = await buildPackages(rolldown, wanted)
  if (!('error' in built)) return { kept: await keptIn(directory, key, built) }
  const { error, inputs } = built
  return { failure: { message: reasonOf(error), inputs: await observeAll(inputs) } }
}

/** A `node_modules` may be read-only, as in a container: the build is kept with temporary files then. */
async function keptIn(directory: string, key: string, built: Built): Promise<KeptBuild> {
  try {
    return await keepBuild(directory, key, built)
  } catch (error) {
    if (!READ_ONLY.has(errorCode(error) ?? '')) throw error
    return keepBuild(await mkdtemp(join(tmpdir(), 'koa-fresh-assets-')), key, built)
  }
}

const READ_ONLY = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST'])

/** The file of this code is undefined where everything was joined into one CommonJS file. */
const OWN_URL = import.meta.url as string | undefined

/** Builds here where no process may be started. */
export async function buildApart(job: Job): Promise<Outcome> {
  const file = OWN_URL && fileURLToPath(new URL(`build-main${extname(OWN_URL)}`, OWN_URL))
  const mayStart = process.permission?.has('child') ?? true
  if (!file || !mayStart || !(await statOf(file))) return build(job)
  // Flags of the server, such as --watch and --inspect, are none of its builds.
  const started = file.endsWith('.ts')
    ? { execArgv: process.execArgv, cwd: dirname(file) }
    : { execArgv: [] }
  const child = fork(file, { ...started, serialization: 'advanced' })
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
