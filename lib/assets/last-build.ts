// What the last precompile saw and wrote, so that the next one looks only at what changed. A file is
// taken for unchanged by its whole mark: inode and change time cannot be set back, as an mtime can.
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { builtInCompilers } from './compilers.ts'
import { WRITABLE_CODINGS } from './compress.ts'
import { isDirectory } from './directories.ts'
import { errorCode, missing, statOf, type Mark } from './disk.ts'
import { digestOf } from './fingerprint.ts'
import type { Built, Drafted } from './finish-build.ts'
import type { Reference } from './references.ts'
import type { Draft } from './render.ts'
import type { Settings } from './settings.ts'
import type { Source, Sources } from './sources.ts'
import type { Sums } from './sums.ts'
import type { Written } from './write-build.ts'
import { writeWhole } from './write-whole.ts'

export interface LastBuild {
  /** What was read of an asset, when nothing of it changed since. */
  reuse(path: string, source: Source): Promise<Drafted | undefined>
  keep(path: string, source: Source, drafted: Drafted): void
  /** What was written of an asset, when nobody touched it since. */
  written(built: Built): Promise<Written | undefined>
  keepWritten(built: Built, written: Written, files: readonly string[]): Promise<void>
  save(): Promise<void>
}

/** A mark in one word. */
type Word = string
type Files = readonly (readonly [path: string, mark: Word])[]

interface Read {
  readonly file: string
  readonly inputs: Files
  readonly sums?: Sums | undefined
  /** Absent: its bytes are the source's. */
  readonly code?: string | undefined
  readonly references?: readonly Reference[] | undefined
  readonly map?: string | undefined
}

interface Wrote {
  readonly digest: string
  readonly mtime: string
  readonly smallest: number
  readonly files: Files
}

interface State {
  readonly key: string
  /** What a compiler's result depends on beside its inputs. */
  readonly ground: string
  readonly read: Record<string, Read>
  readonly wrote: Record<string, Wrote>
}

// Changes with what this file writes, and with what a draft is.
const FORMAT = 2
/** Kernels stamp files with a clock that ticks every 10 ms at the slowest. */
const TICK_MS = 20n
const PEERS = ['sass-embedded', 'sass', 'less', 'esbuild']
/** Longer code is compiled again rather than kept. */
const MAX_CODE = 256 * 1024

/** Without a `node_modules` to keep it in, nothing is remembered. */
export async function openLastBuild(
  settings: Settings,
  sources: Sources,
  minify: boolean
): Promise<LastBuild> {
  const folder = nodeModulesAbove(settings.root)
  const name = digestOf(Buffer.from(join(settings.publicDir, settings.prefix)))
  const file = folder && join(folder, '.cache/koa-fresh-assets', `${name}.json`)
  const [key, ground] = [keyOf(settings, sources, minify), await groundOf(settings, sources)]
  const known = await load(file, key)
  // What changed so recently may change again without a new mark.
  const settledBefore = (BigInt(Date.now()) - TICK_MS) * 1_000_000n
  const read = new Map<string, Read>()
  const wrote = new Map<string, Wrote>()
  return {
    async reuse(path, source) {
      const last = known?.read.get(path)
      if (last?.file !== source.file || (source.compiler && !isBuiltIn(source))) return undefined
      if ((source.compiler || last.map !== undefined) && known?.ground !== ground) return undefined
      const marks = await marksOf(last.inputs)
      if (!marks) return undefined
      read.set(path, last)
      return revive(last, source, marks)
    },
    keep(path, source, { draft, sums }) {
      // Nobody can tell whether a compiler of the user's own is what it was.
      if (source.compiler && !isBuiltIn(source)) return
      const { inputs, text, content, map } = draft
      const code = 'copyOf' in content ? undefined : Buffer.from(content).toString()
      const isExact = text === undefined || text.code === code
      const isOld = inputs.every(({ mark }) => mark.ctimeNs < settledBefore)
      if (
        !draft.isSettled ||
        !isOld ||
        !isExact ||
        (code?.length ?? 0) + (map?.length ?? 0) > MAX_CODE
      )
        return
      const files = inputs.map(({ path, mark }) => [path, wordOf(mark)] as const)
      const references = text?.references
      read.set(path, { file: source.file, inputs: files, sums, code, references, map })
    },
    async written({ path, digest, mtimeNs }) {
      const last = known?.wrote.get(path)
      if (last?.digest !== digest || last.mtime !== String(mtimeNs)) return undefined
      if (!(await marksOf(last.files))) return undefined
      wrote.set(path, last)
      return { smallest: last.smallest, isNew: false }
    },
    async keepWritten({ path, digest, mtimeNs }, { smallest }, names) {
      if (!file) return
      const files = await Promise.all(
        names.map(async name => {
          const mark = await statOf(name)
          return mark ? [[name, wordOf(mark)] as const] : []
        })
      )
      wrote.set(path, { digest, mtime: String(mtimeNs), smallest, files: files.flat() })
    },
    async save() {
      if (!file) return
      const state = {
        key,
        ground,
        read: Object.fromEntries(read),
        wrote: Object.fromEntries(wrote)
      }
      const content = Buffer.from(JSON.stringify(state satisfies State))
      await writeWhole(file, content, BigInt(Date.now()) * 1_000_000n).catch(unlessDisk)
    }
  }
}

