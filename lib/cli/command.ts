// The contract of a command (arguments.ts lists them): how it is parsed and run, its help and output.
import type { KoaAssetsOptions } from '../assets/settings/options.ts'
import { printableLines } from '../printable.ts'

export interface OptionSpec {
  readonly type: 'boolean' | 'string'
  readonly short?: string
  /** The placeholder for its value in the help: `FILE`, or `[FILE]` if it may be missing. */
  readonly value?: string
  readonly description: string
  /** Whether it may be given several times. */
  readonly multiple?: true
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>

/** The options on the command line. */
export interface Values {
  /** Whether a boolean option is present. */
  flag(name: string): boolean
  /** The value of a string option. */
  text(name: string): string | undefined
  /** The values of one that may be given several times; undefined if it was not given. */
  texts(name: string): readonly string[] | undefined
}

/** What a command is run with. */
export interface Call {
  readonly values: Values
  readonly args: readonly string[]
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
  /** The placeholders for its arguments: `<url or name>`, or `[dir]` if optional. Undefined: it takes none. */
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

/** Results go to stdout, progress and errors to stderr. */
export interface Output {
  /** What the command was run for: JSON for programs with --json, a text for people unless --quiet. */
  result(value: unknown, text: string): void
  /** Progress; silent with --json or --quiet. */
  readonly note: (text: string) => void
  readonly warn: (text: string) => void
  readonly error: (text: string) => void
  readonly isJson: boolean
  /** Shows a line until the next one, or until anything else is printed; undefined where nobody would see it. */
  readonly status: ((line: string) => void) | undefined
}

const CLEAR = '\r\u001B[K'

export function makeOutput(
  { isJson, isQuiet }: { isJson: boolean; isQuiet: boolean },
  { stdout, stderr, env }: Pick<NodeJS.Process, 'stdout' | 'stderr' | 'env'> = process
): Output {
  const isSilent = isJson || isQuiet
  // Logs, and users who asked for plain text, get no line that changes.
  const isSeen = !isSilent && stderr.isTTY && !env.CI && !env.NO_COLOR && env.TERM !== 'dumb'
  const print = (stream: NodeJS.WriteStream, text: string) => {
    if (isSeen) stderr.write(CLEAR)
    stream.write(`${text}\n`)
  }
  const say = (text: string) => print(stderr, printableLines(text))
  return {
    result(value, text) {
      if (isJson) print(stdout, JSON.stringify(value, undefined, 2))
      else if (!isQuiet) print(stdout, printableLines(text))
    },
    note: text => void (isSilent || say(text)),
    warn: text => void (isQuiet || say(`warning: ${text}`)),
    error: say,
    isJson,
    // A line that wraps could not be cleared.
    status: isSeen
      ? line => void stderr.write(CLEAR + line.slice(0, Math.max(0, (stderr.columns || 80) - 1)))
      : undefined
  }
}
