import { printable } from './printable.ts'

const MAX_REMEMBERED = 1000

/** A log that says each thing once, so that a warning per request does not bury the rest. */
export function warnOnce(): (message: string) => void {
  return once(message => console.warn(`koa-fresh-assets: ${message}`))
}

export function once(log: (message: string) => void): (message: string) => void {
  const said = new Set<string>()
  return message => {
    if (said.has(message)) return
    if (said.size >= MAX_REMEMBERED) said.clear()
    said.add(message)
    log(printable(message))
  }
}
