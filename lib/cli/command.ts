// What a command is made of: enough to read its arguments, to explain it and to run it.
import type { KoaAssetsOptions } from '../assets/settings/options.ts'
import type { Output } from './output.ts'

export interface OptionSpec {
  readonly type: 'boolean' | 'string'
  readonly short?: string
  /** What the value is called in help: `FILE`. */
  readonly value?: string
  readonly says: string
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>

/** What a person typed. */
export interface Values {
  /** Whether the option was given. */
  flag(name: string): boolean
  /** The value that was given. */
  text(name: string): string | undefined
}

/** What a command works with. */
export interface Call {
  readonly values: Values
  /** What stands behind the command's name. */
  readonly argument: string | undefined
  readonly output: Output
  /** The project's options, from its file. */
  readonly loadOptions: () => Promise<KoaAssetsOptions>
}

export interface Command {
  readonly name: string
  /** One line, for the list of commands. */
  readonly summary: string
  /** What it does, and when to use it; lines of at most 78 characters. */
  readonly about: string
  /** What stands behind its name: `<url or name>`. Undefined: nothing may. */
  readonly argument?: string
  readonly options: OptionSpecs
  /** A line to type, and what it does. */
  readonly examples: readonly (readonly [line: string, says: string])[]
  /** Resolves to the exit status. */
  readonly run: (call: Call) => Promise<number>
}

/** Exit statuses. */
export const FINE = 0
export const FOUND_SOMETHING = 1
export const WRONG_USE = 2

/** The command line itself is wrong. */
export class UsageError extends Error {
  override name = 'UsageError'
}
