// Where a command writes: results to stdout, progress and errors to stderr.
import { printableLines } from '../printable.ts'

/** The part of a terminal that a progress bar uses. */
export interface Terminal {
  readonly columns: number
  write(text: string): unknown
}

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
