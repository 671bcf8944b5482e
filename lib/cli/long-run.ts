// A long run: its progress, as a bar on a terminal or as a few lines in a log, and what ends it early.
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

export type ShowProgress = (progress: Progress) => void

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/**
 * The first signal, from Ctrl-C or from stopping a container, aborts the work in an orderly way; the second one
 * ends the process.
 * @param state what an aborted run leaves behind: `nothing was published`
 */
export async function longRun(
  { output, values }: Call,
  state: string,
  work: (signal: AbortSignal, show: ShowProgress) => Promise<number>
): Promise<number> {
  const controller = new AbortController()
  const stop = (name: NodeJS.Signals) => controller.abort(name)
  for (const name of SIGNALS) process.once(name, stop)
  try {
    return await work(controller.signal, progressOn(output, values.flag('verbose')))
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

const VERBS = { compile: 'Building', write: 'Writing', compress: 'Compressing' } as const
const NOUNS = { compile: 'asset', write: 'asset', compress: 'file' } as const
const REDRAW_MS = 40
// Long enough to keep a log short, short enough to distinguish a slow run from a hung one.
const NOTE_MS = 10_000
const WIDTH = 24

/** @param everyAsset print a line for each asset or file, even on a terminal */
export function progressOn(output: Output, everyAsset: boolean): ShowProgress {
  let shown: Progress['stage'] | undefined
  let shownAt = 0
  return progress => {
    const { stage, done, total, path } = progress
    if (everyAsset) return output.note(`${VERBS[stage]} ${printable(path)}`)
    const isNew = stage !== shown
    const isDue = Date.now() - shownAt >= (output.status ? REDRAW_MS : NOTE_MS)
    if (!isDue && !isNew && !(output.status && done === total)) return
    shown = stage
    shownAt = Date.now()
    const all = count(total, NOUNS[stage])
    if (output.status) output.status(barOf(progress))
    else output.note(isNew ? `${VERBS[stage]} ${all}` : `  ${done.toLocaleString('en')} of ${all}`)
  }
}

function barOf({ stage, done, total, path }: Progress): string {
  const filled = Math.round((WIDTH * done) / Math.max(1, total))
  const drawn = '█'.repeat(filled) + '░'.repeat(WIDTH - filled)
  return `${VERBS[stage].padEnd(8)} ${drawn} ${done}/${total}  ${printable(path)}`
}
