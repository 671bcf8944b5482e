// Finds the rules by which a stylesheet imports others.

export interface ImportRule {
  /** The offsets of its first character, and of that behind its last one. */
  readonly start: number
  readonly end: number
  /** The offset of the first character of the URL, without quotes. */
  readonly url: number
  /** The URL as it is written. */
  readonly written: string
  /** The layer, the conditions and the media, as they are written; empty for none. */
  readonly condition: string
}

const COMMENT = /\/\*[^]*?\*\//g
const RULE =
  /@import\s*(?:url\(\s*)?(?:"(?<double>[^"]*)"|'(?<single>[^']*)'|(?<bare>[^\s"';)]+))\s*\)?(?<condition>[^;{}]*)/dgi

export function importRules(css: string): ImportRule[] {
  return Array.from(blankComments(css).matchAll(RULE), ({ groups = {}, indices }) => {
    const [start = 0, end = 0] = indices?.[0] ?? []
    const name = ['double', 'single', 'bare'].find(each => groups[each] !== undefined) ?? ''
    const [url = 0] = indices?.groups?.[name] ?? []
    const condition = (groups['condition'] ?? '').trim()
    return { start, end, url, written: groups[name] ?? '', condition }
  })
}

/** Returns the text with each comment replaced by as many blanks. */
export const blankComments = (css: string) =>
  css.replace(COMMENT, comment => ' '.repeat(comment.length))

/** Tells whether a stylesheet imports a URL twice: esbuild writes one of them behind a rule, where it is none. */
export function importsTwice(css: string): boolean {
  const urls = importRules(css).map(({ written }) => written)
  return new Set(urls).size < urls.length
}
