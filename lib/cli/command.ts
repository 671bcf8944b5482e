// The contract of a command: how its arguments are parsed, what its help shows, and how it is run.
import type { KoaAssetsOptions } from '../assets/settings/options.ts'
import type { Output } from './output.ts'

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
