// Logs each message once, so warnings about every request do not flood the log.
import { printable } from './printable.ts'

const MAX_REMEMBERED = 1000

export function warnOnce(): (message: string) => void {
  return once(message => console.warn(`koa-fresh-assets: ${message}`))
}

export function once(log: (message: string) => void): (message: string) => void {
  const logged = new Set<string>()
  return message => {
    if (logged.has(message)) return
    if (logged.size >= MAX_REMEMBERED) logged.clear()
    logged.add(message)
    log(printable(message))
  }
}
