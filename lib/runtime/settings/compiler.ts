// Declares the compilers of the option `compilers`, as users write them; the built-in ones have the same shape.

/**
 * Compiles sources with certain extensions: `<name><target><extension>` and `<name><extension>` are
 * published as `<name><target>`.
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
  /** Throws for an invalid source: a `CompileError` to report the line and column. */
  readonly compile: (input: CompilerInput) => CompilerOutput | Promise<CompilerOutput>
}

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
   * Absolute paths of every other file that was read, of directories whose names were read, and of files that were
   * looked up and not found. The source is compiled again when one of them changes or appears. Default: none.
   */
  readonly dependencies?: readonly string[]
}