function revive(
  { inputs, sums, code, references, map }: Read,
  source: Source,
  marks: Mark[]
): Drafted {
  const content = code === undefined ? { copyOf: source.file } : Buffer.from(code)
  const dependencies = inputs.slice(1).map(([path]) => path)
  const draft: Draft = {
    content,
    text: code !== undefined && references ? { code, references, dependencies } : undefined,
    inputs: inputs.map(([path], at) => ({ path, mark: marks[at] as Mark })),
    mtimeNs: marks.reduce((newest, { mtimeNs }) => (mtimeNs > newest ? mtimeNs : newest), 0n),
    isSettled: true,
    map
  }
  return { draft, sums }
}

async function load(file: string | undefined, key: string) {
  const text = file && (await missing(readFile(file, 'utf8')))
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

/** The marks of files that are all as they were. */
async function marksOf(files: Files): Promise<Mark[] | undefined> {
  const marks = await Promise.all(
    files.map(async ([path, word]) => {
      const mark = await statOf(path)
      return mark && wordOf(mark) === word ? mark : undefined
    })
  )
  return marks.includes(undefined) ? undefined : (marks as Mark[])
}

function wordOf({ dev, ino, size, mtimeNs, ctimeNs }: Mark): Word {
  return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`
}

function keyOf(settings: Settings, sources: Sources, minify: boolean): string {
  const apps = settings.apps.map(app => [
    ...[app.name, app.urlPrefix, app.integrity, app.fingerprint],
    sources.directories(app)
  ])
  const codings = WRITABLE_CODINGS.map(({ name }) => name)
  const { env, symlinks, root } = settings
  return digestOf(
    Buffer.from(
      JSON.stringify([FORMAT, process.version, minify, root, env, symlinks, codings, apps])
    )
  )
}

/** Another compiler, or any file that came or went, may turn the same source into something else. */
async function groundOf({ root, apps }: Settings, sources: Sources): Promise<string> {
  const peers = await Promise.all(PEERS.map(name => statAbove(root, name)))
  const folders = (await Promise.all(apps.map(app => sources.folders(app)))).flat()
  const installed = peers.map(mark => (mark ? wordOf(mark) : 'none'))
  const seen = folders.map(
    ([path, mark]) => `${path} ${mark ? wordOf(mark) : performance.timeOrigin + performance.now()}`
  )
  return digestOf(Buffer.from([...installed, ...seen.toSorted()].join('\n')))
}

function isBuiltIn({ compiler }: Source): boolean {
  return builtInCompilers.some(one => one === compiler)
}

function nodeModulesAbove(directory: string): string | undefined {
  const folder = join(directory, 'node_modules')
  if (isDirectory(folder)) return folder
  return dirname(directory) === directory ? undefined : nodeModulesAbove(dirname(directory))
}

async function statAbove(directory: string, name: string): Promise<Mark | undefined> {
  const stats = await statOf(join(directory, 'node_modules', name, 'package.json'))
  if (stats || dirname(directory) === directory) return stats
  return statAbove(dirname(directory), name)
}

/** A place that cannot be written costs the next run its time, and nothing else. */
function unlessDisk(error: unknown): void {
  if (errorCode(error) === undefined) throw error
}
