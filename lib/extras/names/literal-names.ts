// Finds literal names in calls of the helpers in the text of a view, whatever its language.
import type { ViewHelpers } from '../../runtime/views/view-helpers.ts'

/** Each helper that takes names has the extension that it appends to a name without a known one. */
export const HELPERS = {
  javascript: '.js',
  stylesheet: '.css',
  image: '',
  inline: '',
  favicon: '',
  video: '',
  audio: '',
  path: '',
  url: '',
  preload: '',
  entry: '',
  entryFiles: '',
  importMap: '.js'
} as const satisfies Record<Exclude<keyof ViewHelpers, Other>, string> & Record<string, string>

/** These members take no name of an asset. */
type Other = 'app' | 'devOrigins' | 'live' | 'version'
export const OTHERS: ReadonlySet<string> = new Set<Other>(['app', 'devOrigins', 'live', 'version'])

export interface LiteralName {
  /** The helper that is called; undefined for a name that no helper has. */
  readonly helper: keyof typeof HELPERS | undefined
  /** The name of an asset, or of the unknown helper: `stylesheeet`. */
  readonly name: string
  /** The offset of the call in the text. */
  readonly at: number
  /** True for a call of `assets.…`: an application may have its own function `path`. */
  readonly isCertain: boolean
  /** The app of a call such as `app('admin').path('menu.css')`. */
  readonly app?: string
}

/**
 * `importMap({ entry: ['a', 'b'] })` has the names in its options, `entry(['a', 'b'])` in a list; `favicon()` has
 * a default.
 */
const CALL =
  /(?<![\w$])(\w+)\s*\((?:(?:(?<=importMap\s*\()\s*\{[^{}]*?\bentry\s*:\s*\[?|(?<=\bentry\s*\()\s*\[)?(?=\s*['"`])|(?<=\bfavicon\s*\()(?=\s*(\))))/g
const LITERAL =
  /\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\$]|\\.)*)`)\s*(?=[,)\]}])(,?)/y
const SEVERAL = new Set(['javascript', 'stylesheet', 'preload', 'entry', 'importMap'])

const MEMBER = /\.\s*$/
const OURS = /\b(?:assets|app\(\s*['"]([^'"\n]*)['"]\s*\))\s*\??\.\s*$/
const CONTEXT = /\bctx\s*\.\s*$/
/** `background: url('a.png'), url('b.png')` */
const CSS = new Set(['path', 'url', 'image'])
const IN_CSS = /[\w:,)]\s*$/
/** EJS and Nunjucks have such comments. */
const COMMENT = /<%#[^]*?%>|\{#[^]*?#\}/g
const LONGEST_RECEIVER = 80

/** Names that are computed, or appear in options, are not found. */
export function literalNames(text: string): LiteralName[] {
  const found: LiteralName[] = []
  const code = text.replace(COMMENT, comment => ' '.repeat(comment.length))
  for (const { 0: call, 1: word = '', 2: end, index: at } of code.matchAll(CALL)) {
    const helper = Object.hasOwn(HELPERS, word) ? (word as keyof typeof HELPERS) : undefined
    const before = code.slice(Math.max(0, at - LONGEST_RECEIVER), at)
    const ours = OURS.exec(before)
    const of = ours?.[1] === undefined ? {} : { app: ours[1] }
    if (helper === undefined) {
      if (ours && !OTHERS.has(word)) found.push({ helper, name: word, at, isCertain: true, ...of })
      continue
    }
    const isCertain = ours !== null || (helper === 'preload' && CONTEXT.test(before))
    if (!isCertain && (MEMBER.test(before) || (CSS.has(helper) && IN_CSS.test(before)))) continue
    // Without a receiver it may be koa-favicon's.
    if (end && ours) found.push({ helper, name: 'favicon.ico', at, isCertain, ...of })
    LITERAL.lastIndex = at + call.length
    for (let match = LITERAL.exec(code); match; match = match[4] ? LITERAL.exec(code) : null) {
      const literal = match[1] ?? match[2] ?? match[3] ?? ''
      found.push({ helper, name: literal.replace(/\\(.)/g, '$1'), at, isCertain, ...of })
      if (!SEVERAL.has(helper)) break
    }
  }
  return found
}
