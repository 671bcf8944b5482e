// A run that takes long: its progress, as a bar on a terminal or as a few lines in a log, and what ends it early.
import { constants } from 'node:os'
import { printable } from '../printable.ts'
import { count } from './format.ts'
import type { Call, Output } from './command.ts'

export interface Progress {
  readonly stage: keyof typeof VERBS
  readonly done: number
  readonly total: number
  readonly path: string
}

export interface LongRun {
  readonly signal: AbortSignal
  readonly update: (progress: Progress) => void
  /** Prints something above the bar. */
  readonly interrupt: (print: () => void) => void
  readonly end: () => void
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/**
 * The first signal, Ctrl-C or that which ends a container, aborts the work in an orderly way, the second one ends
 * the process.
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
  const progress = makeProgress(output, values.flag('verbose'))
  try {
    return await work({ signal: controller.signal, ...progress })
  } catch (error) {
    progress.end()
    const { reason } = controller.signal as { reason?: NodeJS.Signals }
    if (reason === undefined || error !== reason) throw error
    output.error(`Stopped by ${reason}; ${state}.`)
    // The convention of shells.
    return 128 + constants.signals[reason]
  } finally {
    for (const name of SIGNALS) process.off(name, stop)
  }
}

const VERBS = { compile: 'Building', write: 'Writing', compress: 'Compressing' } as const
const NOUNS = { compile: 'asset', write: 'asset', compress: 'file' } as const
const REDRAW_MS = 40
// Long enough to keep a log short, short enough to distinguish a slow run from a hung one.
const NOTE_MS = 10_000
const CLEAR = '\r\u001B[K'
const WIDTH = 24

/** @param everyAsset print a line for each asset or file, even on a terminal */
export function makeProgress(output: Output, everyAsset: boolean): Omit<LongRun, 'signal'> {
  const terminal = everyAsset ? undefined : output.terminal
  let last: Progress | undefined
  let shownAt = 0
  const draw = () => {
    if (last) terminal?.write(CLEAR + barOf(last, terminal.columns))
  }
  return {
    update(progress) {
      const { stage, done, total, path } = progress
      const isNew = stage !== last?.stage
      last = progress
      if (everyAsset) return output.note(`${VERBS[stage]} ${printable(path)}`)
      const isDue = Date.now() - shownAt >= (terminal ? REDRAW_MS : NOTE_MS)
      if (!isDue && !isNew && !(terminal && done === total)) return
      shownAt = Date.now()
      const all = count(total, NOUNS[stage])
      if (terminal) draw()
      else
        output.note(isNew ? `${VERBS[stage]} ${all}` : `  ${done.toLocaleString('en')} of ${all}`)
    },
    interrupt(print) {
      terminal?.write(CLEAR)
      print()
      draw()
    },
    end() {
      if (last) terminal?.write(CLEAR)
      last = undefined
    }
  }
}

/** Never wider than the terminal: a line that wraps cannot be overwritten. */
function barOf({ stage, done, total, path }: Progress, columns: number): string {
  const filled = Math.round((WIDTH * done) / Math.max(1, total))
  const drawn = '█'.repeat(filled) + '░'.repeat(WIDTH - filled)
  const text = `${VERBS[stage].padEnd(8)} ${drawn} ${done}/${total}  ${printable(path)}`
  return text.slice(0, Math.max(0, (columns || 80) - 1))
}
