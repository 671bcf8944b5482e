// Finds the rules by which a stylesheet imports others.

export interface ImportRule {
  /** The text between the rule before and this one, without comments. */
  readonly before: string
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
  const code = css.replace(COMMENT, comment => ' '.repeat(comment.length))
  let end = 0
  return Array.from(code.matchAll(RULE), ({ 0: rule, index, groups = {}, indices }) => {
    const before = code.slice(end, index)
    end = index + rule.length
    const name = ['double', 'single', 'bare'].find(each => groups[each] !== undefined) ?? ''
    const [url = 0] = indices?.groups?.[name] ?? []
    const condition = (groups['condition'] ?? '').trim()
    return { before, url, written: groups[name] ?? '', condition }
  })
}

/** Tells whether a stylesheet imports a URL twice: esbuild writes one of them behind a rule, where it is none. */
export function importsTwice(rules: readonly ImportRule[]): boolean {
  return new Set(rules.map(({ written }) => written)).size < rules.length
}
