// Text for a terminal or a log: what the name of a file holds must neither move the cursor, nor begin a
// line of its own, nor turn the direction of reading.

// Control characters (C0, DEL, C1), separators of lines, and the marks of UAX 9 that embed, override and
// isolate.
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** With what is not printable as an escape: `\u001b`. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escaped)
}

/** The same of text that has lines and tabs of its own. */
export function printableLines(text: string): string {
  return text.replace(UNPRINTABLE, character =>
    /[\n\t]/.test(character) ? character : escaped(character)
  )
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
