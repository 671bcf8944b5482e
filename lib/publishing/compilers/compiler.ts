// Defines the contract between this package and compilers, and has what the built-in ones share.
import { basename, dirname, isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { statOf } from '../../runtime/files/disk.ts'
import { pathFrom } from '../../runtime/files/paths.ts'

export interface CompilerInput {
  /** The text of the source. @throws CompileError, when it is read, for a source that is not UTF-8 */
  readonly code: string
  /** The bytes of the source, for formats that are not text, such as images. */
  readonly bytes: Uint8Array
  /** Absolute path of the source. */
  readonly path: string
  /**
   * Absolute directories to search for imports, in order. The last ones are the `node_modules` of the project and of
   * every folder above it.
   */
  readonly loadPaths: readonly string[]
  /** The name of the environment, such as `development`. */
  readonly env: string
  /** True if `code` must end with an inline source map. Default: true in `development`. */
  readonly sourceMap?: boolean
}

export interface CompilerOutput {
  /** The text of the asset, or its bytes. */
  readonly code: string | Uint8Array
  /**
   * Absolute paths of every other file that was read, of directories whose names were read, and of files that
   * were looked up and not found. The source is compiled again when one of them changes or appears. Default:
   * none.
   */
  readonly dependencies?: readonly string[]
}

/** A built-in compiler that reads settings beside the source returns these as well. */
export interface ConfiguredOutput extends CompilerOutput {
  /** The absolute paths of the files with these settings, there or not. Nothing in the text comes from them. */
  readonly configuration?: readonly string[] | undefined
  /** Returns the absolute path of the file that a bare specifier means. */
  readonly lead?: ((specifier: string) => Promise<string | undefined>) | undefined
  readonly warnings?: readonly string[] | undefined
}

/**
 * Compiles sources with certain extensions: `<name><target><extension>` and `<name><extension>` are
 * published as `<name><target>`.
 *
 * @example
 * const markdown: Compiler = {
 *   extensions: '.md',
 *   target: '.html',
 *   compile: ({ code }) => ({ code: marked.parse(code) })
 * }
 * koaAssets({ compilers: [markdown] })
 */
export interface Compiler {
  /** One extension such as `'.scss'`, or several. */
  readonly extensions: string | readonly string[]
  /** The extension of the compiled asset: `'.css'`. */
  readonly target: string
  /** Throws when the source is invalid: a `CompileError` to report the line and column. */
  readonly compile: (input: CompilerInput) => CompilerOutput | Promise<CompilerOutput>
}

/** Returns the folders in which Node looks for packages from a directory, the nearest first. */
export function nodeModulesFrom(directory: string): string[] {
  const above = dirname(directory)
  return [join(directory, 'node_modules'), ...(above === directory ? [] : nodeModulesFrom(above))]
}

/** Returns the project directory. */
export function rootFor({ loadPaths }: CompilerInput): string {
  const nodeModules = loadPaths.find(path => basename(path) === 'node_modules')
  return nodeModules ? dirname(nodeModules) : process.cwd()
}

/** Makes the paths of a source map relative to its file: absolute ones would publish the layout of a machine. */
export function withRelativeSources(json: string, file: string): string {
  const map = JSON.parse(json) as { sources: string[] }
  const sources = map.sources.map(given => {
    const path = given.startsWith('file:///') ? fileURLToPath(given) : given
    return isAbsolute(path) ? pathFrom(dirname(file), path) : given
  })
  return JSON.stringify({ ...map, sources })
}

/** The absolute paths of one search, in the order in which the compiler tries them. */
export type Search = readonly string[]

/**
 * Returns the paths of each search up to the first file that exists. If a search finds nothing, all of its paths are
 * dependencies: a file that appears at one of them changes the result.
 */
export async function searchedPaths(searches: Iterable<Search>): Promise<string[]> {
  const searched = await Promise.all(Array.from(searches, upToFirstFile))
  return [...new Set(searched.flat())]
}

async function upToFirstFile(search: Search): Promise<readonly string[]> {
  // The last path is a dependency either way.
  for (const [at, path] of search.slice(0, -1).entries()) {
    if ((await statOf(path))?.isFile()) return search.slice(0, at + 1)
  }
  return search
}
