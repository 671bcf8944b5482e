// Finds and replaces the references in published text: url(), image-set() and @import in CSS, sourceMappingURL in CSS
// and JavaScript; modules.ts finds those of modules. The two steps are separate so that the caller can read the
// disk between them.
import {
  ParseErrorWithToken,
  TokenType,
  tokenizer,
  type CSSToken,
  type TokenURL
} from '@csstools/css-tokenizer'
import type { Lead } from '../compilers/leads.ts'

export interface Reference {
  /** The offset of the reference in the text, quotes included. */
  readonly start: number
  readonly end: number
  /** The URL without quotes, escapes, query or fragment. */
  readonly path: string
  /** `?query#fragment`, as written. */
  readonly suffix: string
  readonly kind: ReferenceKind
  /** The target that settings such as `paths` of tsconfig.json give to a bare specifier. */
  readonly lead?: Lead | undefined
  readonly type?: string | undefined
  /** The end offset of the import attributes that follow the reference. */
  readonly attributesEnd?: number | undefined
}

type ReferenceKind = 'url' | 'string' | 'source-map' | 'constant' | ModuleKind
type ModuleKind = 'import' | 'dynamic-import' | 'accepted' | 'new-url'

export const isInModule = ({ kind }: Pick<Reference, 'kind'>) =>
  /^(?:import|dynamic-import|accepted|new-url)$/.test(kind)

const SCRIPT_MAP = /^[ \t]*\/\/[#@]\s*sourceMappingURL=(?<url>\S+)[ \t]*$/gmu

/** Finds every reference that may lead to an asset, in order, except for those of modules. */
export function findReferences(type: 'css' | 'js', text: string): Reference[] {
  const inScript = () =>
    Array.from(text.matchAll(SCRIPT_MAP), match => mapReference(match, match.index))
  return (type === 'css' ? findInCss(text) : inScript()).filter(mayBeAsset)
}

/** A text without any of these has no references; an escape may hide them. */
const CANDIDATE = /url|@import|image-set|\\/i

/** Follows the tokens of css-syntax-3. A URL or string that the end of the text cuts off is left alone. */
function findInCss(css: string): Reference[] {
  if (!CANDIDATE.test(css)) return []
  const found: Reference[] = []
  const functions: string[] = []
  let rule = ''
  let unclosed: CSSToken | undefined
  const onParseError = (error: Error) => {
    if (error instanceof ParseErrorWithToken) unclosed = error.token
  }
  const tokens = tokenizer({ css }, { onParseError })
  while (!tokens.endOfFile()) {
    const token = tokens.nextToken()
    const type = token[0]
    if (token === unclosed) continue
    if (type === TokenType.AtKeyword) rule = token[4].value.toLowerCase()
    else if (type === TokenType.Function) functions.push(token[4].value.toLowerCase())
    else if (type === TokenType.OpenParen) functions.push('')
    else if (type === TokenType.CloseParen) functions.pop()
    else if (type === TokenType.URL) found.push(urlReference(token))
    else if (type === TokenType.Comment) {
      const map = CSS_MAP.exec(token[1])
      if (map) found.push(mapReference(map, token[2]))
    } else if (type === TokenType.String && isUrl(functions.at(-1), rule)) {
      const [, raw, start, , { value }] = token
      found.push(makeReference(start, start + raw.length, value, 'string'))
    } else if (ENDS_RULE.has(type)) rule = ''
  }
  return found
}

const { Semicolon, OpenCurly, CloseCurly } = TokenType
const ENDS_RULE: ReadonlySet<TokenType> = new Set([Semicolon, OpenCurly, CloseCurly])

/** Tells whether a string is a URL: it is one in url("…"), in image-set("…" 1x) and in the prelude of @import. */
function isUrl(around: string | undefined, rule: string): boolean {
  if (around === undefined) return rule === 'import'
  return around === 'url' || around.endsWith('image-set')
}

function urlReference([, raw, at, , { value }]: TokenURL): Reference {
  const start = at + (/^[^(]*\([ \t\r\n\f]*/.exec(raw)?.[0].length ?? 0)
  const end = at + raw.search(/[ \t\r\n\f]*\)$/)
  return makeReference(start, Math.max(start, end), value, 'url')
}

const CSS_MAP = /^\/\*[#@]\s*sourceMappingURL=(?<url>[^\s*]+)\s*\*\/$/u

function mapReference(match: RegExpExecArray, at: number): Reference {
  const url = match.groups?.['url'] ?? ''
  const start = at + match[0].indexOf('=') + 1
  return makeReference(start, start + url.length, url, 'source-map')
}

export function makeReference(start: number, end: number, url: string, kind: ReferenceKind) {
  const cut = url.search(/[?#]/)
  const [path, suffix] = cut === -1 ? [url, ''] : [url.slice(0, cut), url.slice(cut)]
  return { start, end, path, suffix, kind }
}

// Matches a scheme, `//host`, or nothing but query and fragment.
const ELSEWHERE = /^(?:[a-z][a-z\d+.-]*:|\/\/|$)/i

/** Absolute URLs, `data:` URLs and mere fragments do not lead to assets. */
export const mayBeAsset = ({ path }: Reference) => !ELSEWHERE.test(path)

export interface Referring {
  readonly code: string
  readonly references: readonly Reference[]
}

/** A URL for each reference; undefined leaves the reference unchanged. */
export type Urls = readonly (string | undefined)[]

export function replaceReferences(text: string, references: readonly Reference[], urls: Urls) {
  let result = ''
  let at = 0
  references.forEach((reference, index) => {
    const url = urls[index]
    if (url === undefined) return
    result += text.slice(at, reference.start) + writtenReference(reference, url)
    at = reference.end
    if (reference.attributesEnd === undefined || !SCRIPT.test(url)) return
    // A package's JSON is published as a script, which browsers do not accept as JSON. Columns stay.
    result += text.slice(at, reference.attributesEnd).replace(/\S/g, ' ')
    at = reference.attributesEnd
  })
  return result + text.slice(at)
}

const SCRIPT = /\.m?js(?:$|\?)/

export function writtenReference({ suffix, kind }: Reference, url: string): string {
  const hasTwoQueries = url.includes('?') && suffix.startsWith('?')
  const whole = url + (hasTwoQueries ? suffix.replace('?', '&') : suffix)
  if (kind === 'source-map' || kind === 'constant') return whole
  const needsQuotes = kind !== 'url' || /[\s"'()\\]/.test(whole)
  return needsQuotes ? `"${whole.replace(/["\\\n\r]/g, encodeURIComponent)}"` : whole
}

export type Position = ReturnType<typeof positionsOf>[number]

/** Lines and columns count from 0. The `offsets` must ascend. */
export function positionsOf(text: string, offsets: readonly number[]) {
  const starts = [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)]
  let line = 0
  return offsets.map(offset => {
    while ((starts[line + 1] ?? Infinity) <= offset) line++
    return { line, column: offset - (starts[line] ?? 0) }
  })
}
