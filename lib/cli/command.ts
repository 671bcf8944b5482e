// The contract of a command: how its arguments are parsed, what its help shows, how it is run, and where it writes.
import type { KoaAssetsOptions } from '../assets/settings/options.ts'
import { printableLines } from '../printable.ts'

export interface OptionSpec {
  readonly type: 'boolean' | 'string'
  readonly short?: string
  /** The placeholder for its value in the help: `FILE`. */
  readonly value?: string
  readonly description: string
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>

/** The options on the command line. */
export interface Values {
  /** Whether a boolean option is present. */
  flag(name: string): boolean
  /** The value of a string option. */
  text(name: string): string | undefined
}

/** What a command is run with. */
export interface Call {
  readonly values: Values
  readonly argument: string | undefined
  readonly output: Output
  /** Loads the project's environment, by default `production`, and its configuration file. */
  readonly loadOptions: (environment?: string) => Promise<KoaAssetsOptions>
}

export interface Command {
  readonly name: string
  /** One line, for the list of commands. */
  readonly summary: string
  /** What it does, and when to use it; at most 84 characters per line. */
  readonly about: string
  /** The placeholder for its argument: `<url or name>`, or `[dir]` if optional. Undefined: it takes none. */
  readonly argument?: string
  readonly options: OptionSpecs
  readonly examples: readonly (readonly [line: string, description: string])[]
  /** Resolves to the exit status. */
  readonly run: (call: Call) => Promise<number>
}

/** Exit statuses. */
export const OK = 0
export const FAILED = 1
export const USAGE_ERROR = 2

/** The command line is invalid: exit status 2. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** The part of a terminal that a progress bar uses. */
export interface Terminal {
  readonly columns: number
  write(text: string): unknown
}

/** Results go to stdout, progress and errors to stderr. */
export interface Output {
  /** What the command was run for: JSON for programs with --json, a text for people unless --quiet. */
  result(value: unknown, text: string): void
  /** Progress; silent with --json or --quiet. */
  note(text: string): void
  warn(text: string): void
  error(text: string): void
  readonly isJson: boolean
  /** Where a progress bar may be drawn, if anywhere. */
  readonly terminal: Terminal | undefined
}

export function makeOutput({ isJson, isQuiet }: { isJson: boolean; isQuiet: boolean }): Output {
  const isSilent = isJson || isQuiet
  const { stdout, stderr } = process
  return {
    result(value, text) {
      if (isJson) stdout.write(`${JSON.stringify(value, undefined, 2)}\n`)
      else if (!isQuiet) stdout.write(`${printableLines(text)}\n`)
    },
    note: text => void (isSilent || stderr.write(`${printableLines(text)}\n`)),
    warn: text => void (isQuiet || stderr.write(`warning: ${printableLines(text)}\n`)),
    error: text => void stderr.write(`${printableLines(text)}\n`),
    isJson,
    terminal: !isSilent && stderr.isTTY && canDraw(process.env) ? stderr : undefined
  }
}

/** Logs, and people who asked for plain text, get lines instead of a bar. */
function canDraw({ CI, NO_COLOR, TERM }: NodeJS.ProcessEnv): boolean {
  return !CI && !NO_COLOR && TERM !== 'dumb'
}
