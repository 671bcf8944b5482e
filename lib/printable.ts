// Makes text safe for terminals and logs: a file name must not move the cursor, start a line of its own, or change the
// reading direction.

// Control characters (C0, DEL, C1), line separators, and the marks, embeddings, overrides and isolates of UAX 9.
const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** Writes such characters as `\u001b`, which in JSON and in TypeScript means the same character. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escaped)
}

/** Does the same, but keeps newlines and tabs. */
export function printableLines(text: string): string {
  return text.replace(UNPRINTABLE, character =>
    /[\n\t]/.test(character) ? character : escaped(character)
  )
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

const MAX_REMEMBERED = 1000

const warn = (message: string) => console.warn(`koa-fresh-assets: ${message}`)

/** Logs each message once, so warnings about every request do not flood the log. */
export function warnOnce(log: (message: string) => void = warn): (message: string) => void {
  const logged = new Set<string>()
  return message => {
    if (logged.has(message)) return
    if (logged.size >= MAX_REMEMBERED) logged.clear()
    logged.add(message)
    log(printable(message))
  }
}
