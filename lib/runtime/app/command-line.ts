// The values that commands read and print.

export interface OptionSpec {
  readonly short?: string
  /**
   * The placeholder for the option's value in the help: `FILE`, or `[FILE]` if it may be missing. Undefined for a
   * flag.
   */
  readonly value?: string
  readonly description: string
  /** True if the option may be given several times. */
  readonly multiple?: true
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>

/** The options on the command line, of all commands. */
export type Values = Readonly<
  Partial<
    Record<'config' | 'root' | 'env' | 'keep' | 'age' | 'manifest' | 'against', string> &
      Record<'json' | 'quiet' | 'help' | 'version' | 'dry-run' | 'verbose' | 'minify', boolean> &
      Record<'include' | 'exclude' | 'entry', readonly string[]>
  >
>

/** Results go to stdout, progress and errors to stderr. */
export interface Output {
  readonly isJson: boolean
  /** Prints the result: JSON for programs with --json, a text for people unless --quiet. */
  readonly result: (value: unknown, text: string) => void
  /** Reports progress; silent with --json or --quiet. */
  readonly note: (text: string) => void
  readonly warn: (text: string) => void
  readonly error: (text: string) => void
  /** Shows a line until the next one, or until anything else is printed; undefined where nobody would see it. */
  readonly status: ((line: string) => void) | undefined
}
