// The exit statuses and output of commands, and the early end of a long run.
import { constants } from 'node:os'
import { join, resolve } from 'node:path'
import type { Output, Values, Call, Problem } from '../../runtime/app/extra.ts'
import type { Progress as Precompiling } from '../../runtime/settings/extra-options.ts'
import { helpAt, printable, printableLines } from '../../runtime/errors.ts'
import { withSlashes } from '../../runtime/files/paths.ts'

export const OK = 0
export const FAILED = 1
export const USAGE_ERROR = 2

export class UsageError extends Error {
  override name = 'UsageError'
}

export function directoryAt({ root = '.' }: Values, directory: string): string {
  return resolve(root, directory)
}

export function makeOutput({ json: isJson = false, quiet: isQuiet = false }: Values): Output {
  const print = (text: string) => void process.stdout.write(`${printableLines(text)}\n`)
  const say = (text: string) => void process.stderr.write(`${printableLines(text)}\n`)
  return {
    isJson,
    result(value, text, isGood = true) {
      if (isJson) print(JSON.stringify(value, undefined, 2))
      else if (!isQuiet) print(text)
      return isGood ? OK : FAILED
    },
    note: text => void (isJson || isQuiet || say(text)),
    warn: text => void (isQuiet || say(`warning: ${text}`)),
    error: say
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

interface Run {
  readonly signal: AbortSignal
  readonly onProgress: ReturnType<typeof progressOn>
}

// The first signal, from Ctrl-C or from stopping a container, aborts the work in an orderly way; the second one ends
// the process. `state` says what an aborted run leaves behind: `nothing was published`.
export function longRun(state: string, work: (call: Call, run: Run) => Promise<number>) {
  return async (call: Call): Promise<number> => {
    const controller = new AbortController()
    const listen = (to: 'on' | 'off') => SIGNALS.forEach(name => process[to](name, stop))
    const stop = (name: NodeJS.Signals) => {
      controller.abort(name)
      listen('off')
    }
    listen('on')
    try {
      const onProgress = progressOn(call.output, call.values.verbose)
      return await work(call, { signal: controller.signal, onProgress })
    } catch (error) {
      const { reason } = controller.signal as { reason?: NodeJS.Signals }
      if (reason === undefined || error !== reason) throw error
      call.output.error(`Stopped by ${reason}; ${state}.`)
      // Shells use this convention.
      return 128 + constants.signals[reason]
    } finally {
      listen('off')
    }
  }
}

const STAGES = {
  compile: ['Building', 'asset'],
  write: ['Writing', 'asset'],
  compress: ['Compressing', 'file']
} as const
// Notes are rare enough to keep a log short, and frequent enough to distinguish a slow run from a hung one.
const NOTE_MS = 10_000

/** The progress of a precompile, or of `compress`, which has no other stage. */
type Progress = Omit<Precompiling, 'stage'> & { readonly stage?: keyof typeof STAGES }

/** Notes each stage, and its progress now and then. @param everyAsset notes each asset or file instead */
function progressOn({ note }: Pick<Output, 'note'>, everyAsset = false) {
  let shown: string | undefined
  let shownAt = 0
  return ({ stage = 'compress', done, total, path }: Progress): void => {
    const [verb, noun] = STAGES[stage]
    if (everyAsset) return note(`${verb} ${printable(path)}`)
    const isNew = stage !== shown
    if (!isNew && Date.now() - shownAt < NOTE_MS) return
    shown = stage
    shownAt = Date.now()
    const all = count(total, noun)
    note(isNew ? `${verb} ${all}` : `  ${done.toLocaleString('en')} of ${all}`)
  }
}

/** @param directory is put before the paths @param help the section about problems @returns the exit status */
export function printProblems(
  output: Output,
  report: { readonly problems: readonly Problem[] },
  totals: readonly string[],
  { directory = '', help = 'troubleshooting.md' } = {}
): number {
  const { problems } = report
  for (const { path, message } of output.isJson ? [] : problems) {
    output.error(`${printable(withSlashes(join(directory, path)))} ${message}`)
  }
  const isGood = problems.length === 0
  const verdict = isGood
    ? 'no problems'
    : `${count(problems.length, 'problem')}\nSee ${helpAt(help)}`
  return output.result(report, [...totals, verdict].join(', '), isGood)
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB']

export function formatBytes(bytes: number): string {
  let [value, step] = [bytes, 0]
  // A value that would round to 1000 kB is 1.0 MB.
  for (; value >= 999.5 && step < UNITS.length - 1; step++) value /= 1000
  return `${value.toFixed(step > 0 && value < 100 ? 1 : 0)} ${UNITS[step]}`
}

export function formatSeconds(seconds: number): string {
  return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`
}

export function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`
}

/** Writes columns two spaces apart. @param right the indexes of right-aligned ones */
export function table(given: readonly (readonly string[])[], right: readonly number[] = []) {
  const rows = given.map(row => row.map(printable))
  const widths: number[] = []
  for (const row of rows) {
    row.forEach((text, at) => (widths[at] = Math.max(widths[at] ?? 0, text.length)))
  }
  const cell = (text: string, at: number) =>
    right.includes(at) ? text.padStart(widths[at] ?? 0) : text.padEnd(widths[at] ?? 0)
  return rows.map(row => row.map(cell).join('  ').trimEnd()).join('\n')
}

export const indent = (text: string, by = '  '): string => text.replace(/^(?=.)/gm, by)

export function savingsText(by: Readonly<Record<'files' | 'bytes' | 'insteadOf', number>>): string {
  return `${count(by.files, 'file')}, ${formatBytes(by.bytes)} instead of ${formatBytes(by.insteadOf)}`
}
