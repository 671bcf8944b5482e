// Escapes text for terminals and logs: a file name must not move the cursor, start a line of its own, or
// change the reading direction.

// Control characters (C0, DEL, C1), line separators, and the embeddings, overrides and isolates of UAX 9.
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** Escapes as `\u001b`. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escaped)
}

/** Keeps newlines and tabs. */
export function printableLines(text: string): string {
  return text.replace(UNPRINTABLE, character =>
    /[\n\t]/.test(character) ? character : escaped(character)
  )
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
