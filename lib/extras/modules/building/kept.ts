// Keeps a build of packages in `node_modules/.cache`, so that a server that restarts builds nothing.
import { readFile, readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { digestOf } from '../../../runtime/files/digest.ts'
import { realpathOf, statOf, undefinedIfMissing } from '../../../runtime/files/disk.ts'
import { observeAll, recheck, type Observation } from '../../../publishing/building/observation.ts'
import { makeDirectory } from '../../../publishing/writing/write.ts'
import { writeAtomically } from '../../../publishing/writing/write.ts'
import { nodeModulesFrom } from '../../../publishing/compilers/compiler.ts'
import type { Built } from './build.ts'

export interface KeptBuild extends Omit<Built, 'texts' | 'inputs'> {
  /** The absolute path, without links. */
  readonly directory: string
  /** The names of the scripts and source maps in it. */
  readonly names: readonly string[]
  readonly inputs: readonly Observation[]
}

const FILE = 'list'
const HOUR_MS = 3_600_000

/** @param app its name: it has one build for each condition */
export async function directoryFor(root: string, app: string, condition: string): Promise<string> {
  const name = join('.cache/koa-fresh-assets/npm', digestOf(`${root}\n${app}\n${condition}`))
  const folders = nodeModulesFrom(root)
  for (const folder of folders) if (await statOf(folder)) return join(folder, name)
  return join(folders[0] ?? root, name)
}

/**
 * @param key tells everything that it was made from, but for files
 * @returns undefined where there is none, or it is not whole
 */
export async function restoreBuild(directory: string, key: string): Promise<KeptBuild | undefined> {
  const written = await undefinedIfMissing(readFile(join(directory, FILE)))
  const body = written?.subarray(digestOf('').length)
  if (!written || !body?.length || !written.equals(sealed(key, body))) return undefined
  const kept = deserialize(body) as KeptBuild
  return (await isWhole(kept)) ? kept : undefined
}

/** Another version of Node may not read it. */
function sealed(key: string, body: Buffer): Buffer {
  const seal = digestOf(Buffer.concat([Buffer.from(process.version + key), body]))
  return Buffer.concat([Buffer.from(seal), body])
}

export async function isWhole({ directory, names }: KeptBuild): Promise<boolean> {
  const written = await Promise.all(names.map(name => statOf(join(directory, name))))
  return written.every(Boolean)
}

/**
 * Each build has a folder of its own, with the digest of its scripts as name, and the last one is in the list: other
 * processes may use, or write, another one.
 */
export async function keepBuild(
  directory: string,
  key: string,
  { texts, inputs, ...built }: Built
): Promise<KeptBuild> {
  await makeDirectory(directory)
  const real = (await realpathOf(directory)) ?? directory
  const own = join(real, digestOf(JSON.stringify([...texts])))
  const names = [...texts.keys()]
  const kept = { ...built, directory: own, names, inputs: await observeAll(inputs) }
  if (!(await isWhole(kept))) {
    for (const [name, text] of texts) {
      const file = join(own, name)
      await makeDirectory(dirname(file))
      await writeAtomically(file, Buffer.from(text))
    }
  }
  await writeAtomically(join(real, FILE), sealed(key, serialize(kept)))
  await removeOlder(real, own)
  return kept
}

/** Another process may use what is younger. */
async function removeOlder(directory: string, own: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name)
    const stats = path === own ? undefined : await statOf(path)
    if (stats?.isDirectory() && Date.now() - Number(stats.mtimeMs) > HOUR_MS)
      await rm(path, { recursive: true, force: true, maxRetries: 3 })
  }
}

export async function isUnchanged(inputs: readonly Observation[]): Promise<boolean> {
  return (await Promise.all(inputs.map(recheck))).every(Boolean)
}
