// Defines the errors of this package, and makes messages safe for terminals and logs, whatever names they contain.
import { inspect } from 'node:util'

/** The options of `Error`, named `ErrorOptions` only in the libraries of ES2022 and later. */
interface ErrorCause {
  readonly cause?: unknown
}

/** The log shows the message of an error, on one line or several, or its stack if code may be to blame. */
const LOGGED = {
  'root-missing': 'stack',
  'source-missing': 'stack',
  'package-unusable': 'lines',
  'compile-failed': 'lines',
  'compiler-missing': 'line',
  'publish-failed': 'line',
  'public-unusable': 'stack',
  'mount-unusable': 'stack',
  'manifest-missing': 'stack',
  'manifest-broken': 'stack',
  'asset-unknown': 'stack',
  'reference-missing': 'line',
  'name-taken': 'line',
  'name-unusable': 'line',
  'precompile-failed': 'lines',
  'precompile-empty': 'line',
  'precompile-busy': 'line',
  'directory-unusable': 'line',
  'compress-failed': 'line'
} as const

export type AssetErrorCode = keyof typeof LOGGED

/**
 * The base class of all errors that this package throws on purpose, except the TypeError for an invalid option.
 * @example
 * app.on('error', error => {
 *   if (error.code === 'compile-failed') notify(error.message)
 * })
 */
export class AssetError extends Error {
  override name = 'AssetError'
  /** Identifies the kind of failure; unlike `message`, it does not change between releases. */
  readonly code: AssetErrorCode
  /** The status of the response to the request that failed. */
  readonly status: number = 500
  /** Keeps Koa from sending `message` to the client. */
  readonly expose: boolean = false

  constructor(code: AssetErrorCode, message: string, options?: ErrorCause) {
    // The message contains file names and is logged: no name may start a new line.
    super(LOGGED[code] === 'lines' ? printableLines(message) : printable(message), options)
    this.code = code
    // Koa logs the stack. When a source or a disk must be fixed, our stack frames only hide the message.
    const stack = LOGGED[code] === 'stack' ? this.stack : `${new.target.name}: ${this.message}`
    this.stack = stack?.replace(this.message, () => `${this.message}\n  See ${this.help}`) ?? ''
    // Pages throw it, and no code of ours sees it before it is logged.
    if (code === 'asset-unknown') logInFullOnce(this)
  }

  /** The section about the error in the installed documentation, relative to the project's folder. */
  get help(): string {
    return helpAt(`errors.md#${this.code}`)
  }
}

/** Makes a rejection handler that passes an AssetError to `use`, and throws any other error again. */
export const ifAssetError =
  <T>(use: (error: AssetError) => T) =>
  (error: unknown): T => {
    if (error instanceof AssetError) return use(error)
    throw error
  }

export const helpAt = (place: string): string => `node_modules/koa-fresh-assets/docs/${place}`

const loggedInFull = new Set<string>()

/** Shortens the stack, which Koa logs, to one line if the message was logged before: every request may fail with it. */
export function logInFullOnce<T extends AssetError>(error: T): T {
  const { message, name } = error
  const line = `${name}: ${message.split('\n', 1)[0]}`
  // One error may be passed on several times.
  if (error.stack !== line && !isFirst(loggedInFull, message)) error.stack = line
  return error
}

/** The location of an error in a source. Lines and columns start at 1. */
export interface SourceLocation {
  /** The absolute path of the file with the error: the source or one that it imports. */
  readonly file: string
  readonly line?: number | undefined
  readonly column?: number | undefined
  /** The source text around the error. */
  readonly excerpt?: string | undefined
}

/**
 * A source that cannot be compiled. A custom compiler throws it to report the place of the error.
 * @example
 * throw new CompileError('unknown directive', { file: path, line: 12, column: 3 })
 */
export class CompileError extends AssetError {
  override name = 'CompileError'
  readonly location: SourceLocation
  /** The compiler's message, without the location. */
  readonly reason: string

  constructor(reason: string, location: SourceLocation, options?: ErrorCause) {
    const { file, line, column } = location
    const place = [file, line, column].filter(part => part !== undefined).join(':')
    super('compile-failed', `${printable(place)}: ${reason}`, options)
    this.location = location
    this.reason = reason
    if (line !== undefined) dropFrames(options?.cause)
  }
}

/** Lists every error of a precompile; nothing was published. `code` is `precompile-failed`. */
export class PrecompileError extends AssetError {
  override name = 'PrecompileError'
  /** The errors in the order of URL paths; a source that several apps share has one error. */
  readonly problems: readonly AssetError[]

  constructor(all: readonly AssetError[]) {
    const problems = [...new Map(all.map(problem => [problem.message, problem])).values()]
    const list = problems.map(problem => `\n- ${problem.message}`).join('')
    const errors = problems.length === 1 ? '1 error' : `${problems.length} errors`
    super('precompile-failed', `Precompile failed with ${errors}; nothing was published${list}`)
    this.problems = problems
  }
}

/** Drops the compiler's frames, which only hide the known location; a frozen error keeps them. */
function dropFrames(cause: unknown): void {
  if (typeof cause !== 'object' || cause === null || !('stack' in cause)) return
  Reflect.defineProperty(cause, 'stack', { value: `Error: ${reasonOf(cause)}`, configurable: true })
}

/** Returns the message of a thrown value. `instanceof Error` would differ between realms. */
export function reasonOf(error: unknown): string {
  const message = (error as { message?: unknown } | null | undefined)?.message
  return typeof message === 'string' ? message : inspect(error)
}

/** Says why a file cannot be read, so that a check goes on with the others; any other error is a bug. */
export function whyUnreadable(error: unknown): string {
  if (error instanceof AssetError) return error.message
  if ((error as NodeJS.ErrnoException | undefined)?.syscall === undefined) throw error
  return `cannot be read: ${reasonOf(error)}`
}

// Control characters (C0, DEL, C1), line separators, and the marks, embeddings, overrides and isolates of UAX 9.
const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** Escapes unprintable characters as `\u001b`, which means the same character in JSON and in TypeScript. */
export const printable = (text: string): string => text.replace(UNPRINTABLE, escaped)

export function printableLines(text: string): string {
  return text.replace(UNPRINTABLE, character =>
    /[\n\t]/.test(character) ? character : escaped(character)
  )
}

export function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

const MAX_LOGGED = 1000

function isFirst(logged: Set<string>, message: string): boolean {
  if (logged.has(message)) return false
  if (logged.size >= MAX_LOGGED) logged.clear()
  logged.add(message)
  return true
}

export type Warn = (message: string) => void

const warn: Warn = message => console.warn(`koa-fresh-assets: ${message}`)

/** Logs each message once, so warnings about every request do not flood the log. */
export function warnOnce(log = warn): Warn {
  const logged = new Set<string>()
  return message => {
    if (isFirst(logged, message)) log(printable(message))
  }
}
