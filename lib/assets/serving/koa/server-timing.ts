// Server-Timing (W3C): how long this request has waited for its asset to be published. Browsers show it.
import type { Context } from 'koa'

interface Publication {
  /** In milliseconds. */
  readonly duration: number
  readonly compileDuration?: number | undefined
}

/** @param since the publication of the asset since a moment by `performance.now()` */
export function startTiming(since: (start: number) => Publication | undefined) {
  const startedAt = performance.now()
  let isSet = false
  return (ctx: Context): void => {
    const publication = since(startedAt)
    if (!publication || isSet) return
    isSet = true
    const { duration, compileDuration } = publication
    const compile = compileDuration === undefined ? [] : [metric('compile', compileDuration)]
    ctx.append('Server-Timing', [metric('publish', duration), ...compile].join(', '))
  }
}

function metric(name: string, milliseconds: number): string {
  return `${name};dur=${milliseconds.toFixed(1)}`
}
