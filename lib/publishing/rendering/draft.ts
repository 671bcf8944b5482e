// Reads and compiles a source, and records every file that its output depends on.
import { isUtf8 } from 'node:buffer'
import { extname } from 'node:path'
import { inspect } from 'node:util'
import { compiled } from '../../runtime/diagnostics.ts'
import { AssetError, CompileError, reasonOf } from '../../runtime/errors.ts'
import type { Checksums } from '../../runtime/files/digest.ts'
import { isSettled, realpathOf, stampOf } from '../../runtime/files/disk.ts'
import { isInPlace, type Boundary } from '../../runtime/files/containment.ts'
import { readOpenFile, withFile, type Content } from '../../runtime/files/open-file.ts'
import {
  isFileObservation,
  observe,
  observeAll,
  type FileObservation,
  type Observation
} from '../sources/observation.ts'
import type { ConfiguredOutput } from '../compilers/compiler.ts'
import { leadsFor, type Leads } from '../compilers/leads.ts'
import type { Compiler, CompilerInput } from '../../runtime/settings/compiler.ts'
import type { Project } from '../../runtime/app/extra.ts'
import type { Details } from '../../runtime/urls/manifest.ts'
import type { Source, Sourced } from '../sources/snapshot.ts'
import { isBare, loadModuleLexer, remedyFor } from '../references/modules.ts'
import {
  findReferences,
  mayBeAsset,
  replaceReferences,
  type Reference,
  type Referring,
  type Urls
} from '../references/references.ts'
import { finishScript } from './finish-script.ts'
import { shiftInlineMap } from './source-map.ts'

/** An asset whose source was read and compiled, with its references found but not yet replaced. */
export interface Draft extends Sourced {
  readonly content: Content
  /** The text with its references; undefined if nothing in it refers to another asset. */
  readonly text?: Text | undefined
  /** True if a word in the text shows that it may import: without such texts, names in views are not searched. */
  readonly mayImport?: boolean
  readonly inputs: readonly Observation[]
  /** False when a dependency changed during compilation: the next request compiles again. */
  readonly isSettled: boolean
  /** True if the text is neither its source's nor its compiler's, so places in it differ. */
  readonly isLowered?: boolean
  readonly warnings?: readonly string[] | undefined
  /** The source map of minified text, as JSON. */
  readonly map?: string | undefined
  /** The checksums of the content, once it is known to be final. */
  readonly sums?: Checksums | undefined
  readonly details?: Details | undefined
  readonly compileDuration?: number | undefined
  /** The path of the asset to which each reference leads; undefined leaves it unchanged. */
  readonly links?: readonly (string | undefined)[]
  /** The source map, as JSON, with which the text came and to which it refers. */
  readonly ownMap?: string | undefined
  /** The decoded paths of the assets that were bundled into it; undefined for one that contains only its source. */
  readonly sources?: readonly string[] | undefined
}

export interface Text extends Referring {
  /** The offset of a syntax error in a module, whose references are unknown then. */
  readonly unparsedAt?: number | undefined
  /** True if a module may import files that no reference names. */
  readonly isOpen?: boolean
  /** The bare specifiers, among `references` or left to the browser. */
  readonly bare: readonly Reference[]
  readonly refused: readonly Reference[]
  /** The absolute paths, with and without links, of the files compiled into it, from which a reference may come. */
  readonly dependencies: readonly string[]
  readonly leads?: Leads | undefined
  readonly encoding?: BufferEncoding | undefined
}

/** A larger file, in bytes, that needs no processing is never held in memory as a whole. */
const COPY_FROM = 1024 * 1024

interface Options extends Pick<CompilerInput, 'loadPaths' | 'sourceMap'> {
  readonly project: Project
}

