// From a source to the bytes of its target, with all that these bytes were made from.
import { isUtf8 } from 'node:buffer'
import { extname, join } from 'node:path'
import { inspect } from 'node:util'
import { CompileError, AssetError } from '../errors.ts'
import type { CompilerOutput } from './compilers.ts'
import { isInside, markOf, readWhole, realpathOf, statOf, type Mark } from './disk.ts'
import { seen, type Seen } from './mtime-index.ts'
import { findReferences, replaceReferences, type Reference } from './references.ts'
import type { AppSettings, Settings } from './settings.ts'
import type { Source, Sources } from './sources.ts'
import type { Content } from './write-whole.ts'

export interface Rendered {
  readonly content: Content
  readonly inputs: readonly Seen[]
  /** The newest mtime of source and dependencies. */
  readonly mtimeNs: bigint
  /** False when a dependency changed while it was being compiled: the next request compiles again. */
  readonly isSettled: boolean
}

/** The URL with which a reference is replaced; undefined leaves it as it was written. */
export type ResolveReference = (
  app: AppSettings,
  name: string,
  source: Source,
  reference: Reference,
  dependencies: readonly string[]
) => Promise<string | undefined>

export interface RenderContext {
  readonly settings: Settings
  readonly sources: Sources
  readonly resolveReference: ResolveReference
}

const COPY_FROM = 1024 * 1024

/** Undefined: the source is gone, is no regular file, or leads out of its directory. */
export async function render(
  context: RenderContext,
  app: AppSettings,
  name: string,
  source: Source
): Promise<Rendered | undefined> {
  if (!(await isAllowed(context.settings, source))) return undefined
  const type = textType(name)
  if (!type && !source.compiler) {
    const stats = await statOf(source.file)
    if (!stats?.isFile()) return undefined
    if (stats.size > COPY_FROM) return copy(source, stats)
  }
  const read = await readWhole(source.file)
  if (!read) return undefined
  const input = seen(source.file, read.mark, () => read.bytes)
  if (!type || !isUtf8(read.bytes))
    return { content: read.bytes, inputs: [input], mtimeNs: read.mark.mtimeNs, isSettled: true }
  return renderText(context, app, name, source, { bytes: read.bytes, input, type })
}

function copy(source: Source, mark: Mark): Rendered {
  const inputs = [{ path: source.file, mark: markOf(mark) }]
  return { content: { copyOf: source.file }, inputs, mtimeNs: mark.mtimeNs, isSettled: true }
}

/** Only text that may refer to other assets is read as text; bytes of another encoding stay as they are. */
function textType(name: string): 'css' | 'js' | undefined {
  const extension = extname(name).toLowerCase()
  if (extension === '.css') return 'css'
  return extension === '.js' || extension === '.mjs' ? 'js' : undefined
}

/** Judged on real paths, at the moment of reading: a link may have been swapped since the listing. */
async function isAllowed({ symlinks }: Settings, source: Source): Promise<boolean> {
  if (symlinks === 'follow') return true
  const [real, top] = await Promise.all([realpathOf(source.file), realpathOf(source.directory)])
  if (real === undefined || top === undefined) return false
  return symlinks === 'deny' ? real === join(top, source.path) : isInside(top, real)
}

interface Read {
  readonly bytes: Buffer
  readonly input: Seen
  readonly type: 'css' | 'js'
}

async function renderText(
  context: RenderContext,
  app: AppSettings,
  name: string,
  source: Source,
  { bytes, input, type }: Read
): Promise<Rendered> {
  const startedAt = BigInt(Date.now()) * 1_000_000n
  const { code, dependencies = [] } = await compile(context, app, source, bytes)
  const others = await lookAt(dependencies, source)
  const references = findReferences(type, code)
  const urls = await Promise.all(
    references.map(reference =>
      context.resolveReference(app, name, source, reference, dependencies)
    )
  )
  const text = replaceReferences(code, references, urls)
  const inputs = [input, ...others]
  return {
    content: text === code && !source.compiler ? bytes : Buffer.from(text),
    inputs,
    mtimeNs: inputs.reduce((newest, { mark }) => later(newest, mark.mtimeNs), 0n),
    isSettled: others.every(({ mark }) => mark.ctimeNs < startedAt)
  }
}

function later(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

async function compile(
  { settings, sources }: RenderContext,
  app: AppSettings,
  source: Source,
  bytes: Buffer
): Promise<CompilerOutput> {
  const code = new TextDecoder().decode(bytes)
  if (!source.compiler) return { code }
  const loadPaths = sources.loadPaths(app)
  try {
    const output = await source.compiler.compile({
      code,
      path: source.file,
      loadPaths,
      env: settings.env
    })
    return checked(output, source)
  } catch (error) {
    if (error instanceof AssetError) throw error
    throw asCompileError(error, source)
  }
}

function checked(output: unknown, source: Source): CompilerOutput {
  const { code, dependencies = [] } = (output ?? {}) as Partial<CompilerOutput>
  const listed = Array.isArray(dependencies) && dependencies.every(path => typeof path === 'string')
  if (typeof code === 'string' && listed) return { code, dependencies }
  throw new CompileError(
    `the compiler for ${extname(source.file)} must return { code, dependencies }, got ${inspect(output, { depth: 0 })}`,
    { file: source.file }
  )
}

/** Whatever a compiler throws, a string or nothing at all, becomes an error that names the source. */
function asCompileError(error: unknown, source: Source): CompileError {
  const reason = error instanceof Error ? error.message : inspect(error)
  return new CompileError(reason, { file: source.file }, { cause: error })
}

async function lookAt(dependencies: readonly string[], source: Source): Promise<Seen[]> {
  const others = new Set(dependencies)
  others.delete(source.file)
  const all = await Promise.all(
    [...others].map(async path => {
      const read = await readWhole(path)
      return read && seen(path, read.mark, () => read.bytes)
    })
  )
  return all.filter(one => one !== undefined)
}
