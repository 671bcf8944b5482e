// What the last precompile saw and wrote, so that the next one looks only at what changed. A file is
// taken for unchanged by its whole stamp: inode and change time cannot be set back, as an mtime can.
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isUnchangedSince, waitForTick } from '../../../files/clock.ts'
import { builtInCompilers, PEERS } from '../../compilers/built-in.ts'
import { isDirectory } from '../../../files/at-start.ts'
import { errorCode, ifThere, statOf, type Stamp } from '../../../files/disk.ts'
import type { Built, Drafted } from '../finish-build.ts'
import { findPeer } from '../../compilers/peers.ts'
import type { Reference } from '../../rendering/references.ts'
import type { Draft } from '../../rendering/draft.ts'
import { asKept, lookAtKept, wordOf, type Kept } from './stored-stamps.ts'
import { isFileObservation, newestMtime, type Observation } from '../../../files/observation.ts'
import type { AppSettings, Settings } from '../../settings/settings.ts'
import type { Source } from '../../sources/catalog.ts'
import type { Sources } from '../../sources/sources.ts'
import type { Written } from '../writing/write-build.ts'
import { writeAtomically } from '../../../files/writing/atomic-write.ts'
import type { Checksums } from '../../../files/checksums.ts'
import { digestOf } from '../../../files/digest.ts'
import { WRITABLE_CODINGS } from '../../../files/codings.ts'

export interface LastBuild {
  /** What was read of an asset, when nothing of it changed since. */
  reuse(path: string, source: Source): Promise<Drafted | undefined>
  keep(path: string, source: Source, drafted: Drafted): void
  /** What was written of an asset, when nobody touched it since. */
  written(built: Built): Promise<Written | undefined>
  keepWritten(built: Built, written: Written, files: readonly string[]): Promise<void>
  save(): Promise<void>
}

interface Read {
  readonly file: string
  readonly inputs: readonly Kept[]
  readonly sums?: Checksums | undefined
  /** Absent: its bytes are the source's. */
  readonly code?: string | undefined
  readonly references?: readonly Reference[] | undefined
  readonly map?: string | undefined
}

interface Wrote {
  readonly digest: string
  readonly mtime: string
  readonly smallest: number
  readonly files: readonly Kept[]
}

interface State {
  readonly key: string
  /** What a compiler's result depends on beside its inputs. */
  readonly ground: string
  readonly read: Record<string, Read>
  readonly wrote: Record<string, Wrote>
}

// Changes with what this file writes, and with what a draft is.
const FORMAT = 3
/** Longer code is compiled again rather than kept. */
const MAX_CODE = 256 * 1024

/** Without a `node_modules` to keep it in, nothing is remembered. */
export async function openLastBuild(
  settings: Settings,
  sources: Sources,
  minifies: (app: AppSettings) => boolean
): Promise<LastBuild> {
  const folder = nodeModulesAbove(settings.root)
  const name = digestOf(Buffer.from(join(settings.publicDir, settings.prefix)))
  const file = folder && join(folder, '.cache/koa-fresh-assets', `${name}.json`)
  const [key, ground] = [keyOf(settings, sources, minifies), await groundOf(settings, sources)]
  const known = await load(file, key)
  const openedAt = Date.now()
  const read = new Map<string, Read>()
  const wrote = new Map<string, Wrote>()
  const writtenNow = new Map<string, readonly Stamp[]>()

  /** What was written so recently that it may change again without a new stamp is read by the next run. */
  const forgetYoung = async (): Promise<void> => {
    if (writtenNow.size > 0) await waitForTick()
    const now = Date.now()
    for (const [path, stamps] of writtenNow) {
      if (!stamps.every(stamp => isUnchangedSince(stamp, now))) wrote.delete(path)
    }
  }

  return {
    async reuse(path, source) {
      const last = known?.read.get(path)
      if (last?.file !== source.file || (source.compiler && !isBuiltIn(source))) return undefined
      if ((source.compiler || last.map !== undefined) && known?.ground !== ground) return undefined
      const inputs = await lookAtKept(last.inputs)
      if (!inputs) return undefined
      read.set(path, { ...last, inputs: inputs.map(asKept) })
      return revive(last, source, inputs)
    },
    keep(path, source, { draft, sums }) {
      // Nobody can tell whether a compiler of the user's own is what it was.
      if (source.compiler && !isBuiltIn(source)) return
      const { inputs, text, content, map } = draft
      const code = 'copyOf' in content ? undefined : Buffer.from(content).toString()
      const isExact = text === undefined || text.code === code
      // What changed just before may change again without a new stamp.
      const isOld = inputs
        .filter(isFileObservation)
        .every(({ stamp }) => isUnchangedSince(stamp, openedAt))
      if (
        !draft.isSettled ||
        !isOld ||
        !isExact ||
        (code?.length ?? 0) + (map?.length ?? 0) > MAX_CODE
      )
        return
      const references = text?.references
      read.set(path, {
        ...{ file: source.file, inputs: inputs.map(asKept) },
        ...{ sums, code, references, map }
      })
    },
    async written({ path, digest, mtimeNs }) {
      const last = known?.wrote.get(path)
      if (last?.digest !== digest || last.mtime !== String(mtimeNs)) return undefined
      if (!(await lookAtKept(last.files))) return undefined
      wrote.set(path, last)
      return { smallest: last.smallest, isNew: false }
    },
    async keepWritten({ path, digest, mtimeNs }, { smallest }, names) {
      if (!file) return
      const stamps = await Promise.all(names.map(statOf))
      const files = names.flatMap((name, at) => {
        const stamp = stamps[at]
        return stamp ? [[name, wordOf(stamp)] as const] : []
      })
      wrote.set(path, { digest, mtime: String(mtimeNs), smallest, files })
      writtenNow.set(
        path,
        stamps.filter(stamp => stamp !== undefined)
      )
    },
    async save() {
      if (!file) return
      await forgetYoung()
      const state = {
        key,
        ground,
        read: Object.fromEntries(read),
        wrote: Object.fromEntries(wrote)
      }
      const content = Buffer.from(JSON.stringify(state satisfies State))
      await writeAtomically(file, content, BigInt(Date.now()) * 1_000_000n).catch(unlessDisk)
    }
  }
}

