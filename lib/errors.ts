import { inspect } from 'node:util'
import { printable, printableLines } from './printable.ts'

/** Everything this package throws on purpose, apart from a TypeError for a wrong option or argument. */
export class AssetError extends Error {
  override name = 'AssetError'
  /** Stable, for programs: `compile-failed`, `compiler-missing`, `publish-failed` … */
  readonly code: AssetErrorCode
  /** The HTTP status that this failure is answered with. */
  readonly status: number
  /** Never shown to a visitor by Koa itself. */
  readonly expose = false

  constructor(code: AssetErrorCode, message: string, options?: ErrorOptions) {
    // It is logged, and names files; the name of one begins no line of its own.
    super(HAS_LINES.has(code) ? printableLines(message) : printable(message), options)
    this.code = code
    this.status = 500
    // Koa logs the stack. Where the message says what to fix in a source or on a disk, frames of this
    // package would only hide it.
    if (ABOUT_FILES.has(code)) this.stack = `${new.target.name}: ${this.message}`
  }
}

export type AssetErrorCode =
  | 'root-missing'
  | 'source-missing'
  | 'compile-failed'
  | 'compiler-missing'
  | 'publish-failed'
  | 'public-unusable'
  | 'manifest-missing'
  | 'manifest-broken'
  | 'asset-unknown'
  | 'reference-missing'
  | 'name-taken'
  | 'name-unusable'
  | 'precompile-failed'
  | 'precompile-empty'
  | 'precompile-busy'

const HAS_LINES: ReadonlySet<AssetErrorCode> = new Set([
  'compile-failed',
  'precompile-failed'
] as const)

const ABOUT_FILES: ReadonlySet<AssetErrorCode> = new Set([
  'compile-failed',
  'compiler-missing',
  'publish-failed',
  'reference-missing',
  'name-taken',
  'name-unusable',
  'precompile-failed',
  'precompile-empty',
  'precompile-busy'
] as const)

/** Where in a source a compiler gave up. Lines and columns count from 1. */
export interface SourceLocation {
  /** Absolute path of the file that is to blame, an import perhaps. */
  readonly file: string
  readonly line?: number | undefined
  readonly column?: number | undefined
  /** The lines around the fault, as they stand in the file. */
  readonly excerpt?: string | undefined
}

/** A source that a compiler refused. */
export class CompileError extends AssetError {
  override name = 'CompileError'
  readonly location: SourceLocation
  /** What the compiler says, without the place. */
  readonly reason: string

  constructor(reason: string, location: SourceLocation, options?: ErrorOptions) {
    const { file, line, column } = location
    const place = [file, line, column].filter(part => part !== undefined).join(':')
    super('compile-failed', `${printable(place)}: ${reason}`, options)
    this.location = location
    this.reason = reason
    if (line !== undefined) dropFrames(options?.cause)
  }
}

/** Where a mistake in a source has its place, the compiler's frames only hide it. */
function dropFrames(cause: unknown): void {
  if (typeof cause !== 'object' || cause === null || !('stack' in cause)) return
  // A frozen error keeps its own.
  Reflect.defineProperty(cause, 'stack', { value: `Error: ${reasonOf(cause)}`, configurable: true })
}

/** What a failure says, whatever was thrown. Not by `instanceof Error`, which is another in each realm. */
export function reasonOf(error: unknown): string {
  const message = (error as { message?: unknown } | null | undefined)?.message
  return typeof message === 'string' ? message : inspect(error)
}
