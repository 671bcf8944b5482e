// Progress of a long run: a bar on a terminal, a few lines in a log.
import { printable } from '../printable.ts'
import { count } from './format.ts'
import type { Output, Terminal } from './output.ts'

export interface Progress {
  readonly stage: keyof typeof VERBS
  readonly done: number
  readonly total: number
  readonly path: string
}

export interface ProgressView {
  readonly update: (progress: Progress) => void
  /** Prints something above the bar. */
  readonly interrupt: (print: () => void) => void
  readonly end: () => void
}

const VERBS = { compile: 'Building', write: 'Writing', compress: 'Compressing' } as const
const NOUNS = { compile: 'asset', write: 'asset', compress: 'file' } as const

/** @param everyAsset print a line for each asset or file, even on a terminal */
export function makeProgress(output: Output, everyAsset: boolean): ProgressView {
  if (everyAsset) {
    return lines(({ stage, path }) => output.note(`${VERBS[stage]} ${printable(path)}`))
  }
  return output.terminal ? bar(output.terminal) : lines(perStage(output))
}

function lines(update: (progress: Progress) => void): ProgressView {
  return { update, interrupt: print => print(), end: () => undefined }
}

// Long enough to keep a log short, short enough to distinguish a slow run from a hung one.
const EVERY_MS = 10_000

function perStage(output: Output): (progress: Progress) => void {
  let stage: Progress['stage'] | undefined
  let notedAt = 0
  return progress => {
    const now = Date.now()
    const total = count(progress.total, NOUNS[progress.stage])
    if (progress.stage !== stage) output.note(`${VERBS[progress.stage]} ${total}`)
    else if (now - notedAt < EVERY_MS) return
    else output.note(`  ${progress.done.toLocaleString('en')} of ${total}`)
    stage = progress.stage
    notedAt = now
  }
}

const REDRAW_MS = 40
const CLEAR = '\r\u001B[K'
const WIDTH = 24

function bar(terminal: Terminal): ProgressView {
  let last: Progress | undefined
  let drawnAt = 0
  const draw = () => {
    drawnAt = Date.now()
    if (last) terminal.write(CLEAR + line(last, terminal.columns))
  }
  return {
    update(progress) {
      last = progress
      if (Date.now() - drawnAt >= REDRAW_MS || progress.done === progress.total) draw()
    },
    interrupt(print) {
      terminal.write(CLEAR)
      print()
      draw()
    },
    end() {
      if (last) terminal.write(CLEAR)
    }
  }
}

/** Never wider than the terminal: a line that wraps cannot be overwritten. */
function line({ stage, done, total, path }: Progress, columns: number): string {
  const filled = Math.round((WIDTH * done) / Math.max(1, total))
  const drawn = '█'.repeat(filled) + '░'.repeat(WIDTH - filled)
  const text = `${VERBS[stage].padEnd(8)} ${drawn} ${done}/${total}  ${printable(path)}`
  return text.slice(0, Math.max(0, (columns || 80) - 1))
}
