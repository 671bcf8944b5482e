// Ctrl-C, and the signal that ends a container.
import { constants } from 'node:os'
import type { Output } from './output.ts'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/**
 * The first signal aborts the work in an orderly way, the second one ends the process.
 * @param state what an aborted run leaves behind: `nothing was published`
 */
export async function untilInterrupted(
  output: Output,
  state: string,
  work: (signal: AbortSignal) => Promise<number>
): Promise<number> {
  const controller = new AbortController()
  const stop = (name: NodeJS.Signals) => controller.abort(name)
  for (const name of SIGNALS) process.once(name, stop)
  try {
    return await work(controller.signal)
  } catch (error) {
    const { reason } = controller.signal as { reason?: NodeJS.Signals }
    if (reason === undefined || error !== reason) throw error
    output.error(`Stopped by ${reason}; ${state}.`)
    // The convention of shells.
    return 128 + constants.signals[reason]
  } finally {
    for (const name of SIGNALS) process.off(name, stop)
  }
}
