// The contract between this package and what turns a source into an asset.
import { dirname } from 'node:path'

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
  /**
   * Absolute paths of every other file that was read, and of those that were looked for and not there.
   * A change in one, or its coming, compiles the source again.
   */
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

/** Whether the result is to end with an inline source map. */
export function wantsMap({ env, sourceMap = env === 'development' }: CompilerInput): boolean {
  return sourceMap
}

/** The directory from which the project imports: that of its `node_modules`, the last load path. */
export function projectOf({ loadPaths }: CompilerInput): string | undefined {
  const last = loadPaths.at(-1)
  return last && dirname(last)
}