export async function draft(
  { app, source, path }: Sourced,
  place: Boundary,
  options: Options
): Promise<Draft | undefined> {
  const asset = { app, source, path }
  const { file, compiler, name } = source
  const isProcessed = compiler !== undefined || textType(name) !== undefined
  const isAllowed = isInPlace(place)
  const readAt = Date.now()
  const read = await withFile(file, async opened => {
    if (!(await isAllowed(opened))) return undefined
    const isBig = !isProcessed && opened.stats.size > COPY_FROM
    return isBig ? { stamp: stampOf(opened.stats) } : readOpenFile(opened)
  })
  if (!read) return undefined
  if (!('bytes' in read)) {
    const { stamp } = read
    const content = { copyOf: file, isAllowed }
    const inputs = [{ path: file, stamp }]
    return { ...asset, content, inputs, isSettled: isSettled(stamp, Date.now()) }
  }
  const input = observe(file, read, readAt)
  if (!isProcessed) return { ...asset, content: read.bytes, inputs: [input], isSettled: true }
  return draftText(asset, read.bytes, input, options)
}

const IMPORTS = { js: /\b(?:import|export)\b/, css: /@import\b/i } as const

async function draftText(
  asset: Sourced,
  bytes: Buffer,
  input: FileObservation,
  { project, ...given }: Options
): Promise<Draft> {
  const { root, env, isPrecompile } = project
  const { file, compiler, name, packageName } = asset.source
  const startedAt = Date.now()
  const output = compiler && (await compile(compiler, bytes, { path: file, env, ...given }))
  const { content = bytes, dependencies = [], configuration = [], warnings = [] } = output ?? {}
  const imported = new Set(dependencies.filter(path => path !== file))
  const others = imported.size > 0 ? await observeAll(imported) : []
  const paths = others.filter(isFileObservation).map(({ path }) => path)
  // npm links the packages of a workspace, whose real directories may be sources.
  const real = await Promise.all(paths.map(realpathOf))
  const type = textType(name)
  const { code: written, encoding } = textIn(content, type) ?? {}
  const isScript = type === 'js' && written !== undefined
  const finished = isScript && (await finishScript(asset, written, bytes, project, given.sourceMap))
  const { code, looked, doubts } = finished || { code: written, looked: [], doubts: [] }
  const isLowered = code !== written
  const compiledIn = [...new Set([...paths, ...real.flatMap(path => path ?? [])])]
  const isDeveloped = !isPrecompile && ['development', 'test'].includes(env)
  const environment = isDeveloped ? 'development' : 'production'
  const leads = packageName === undefined ? leadsFor(file, root, environment) : undefined
  const text =
    code === undefined ? undefined : await textOf(asset, code, compiledIn, leads, encoding)
  const configured = new Set([...configuration, ...looked, ...(leads?.files ?? [])])
  const settings = configured.size > 0 ? await observeAll(configured) : []
  const files = [...others, ...settings].filter(isFileObservation)
  return {
    ...asset,
    content: isLowered ? Buffer.from(code ?? '') : content,
    isLowered,
    text,
    mayImport: code !== undefined && IMPORTS[type ?? 'js'].test(code),
    inputs: [input, ...others, ...settings],
    isSettled: files.every(({ stamp }) => isSettled(stamp, startedAt)),
    compileDuration: output?.duration,
    warnings: [...warnings, ...doubts]
  }
}

/** @throws CompileError for anything that the compiler throws, and for invalid output */
async function compile(
  compiler: Compiler,
  bytes: Buffer,
  options: Omit<CompilerInput, 'code' | 'bytes'>
) {
  const file = options.path
  const startedAt = performance.now()
  let failed: { readonly error: AssetError } | undefined
  try {
    const input = {
      get code() {
        if (isUtf8(bytes)) return new TextDecoder().decode(bytes)
        throw new CompileError('the source must be UTF-8', { file })
      },
      bytes,
      ...options
    }
    const output = checked(await compiler.compile(input), file)
    const content = Buffer.from(output.code as string)
    return { ...output, content, duration: performance.now() - startedAt }
  } catch (error) {
    failed = { error: error instanceof AssetError ? error : toCompileError(error, file) }
    throw failed.error
  } finally {
    const duration = performance.now() - startedAt
    if (compiled.hasSubscribers) compiled.publish({ source: file, duration, ...failed })
  }
}

