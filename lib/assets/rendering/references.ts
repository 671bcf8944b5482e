// References in published text: url(), image-set() and @import in CSS, sourceMappingURL in both.
// Finding and replacing are apart, so that what lies between may ask the disk.

export interface Reference {
  /** Where the written reference begins and ends in the text, quotes and all. */
  readonly start: number
  readonly end: number
  /** The URL without quotes, escapes, query and fragment. */
  readonly path: string
  /** `?query#fragment`, as written. */
  readonly suffix: string
  readonly kind: 'url' | 'string' | 'source-map'
}

// One token of CSS (css-syntax-3, section 4.3), as far as references care.
const CSS_TOKEN =
  /\/\*(?:[#@]\s*sourceMappingURL=(?<map>[^\s*]+)\s*\*\/)?|(?<string>"(?:\\[^]|[^"\\\n])*"|'(?:\\[^]|[^'\\\n])*')|(?<url>(?<![\w-])url\(\s*(?!["'\s])(?<bare>(?:\\(?:[\da-f]{6}\s?|[\da-f]{1,5}(?![\da-f])\s?|[^\da-f])|[^\s"'()\\])*)\s*\))|(?<at>@[a-z-]+)|(?<open>(?<![\w-])[\w-]+\(|\()|(?<close>\))|(?<end>[;{}])|\\(?:[\da-f]{1,6}\s?|[^])/giu

const SCRIPT_MAP = /^[ \t]*\/\/[#@]\s*sourceMappingURL=(?<map>\S+)[ \t]*$/gmu

/** Every reference of a text that is not absolute, `data:` or a mere fragment, in order. */
export function findReferences(type: 'css' | 'js', text: string): Reference[] {
  return type === 'css' ? findInCss(text) : findInScript(text)
}

function findInScript(text: string): Reference[] {
  return [...text.matchAll(SCRIPT_MAP)].flatMap(match => mapReference(match, text) ?? [])
}

function findInCss(text: string): Reference[] {
  const found: Array<Reference | undefined> = []
  const functions: string[] = []
  let rule = ''
  CSS_TOKEN.lastIndex = 0
  for (let match = CSS_TOKEN.exec(text); match; match = CSS_TOKEN.exec(text)) {
    const { map, string, url, bare, at, open, close, end } = match.groups ?? {}
    if (at) rule = at.toLowerCase()
    else if (end) rule = ''
    else if (open) functions.push(open.slice(0, -1).toLowerCase())
    else if (close) functions.pop()
    else if (url) found.push(bareReference(match, bare ?? ''))
    else if (string && isReference(functions, rule)) found.push(stringReference(match, string))
    else if (map) found.push(mapReference(match, text))
    if (match[0].startsWith('/*') && !map) skipComment(text)
  }
  return found.filter(one => one !== undefined)
}

function skipComment(text: string): void {
  const end = text.indexOf('*/', CSS_TOKEN.lastIndex)
  CSS_TOKEN.lastIndex = end === -1 ? text.length : end + 2
}

/** A string is a reference in url("…"), in image-set("…" 1x) and right after @import. */
function isReference(functions: readonly string[], rule: string): boolean {
  const around = functions.at(-1)
  if (around === undefined) return rule === '@import'
  return around === 'url' || around.endsWith('image-set')
}

function stringReference(match: RegExpExecArray, string: string): Reference | undefined {
  return reference(
    match.index,
    match.index + string.length,
    unescape(string.slice(1, -1)),
    'string'
  )
}

function bareReference(match: RegExpExecArray, bare: string): Reference | undefined {
  const start = match.index + match[0].indexOf('(') + 1
  const at = match[0].slice(start - match.index).length
  const lead = at - match[0].slice(start - match.index).trimStart().length
  return reference(start + lead, start + lead + bare.length, unescape(bare), 'url')
}

function mapReference(
  match: RegExpExecArray | RegExpMatchArray,
  text: string
): Reference | undefined {
  const map = match.groups?.map ?? ''
  const start = text.indexOf(map, (match.index ?? 0) + match[0].indexOf('='))
  return reference(start, start + map.length, map, 'source-map')
}

// A scheme, `//host` or a fragment of the same document leads elsewhere.
const ELSEWHERE = /^(?:[a-z][a-z\d+.-]*:|\/\/|#|\?|$)/i

function reference(
  start: number,
  end: number,
  url: string,
  kind: Reference['kind']
): Reference | undefined {
  if (ELSEWHERE.test(url)) return undefined
  const cut = url.search(/[?#]/)
  const [path, suffix] = cut === -1 ? [url, ''] : [url.slice(0, cut), url.slice(cut)]
  return { start, end, path, suffix, kind }
}

/** CSS escapes: `\20 ` is a blank, `\(` a parenthesis, a backslash at the end of a line nothing. */
function unescape(text: string): string {
  if (!text.includes('\\')) return text
  return text.replace(/\\(?:([0-9a-f]{1,6})\s?|(\n)|([^]))/giu, (_, hex, newline, plain) => {
    if (hex) return String.fromCodePoint(Math.min(parseInt(String(hex), 16), 0x10ffff))
    return newline ? '' : String(plain)
  })
}

/** The text with each reference replaced by its URL; where there is none, as it was written. */
export function replaceReferences(
  text: string,
  references: readonly Reference[],
  urls: readonly (string | undefined)[]
): string {
  let result = ''
  let at = 0
  references.forEach((reference, index) => {
    const url = urls[index]
    if (url === undefined) return
    result += text.slice(at, reference.start) + writtenReference(reference, url)
    at = reference.end
  })
  return result + text.slice(at)
}

/** What stands in the text in place of a reference. */
export function writtenReference({ suffix, kind }: Reference, url: string): string {
  return written(withSuffix(url, suffix), kind)
}

function withSuffix(url: string, suffix: string): string {
  return url.includes('?') && suffix.startsWith('?') ? `${url}&${suffix.slice(1)}` : url + suffix
}

function written(url: string, kind: Reference['kind']): string {
  if (kind === 'source-map') return url
  const plain = kind === 'url' && !/[\s"'()\\]/.test(url)
  return plain ? url : `"${url.replace(/["\\\n]/g, character => encodeURIComponent(character))}"`
}
