// From an extension to the compiler that understands it. The built-in ones are optional peers.
import { pathToFileURL, fileURLToPath } from 'node:url'
import { basename, dirname, relative, resolve, sep } from 'node:path'
import type less from 'less'
import type * as Esbuild from 'esbuild'
import type * as Sass from 'sass'
import { AssetError, CompileError } from '../errors.ts'
import { errorCode } from './disk.ts'

/** What a compiler is given. */
export interface CompilerInput {
  /** The source's text. */
  readonly code: string
  /** The source's absolute path. */
  readonly path: string
  /** Absolute directories in which an import may be found, in order. */
  readonly loadPaths: readonly string[]
  /** The environment's name. */
  readonly env: string
  /** Whether to end the code with an inline source map. Default: in `development`. */
  readonly sourceMap?: boolean
}

/** What a compiler gives back. */
export interface CompilerOutput {
  readonly code: string
  /** Absolute paths of every other file that was read; a change in one compiles the source again. */
  readonly dependencies?: readonly string[]
}

/** Turns `name<target><extension>`, or `name<extension>`, into `name<target>`. */
export interface Compiler {
  /** `'.scss'`, or several. */
  readonly extensions: string | readonly string[]
  /** The extension of what comes out: `'.css'`. */
  readonly target: string
  /** Throws for a broken source; a `CompileError` can say where. */
  readonly compile: (input: CompilerInput) => CompilerOutput | Promise<CompilerOutput>
}

export function withDot(extension: string): string {
  return extension.startsWith('.') ? extension : `.${extension}`
}

/** Loads a peer; the first of several that is installed. */
export type Load = (names: readonly string[], source: string) => Promise<unknown>

export const loadPeer: Load = async (names, source) => {
  for (const name of names) {
    try {
      return await import(name)
    } catch (error) {
      if (errorCode(error) !== 'ERR_MODULE_NOT_FOUND') throw error
    }
  }
  throw new AssetError(
    'compiler-missing',
    `${source} needs ${names.at(-1)}, which is not installed: npm install --save-dev ${names.at(-1)}`
  )
}

/** The compilers that need no configuration. `load` is a parameter so that a missing peer can be shown. */
export function makeBuiltInCompilers(load: Load = loadPeer): readonly Compiler[] {
  return [
    { extensions: '.scss', target: '.css', compile: input => compileSass(load, input, 'scss') },
    { extensions: '.sass', target: '.css', compile: input => compileSass(load, input, 'indented') },
    { extensions: '.less', target: '.css', compile: input => compileLess(load, input) },
    ...(['ts', 'tsx', 'jsx'] as const).map(loader => ({
      extensions: `.${loader}`,
      target: '.js',
      compile: (input: CompilerInput) => compileScript(load, input, loader)
    }))
  ]
}

export const builtInCompilers = makeBuiltInCompilers()

function wantsMap({ env, sourceMap = env === 'development' }: CompilerInput): boolean {
  return sourceMap
}

async function compileSass(
  load: Load,
  input: CompilerInput,
  syntax: 'scss' | 'indented'
): Promise<CompilerOutput> {
  const { code, path, loadPaths } = input
  const sass = (await load(['sass-embedded', 'sass'], path)) as typeof Sass
  const inline = wantsMap(input)
  try {
    const result = await sass.compileStringAsync(code, {
      url: pathToFileURL(path),
      syntax,
      loadPaths: [...loadPaths],
      importers: [new sass.NodePackageImporter(dirname(path))],
      quietDeps: true,
      sourceMap: inline,
      sourceMapIncludeSources: inline
    })
    const dependencies = result.loadedUrls
      .filter(loaded => loaded.protocol === 'file:')
      .map(loaded => fileURLToPath(loaded))
    return { code: result.css + inlineMap(result.sourceMap, path), dependencies }
  } catch (error) {
    if (error instanceof sass.Exception) throw sassError(error, path)
    throw error
  }
}

function sassError(error: Sass.Exception, path: string): CompileError {
  const { url, start, context, text } = error.span
  const location = {
    file: url?.protocol === 'file:' ? fileURLToPath(url) : path,
    line: start.line + 1,
    column: start.column + 1,
    excerpt: context ?? text
  }
  return new CompileError(error.sassMessage, location, { cause: error })
}

async function compileLess(load: Load, input: CompilerInput): Promise<CompilerOutput> {
  const { code, path, loadPaths } = input
  const module = (await load(['less'], path)) as { default: typeof less }
  try {
    const result = await module.default.render(code, {
      filename: path,
      paths: [...loadPaths],
      ...(wantsMap(input) && {
        sourceMap: {
          sourceMapFileInline: true,
          outputSourceFiles: true,
          sourceMapBasepath: dirname(path)
        }
      })
    })
    return { code: result.css, dependencies: result.imports.map(file => resolve(file)) }
  } catch (error) {
    throw lessError(error, path)
  }
}

function lessError(error: unknown, path: string): unknown {
  const { message, filename, line, column, extract } = error as Partial<Less.RenderError>
  if (message === undefined || line === undefined) return error
  const excerpt = extract?.filter(text => text != null).join('\n')
  const location = { file: filename ?? path, line, column: (column ?? 0) + 1, excerpt }
  return new CompileError(message, location, { cause: error })
}

async function compileScript(
  load: Load,
  input: CompilerInput,
  loader: 'ts' | 'tsx' | 'jsx'
): Promise<CompilerOutput> {
  const { code, path } = input
  const esbuild = (await load(['esbuild'], path)) as typeof Esbuild
  try {
    const result = await esbuild.transform(code, {
      loader,
      sourcefile: basename(path),
      sourcemap: wantsMap(input) ? 'inline' : false,
      target: 'es2022'
    })
    return { code: result.code, dependencies: [] }
  } catch (error) {
    throw scriptError(error, path)
  }
}

/** What esbuild says, with the place. */
export function scriptError(error: unknown, path: string): unknown {
  const [first] = (error as Partial<Esbuild.TransformFailure>).errors ?? []
  if (!first) return error
  const { line, column = 0, lineText } = first.location ?? {}
  const location = { file: path, line, column: column + 1, excerpt: lineText }
  return new CompileError(first.text, location, { cause: error })
}

/** Names the sources from the stylesheet's own directory: a page tells nothing of the machine. */
function inlineMap(map: { sources: string[] } | undefined, path: string): string {
  if (!map) return ''
  const sources = map.sources.map(url =>
    url.startsWith('file:') ? relative(dirname(path), fileURLToPath(url)).split(sep).join('/') : url
  )
  const json = Buffer.from(JSON.stringify({ ...map, sources }))
  return `\n/*# sourceMappingURL=data:application/json;base64,${json.toString('base64')} */\n`
}