/** A stylesheet may begin with a byte order mark, which wins over the `charset` of the response. */
const UTF_16 = new Map(Object.entries({ fffe: 'utf-16le', feff: 'utf-16be' }))

// A browser reads a stylesheet in any encoding, so if that is unknown, its references are found byte by byte. Modules
// are UTF-8.
function textIn(content: Uint8Array, type: 'css' | 'js' | undefined) {
  if (type === undefined) return undefined
  if (isUtf8(content)) return { code: new TextDecoder().decode(content) }
  if (type === 'js') return undefined
  const bytes = Buffer.from(content)
  const mark = UTF_16.get(bytes.toString('hex', 0, 2))
  if (mark !== undefined) return { code: new TextDecoder(mark).decode(bytes) }
  return { code: bytes.toString('latin1'), encoding: 'latin1' as const }
}

function checked(output: unknown, file: string): ConfiguredOutput {
  const given = (output ?? {}) as Partial<ConfiguredOutput>
  const { code, dependencies = [] } = given
  const isList = Array.isArray(dependencies) && dependencies.every(path => typeof path === 'string')
  const isContent = typeof code === 'string' || code instanceof Uint8Array
  if (isContent && isList) return { ...given, code }
  const shown = inspect(output, { depth: 0 })
  const reason = `the compiler for ${extname(file)} must return { code, dependencies }, got ${shown}`
  throw new CompileError(reason, { file })
}

const BUGS = new Set(['TypeError', 'ReferenceError', 'RangeError'])

/** Wraps any value that a compiler throws, even a string or undefined. */
function toCompileError(error: unknown, file: string): CompileError {
  const failure = new CompileError(reasonOf(error), { file }, { cause: error })
  const { name, stack } = (error ?? {}) as Partial<Error>
  // The stack of a custom compiler's error shows where its bug is.
  if (stack !== undefined && BUGS.has(name ?? '')) failure.stack += `\n[cause]: ${stack}`
  return failure
}

export function finish({ content, text }: Pick<Draft, 'content' | 'text'>, urls: Urls): Content {
  if (!text || urls.every(url => url === undefined)) return content
  const finished = replaceReferences(text.code, text.references, urls)
  return Buffer.from(shiftInlineMap(finished, text, urls), text.encoding)
}

export async function textOf(
  { app, source: { name } }: Pick<Sourced, 'app'> & { readonly source: Pick<Source, 'name'> },
  code: string,
  dependencies: readonly string[],
  leads?: Leads,
  encoding?: BufferEncoding
): Promise<Text | undefined> {
  const type = textType(name)
  if (!type) return undefined
  const found = findReferences(type, code)
  const imported = type === 'js' ? (await loadModuleLexer()).find(code) : undefined
  const { references: all = [], unparsedAt, isOpen = false } = imported ?? {}
  const imports = await Promise.all(
    all.map(async each => {
      const isFree = leads && mayBeAsset(each) && isBare(each) && !app.imports.has(each.path)
      const lead = isFree ? await leads.find(each.path) : undefined
      return lead ? { ...each, path: lead.specifier ?? each.path, lead } : each
    })
  )
  const inModule = imports.filter(mayBeAsset)
  const refused = imports.filter(each => remedyFor(each, app) !== undefined)
  const bare = inModule.filter(each => isBare(each) && each.lead?.file === undefined)
  const { fingerprint } = app
  const references = [...found, ...inModule].toSorted((a, b) => a.start - b.start)
  const isEmpty = [references, bare, refused].every(each => each.length === 0)
  if (isEmpty && !(fingerprint && isOpen)) return undefined
  const text = { code, references, bare, refused, dependencies, leads, encoding }
  return fingerprint ? { ...text, unparsedAt, isOpen } : text
}

export function textType(name: string): 'css' | 'js' | undefined {
  const extension = extname(name).toLowerCase()
  if (extension === '.css') return 'css'
  return extension === '.js' || extension === '.mjs' ? 'js' : undefined
}
