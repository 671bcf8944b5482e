// From a source to the bytes of its target, with all that these bytes were made from.
import { isUtf8 } from 'node:buffer'
import { extname } from 'node:path'
import { inspect } from 'node:util'
import { AssetError, CompileError, reasonOf } from '../../errors.ts'
import { isUnchangedSince } from '../../files/clock.ts'
import type { CompilerInput, CompilerOutput } from '../compilers/compiler.ts'
import {
  stampOf,
  readOpenFile,
  readSnapshot,
  realpathOf,
  statOf,
  withFile,
  type Stamp,
  type OpenFile
} from '../../files/disk.ts'
import { findReferences, replaceReferences, type Reference } from './references.ts'
import type { Settings } from '../settings/settings.ts'
import type { Source } from '../sources/catalog.ts'
import {
  isFileObservation,
  newestMtime,
  observe,
  observeAbsence,
  type Observation,
  type FileObservation
} from '../../files/observation.ts'
import { isInDirectory } from '../../files/containment.ts'
import type { Content, Copy } from '../../files/content.ts'

/** A source read and compiled, its references found but not yet replaced. */
export interface Draft {
  readonly content: Content
  /** Undefined: nothing in it refers to another asset. */
  readonly text: Text | undefined
  readonly inputs: readonly Observation[]
  /** The newest mtime of source and dependencies. */
  readonly mtimeNs: bigint
  /** False when a dependency changed while it was being compiled: the next request compiles again. */
  readonly isSettled: boolean
  /** Of what was minified: the map of the text as it is here, as JSON. */
  readonly map?: string | undefined
}

interface Text {
  readonly code: string
  readonly references: readonly Reference[]
  /** Absolute paths of what was compiled in: a reference may have been written there. */
  readonly dependencies: readonly string[]
}

const COPY_FROM = 1024 * 1024

/**
 * Undefined: the source is gone, is no regular file, or leads out of its directory.
 *
 * @param sourceMap asks the compiler for an inline map, whatever the environment
 */
export async function draft(
  settings: Settings,
  loadPaths: readonly string[],
  name: string,
  source: Source,
  sourceMap?: boolean
): Promise<Draft | undefined> {
  const type = textType(name)
  const isAllowed = judgeOf(settings, source)
  const readAt = Date.now()
  const read = await withFile(source.file, async opened => {
    if (!(await isAllowed(opened))) return undefined
    const isBig = !type && !source.compiler && opened.stats.size > COPY_FROM
    return isBig ? opened.stats : readOpenFile(opened)
  })
  if (!read) return undefined
  if (!('bytes' in read)) return copy(source, read, isAllowed)
  const input = observe(source.file, read.stamp, () => read.bytes, readAt)
  if (!source.compiler && (!type || !isUtf8(read.bytes))) return plain(read.bytes, input)
  const given = { path: source.file, loadPaths, env: settings.env, ...(sourceMap && { sourceMap }) }
  const output = await compile(given, source, read.bytes)
  return draftText(source, { bytes: read.bytes, input, type }, output)
}

/** The bytes of the target, once each reference has its URL. */
export function finish({ content, text }: Draft, urls: readonly (string | undefined)[]): Content {
  if (!text || urls.every(url => url === undefined)) return content
  return Buffer.from(replaceReferences(text.code, text.references, urls))
}

function copy(source: Source, stamp: Stamp, isAllowed: Copy['isAllowed']): Draft {
  const inputs = [{ path: source.file, stamp: stampOf(stamp) }]
  const { mtimeNs } = stamp
  const isSettled = isUnchangedSince(stamp, Date.now())
  return {
    content: { copyOf: source.file, isAllowed },
    text: undefined,
    inputs,
    mtimeNs,
    isSettled
  }
}

function plain(content: Buffer, input: FileObservation): Draft {
  const { mtimeNs } = input.stamp
  return { content, text: undefined, inputs: [input], mtimeNs, isSettled: true }
}

/** Only text that may refer to other assets is read as text; bytes of another encoding stay as they are. */
function textType(name: string): 'css' | 'js' | undefined {
  const extension = extname(name).toLowerCase()
  if (extension === '.css') return 'css'
  return extension === '.js' || extension === '.mjs' ? 'js' : undefined
}

/** What was opened is judged, wherever a link that is swapped meanwhile leads. */
function judgeOf({ symlinks }: Settings, { directory }: Source) {
  return async (opened: OpenFile): Promise<boolean> => {
    if (symlinks === 'follow') return true
    const real = await realpathOf(directory)
    return real !== undefined && isInDirectory({ symlinks }, { path: directory, real }, opened)
  }
}

interface Read {
  readonly bytes: Buffer
  readonly input: FileObservation
  readonly type: 'css' | 'js' | undefined
}

interface Compiled extends Required<CompilerOutput> {
  /** Milliseconds. */
  readonly startedAt: number
}

async function draftText(
  source: Source,
  { bytes, input, type }: Read,
  { code, dependencies, startedAt }: Compiled
): Promise<Draft> {
  const others = await lookAt(dependencies, source)
  const references = type ? findReferences(type, code) : []
  const inputs = [input, ...others]
  const read = others.filter(isFileObservation)
  return {
    content: source.compiler ? Buffer.from(code) : bytes,
    text: references.length > 0 ? { code, references, dependencies: pathsOf(read) } : undefined,
    inputs,
    mtimeNs: newestMtime([input, ...read]),
    isSettled: read.every(({ stamp }) => isUnchangedSince(stamp, startedAt))
  }
}

function pathsOf(files: readonly FileObservation[]): readonly string[] {
  return files.map(({ path }) => path)
}

async function compile(
  given: Omit<CompilerInput, 'code'>,
  source: Source,
  bytes: Buffer
): Promise<Compiled> {
  const startedAt = Date.now()
  const code = new TextDecoder().decode(bytes)
  if (!source.compiler) return { code, dependencies: [], startedAt }
  if (!isUtf8(bytes)) throw new CompileError('the source must be UTF-8', { file: source.file })
  try {
    return { ...checked(await source.compiler.compile({ code, ...given }), source), startedAt }
  } catch (error) {
    if (error instanceof AssetError) throw error
    throw asCompileError(error, source)
  }
}

function checked(output: unknown, source: Source): Required<CompilerOutput> {
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
  const failure = new CompileError(reasonOf(error), { file: source.file }, { cause: error })
  const { name, stack } = (error ?? {}) as Partial<Error>
  // A bug in a compiler of the user's own is found by where it was thrown.
  if (stack !== undefined && BUGS.has(name ?? '')) failure.stack += `\n[cause]: ${stack}`
  return failure
}

const BUGS = new Set(['TypeError', 'ReferenceError', 'RangeError'])

async function lookAt(dependencies: readonly string[], source: Source): Promise<Observation[]> {
  const others = new Set(dependencies)
  others.delete(source.file)
  const absent: string[] = []
  const files = await Promise.all(
    [...others].map(async path => {
      const readAt = Date.now()
      const read = await readSnapshot(path)
      if (read) return observe(path, read.stamp, () => read.bytes, readAt)
      if (!(await statOf(path))) absent.push(path)
      return undefined
    })
  )
  return [...files.filter(file => file !== undefined), ...(await observeAbsence(absent))]
}
