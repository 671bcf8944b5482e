// Names of assets in the text of a view, whatever its language: literals in calls of the helpers.

/** What is called, and how a name without a known extension ends. */
export const HELPERS = {
  javascript: '.js',
  stylesheet: '.css',
  image: '',
  favicon: '',
  video: '',
  audio: '',
  path: '',
  url: '',
  preload: '',
  entry: '',
  entryFiles: '',
  importMap: '.js'
} as const

/** Helpers that take no name of an asset. */
export const OTHERS: ReadonlySet<string> = new Set(['app', 'live'])

export interface LiteralName {
  /** Undefined for a name that no helper has. */
  readonly helper: keyof typeof HELPERS | undefined
  /** Or that of what is called: `stylesheeet`. */
  readonly name: string
  /** The offset of the call in the text. */
  readonly at: number
  /** Whether it is a call of `assets.…`: an application may have its own function `path`. */
  readonly isCertain: boolean
}

/** `importMap({ entry: ['a', 'b'] })` has the names in its options. */
const CALL =
  /(?<![\w$])(\w+)\s*\((?:(?<=importMap\s*\()\s*\{[^{}]*?\bentry\s*:\s*\[?)?(?=\s*['"`])/g
const LITERAL =
  /\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\$]|\\.)*)`)\s*(?=[,)\]}])(,?)/y
const SEVERAL = new Set(['javascript', 'stylesheet', 'preload', 'entry', 'importMap'])

const MEMBER = /\.\s*$/
const OURS = /\b(?:assets|app\(\s*['"][^'"\n]*['"]\s*\))\s*\??\.\s*$/
const CONTEXT = /\bctx\s*\.\s*$/
/** `background: url('a.png'), url('b.png')` */
const CSS = new Set(['path', 'url', 'image'])
const IN_CSS = /[\w:,)]\s*$/
/** For EJS and Nunjucks. */
const COMMENT = /<%#[^]*?%>|\{#[^]*?#\}/g
const LONGEST_RECEIVER = 80

/** Names that are computed, or appear in options, are not found. */
export function literalNames(text: string): LiteralName[] {
  const found: LiteralName[] = []
  const code = text.replace(COMMENT, comment => ' '.repeat(comment.length))
  for (const { 0: call, 1: word = '', index: at } of code.matchAll(CALL)) {
    const helper = Object.hasOwn(HELPERS, word) ? (word as keyof typeof HELPERS) : undefined
    const before = code.slice(Math.max(0, at - LONGEST_RECEIVER), at)
    if (helper === undefined) {
      if (OURS.test(before) && !OTHERS.has(word))
        found.push({ helper, name: word, at, isCertain: true })
      continue
    }
    const isCertain = OURS.test(before) || (helper === 'preload' && CONTEXT.test(before))
    if (!isCertain && (MEMBER.test(before) || (CSS.has(helper) && IN_CSS.test(before)))) continue
    LITERAL.lastIndex = at + call.length
    for (let match = LITERAL.exec(code); match; match = match[4] ? LITERAL.exec(code) : null) {
      const literal = match[1] ?? match[2] ?? match[3] ?? ''
      found.push({ helper, name: literal.replace(/\\(.)/g, '$1'), at, isCertain })
      if (!SEVERAL.has(helper)) break
    }
  }
  return found
}