function revive(
  { sums, code, references, map }: Read,
  source: Source,
  inputs: readonly Observation[]
): Drafted {
  const content = code === undefined ? { copyOf: source.file } : Buffer.from(code)
  const files = inputs.filter(isFileObservation)
  const dependencies = files.slice(1).map(({ path }) => path)
  const draft: Draft = {
    content,
    text: code !== undefined && references ? { code, references, dependencies } : undefined,
    inputs,
    mtimeNs: newestMtime(files),
    isSettled: true,
    map
  }
  return { draft, sums }
}

async function load(file: string | undefined, key: string) {
  const text = file && (await ifThere(readFile(file, 'utf8')))
  if (!text) return undefined
  try {
    const state = JSON.parse(text) as State
    if (state.key !== key) return undefined
    const [read, wrote] = [Object.entries(state.read), Object.entries(state.wrote)]
    return { ground: state.ground, read: new Map(read), wrote: new Map(wrote) }
  } catch (error) {
    // Half of it is as good as nothing.
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined
    throw error
  }
}

function keyOf(
  settings: Settings,
  sources: Sources,
  minifies: (app: AppSettings) => boolean
): string {
  const apps = settings.apps.map(app => [
    ...[app.name, app.urlPrefix, app.integrity, app.fingerprint, minifies(app)],
    sources.of(app).directories
  ])
  const codings = WRITABLE_CODINGS.map(({ name }) => name)
  const { env, symlinks, root } = settings
  return digestOf(
    Buffer.from(JSON.stringify([FORMAT, process.version, root, env, symlinks, codings, apps]))
  )
}

/** Another compiler, or another list of folders to search, may turn the same source into something else. */
async function groundOf({ root, apps }: Settings, sources: Sources): Promise<string> {
  await Promise.all(apps.map(app => sources.of(app).verify()))
  const installed = await Promise.all(
    Array.from(PEERS, async name => {
      const manifest = (await findPeer(name, root))?.file
      const stamp = manifest && (await statOf(manifest))
      return stamp ? `${manifest} ${wordOf(stamp)}` : 'none'
    })
  )
  return digestOf(
    Buffer.from([...installed, ...apps.flatMap(app => sources.of(app).loadPaths)].join('\n'))
  )
}

function isBuiltIn({ compiler }: Source): boolean {
  return builtInCompilers.some(one => one === compiler)
}

function nodeModulesAbove(directory: string): string | undefined {
  const folder = join(directory, 'node_modules')
  if (isDirectory(folder)) return folder
  return dirname(directory) === directory ? undefined : nodeModulesAbove(dirname(directory))
}

/** A place that cannot be written costs the next run its time, and nothing else. */
function unlessDisk(error: unknown): void {
  if (errorCode(error) === undefined) throw error
}
