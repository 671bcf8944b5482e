// Keeps a build of packages in `node_modules/.cache`, so that a server that restarts builds nothing.
import { readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { digestOf } from '../../../files/digest.ts'
import { realpathOf, statOf, undefinedIfMissing } from '../../../files/disk.ts'
import { observeAll, recheck, type Observation } from '../../../files/observation.ts'
import { makeDirectory } from '../../../files/writing/temporary.ts'
import { writeAtomically } from '../../../files/writing/atomic-write.ts'
import { nodeModulesFrom } from '../../../assets/compilers/compiler.ts'
import type { Built } from './build.ts'

export interface KeptBuild extends Omit<Built, 'texts' | 'inputs'> {
  /** Everything that it was made from, but for files. */
  readonly key: string
  /** The absolute path, without links. */
  readonly directory: string
  /** The names of the scripts and source maps in it. */
  readonly names: readonly string[]
  readonly inputs: readonly Observation[]
}

const FILE = 'build.json'

/** @param app its name: it has one build for each condition */
export async function directoryFor(root: string, app: string, condition: string): Promise<string> {
  const name = join('.cache/koa-fresh-assets/npm', digestOf(`${root}\n${app}\n${condition}`))
  const folders = nodeModulesFrom(root)
  for (const folder of folders) if (await statOf(folder)) return join(folder, name)
  return join(folders[0] ?? root, name)
}

/** @returns undefined where there is none, or it is not whole */
export async function restoreBuild(directory: string, key: string): Promise<KeptBuild | undefined> {
  const text = await undefinedIfMissing(readFile(join(directory, FILE), 'utf8'))
  const end = text?.indexOf('\n') ?? -1
  if (text === undefined || digestOf(text.slice(end + 1)) !== text.slice(0, end)) return undefined
  const kept = JSON.parse(text.slice(end + 1), reviver) as KeptBuild
  const written = await Promise.all(kept.names.map(name => statOf(join(directory, name))))
  if (kept.key !== key || !written.every(Boolean)) return undefined
  return { ...kept, directory: (await realpathOf(directory)) ?? directory }
}

/** Takes the place of an earlier build in the same directory. */
export async function keepBuild(
  directory: string,
  key: string,
  { texts, inputs, ...built }: Built
): Promise<KeptBuild> {
  // A file may be a folder now.
  await rm(directory, { recursive: true, force: true, maxRetries: 3 })
  await makeDirectory(directory)
  const names = [...texts.keys()]
  const kept = { ...built, key, directory, names, inputs: await observeAll(inputs) }
  for (const [name, text] of texts) {
    const file = join(directory, name)
    await makeDirectory(dirname(file))
    await writeAtomically(file, Buffer.from(text))
  }
  const text = JSON.stringify(kept, replacer)
  await writeAtomically(join(directory, FILE), Buffer.from(`${digestOf(text)}\n${text}`))
  return { ...kept, directory: (await realpathOf(directory)) ?? directory }
}

export async function isUnchanged(inputs: readonly Observation[]): Promise<boolean> {
  return (await Promise.all(inputs.map(recheck))).every(Boolean)
}

const replacer = (_: string, value: unknown) => {
  if (typeof value === 'bigint') return { bigint: String(value) }
  return value instanceof Map ? { entries: [...(value as Map<string, unknown>)] } : value
}

const reviver = (_: string, value: unknown) => {
  const { bigint, entries } = (value ?? {}) as { bigint?: unknown; entries?: unknown }
  if (typeof bigint === 'string') return BigInt(bigint)
  return Array.isArray(entries) ? new Map(entries as [string, unknown][]) : value
}
