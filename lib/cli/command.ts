// The contract of a command (arguments.ts lists them): how it is parsed and run, its help, output and exit status.
import { constants } from 'node:os'
import { resolve } from 'node:path'
import type { KoaAssetsOptions } from '../assets/settings/options.ts'
import { printable, printableLines } from '../printable.ts'
import { count } from './format.ts'

export interface OptionSpec {
  readonly short?: string
  /** The placeholder for its value in the help: `FILE`, or `[FILE]` if it may be missing. Undefined: a flag. */
  readonly value?: string
  readonly description: string
  /** Whether it may be given several times. */
  readonly multiple?: true
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>

/** The options on the command line, of all commands. */
export type Values = Readonly<
  Partial<
    Record<'config' | 'root' | 'env' | 'keep' | 'age' | 'manifest' | 'against', string> &
      Record<'json' | 'quiet' | 'help' | 'version' | 'dry-run' | 'verbose' | 'minify', boolean> &
      Record<'include' | 'exclude', readonly string[]> & { views: string | true }
  >
>

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
  /** The name of the command that follows it in that list. Undefined: of an extra, the end. */
  readonly before?: string
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

/** A directory on the command line is relative to --root. */
export function directoryAt({ root = '.' }: Values, directory: string): string {
  return resolve(root, directory)
}

export type Output = ReturnType<typeof makeOutput>

const CLEAR = '\r\u001B[K'

/** Results go to stdout, progress and errors to stderr. */
export function makeOutput(
  { json: isJson = false, quiet: isQuiet = false }: Pick<Values, 'json' | 'quiet'>,
  { stdout, stderr, env }: Pick<NodeJS.Process, 'stdout' | 'stderr' | 'env'> = process
) {
  const isSilent = isJson || isQuiet
  // Logs, and users who asked for plain text, get no line that changes.
  const isSeen = !isSilent && stderr.isTTY && !env.CI && !env.NO_COLOR && env.TERM !== 'dumb'
  const print = (stream: NodeJS.WriteStream, text: string) => {
    if (isSeen) stderr.write(CLEAR)
    stream.write(`${text}\n`)
  }
  const say = (text: string) => print(stderr, printableLines(text))
  return {
    isJson,
    /** What the command was run for: JSON for programs with --json, a text for people unless --quiet. */
    result(value: unknown, text: string) {
      if (isJson) print(stdout, printableLines(JSON.stringify(value, undefined, 2)))
      else if (!isQuiet) print(stdout, printableLines(text))
    },
    /** Progress; silent with --json or --quiet. */
    note: (text: string) => void (isSilent || say(text)),
    warn: (text: string) => void (isQuiet || say(`warning: ${text}`)),
    error: say,
    /**
     * Shows a line until the next one, or until anything else is printed; undefined where nobody would see it.
     * A line that wraps could not be cleared.
     */
    status: isSeen
      ? (line: string) => void stderr.write(CLEAR + line.slice(0, (stderr.columns || 80) - 1))
      : undefined
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** How a long run is ended early, and tells its progress. */
export interface LongRun {
  readonly signal: AbortSignal
  readonly onProgress: ReturnType<typeof progressOn>
}

/**
 * The first signal, from Ctrl-C or from stopping a container, aborts the work in an orderly way; the second one
 * ends the process.
 * @param state what an aborted run leaves behind: `nothing was published`
 */
export async function longRun(
  { output, values }: Call,
  state: string,
  work: (run: LongRun) => Promise<number>
): Promise<number> {
  const controller = new AbortController()
  const stop = (name: NodeJS.Signals) => controller.abort(name)
  for (const name of SIGNALS) process.once(name, stop)
  try {
    const onProgress = progressOn(output, values.verbose)
    return await work({ signal: controller.signal, onProgress })
  } catch (error) {
    const { reason } = controller.signal as { reason?: NodeJS.Signals }
    if (reason === undefined || error !== reason) throw error
    output.error(`Stopped by ${reason}; ${state}.`)
    // The convention of shells.
    return 128 + constants.signals[reason]
  } finally {
    output.status?.('')
    for (const name of SIGNALS) process.off(name, stop)
  }
}

const STAGES = {
  compile: ['Building', 'asset'],
  write: ['Writing', 'asset'],
  compress: ['Compressing', 'file']
} as const
const REDRAW_MS = 40
// Long enough to keep a log short, short enough to distinguish a slow run from a hung one.
const NOTE_MS = 10_000
const WIDTH = 24

interface Progress {
  readonly stage?: keyof typeof STAGES
  readonly done: number
  readonly total: number
  readonly path: string
}

/** As a bar on a terminal, or as a few lines in a log. @param everyAsset a line for each asset or file instead */
export function progressOn({ note, status }: Output, everyAsset = false) {
  let shown: string | undefined
  let shownAt = 0
  return ({ stage = 'compress', done, total, path }: Progress): void => {
    const [verb, noun] = STAGES[stage]
    if (everyAsset) return note(`${verb} ${printable(path)}`)
    const isNew = stage !== shown
    const isDue = Date.now() - shownAt >= (status ? REDRAW_MS : NOTE_MS)
    if (!isDue && !isNew && !(status && done === total)) return
    shown = stage
    shownAt = Date.now()
    if (!status) {
      const all = count(total, noun)
      return note(isNew ? `${verb} ${all}` : `  ${done.toLocaleString('en')} of ${all}`)
    }
    const bar = '█'.repeat(Math.round((WIDTH * done) / total)).padEnd(WIDTH, '░')
    status(`${verb.padEnd(8)} ${bar} ${done}/${total}  ${printable(path)}`)
  }
}
