// Logs each message once, so warnings about every request do not flood the log.
import { printable } from './printable.ts'

const MAX_REMEMBERED = 1000

const warn = (message: string) => console.warn(`koa-fresh-assets: ${message}`)

export function warnOnce(log: (message: string) => void = warn): (message: string) => void {
  const logged = new Set<string>()
  return message => {
    if (logged.has(message)) return
    if (logged.size >= MAX_REMEMBERED) logged.clear()
    logged.add(message)
    log(printable(message))
  }
}
