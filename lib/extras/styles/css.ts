// Reads and changes the text of stylesheets, so that esbuild does not change their meaning.

const NO_CODE = /\/\*[^]*?\*\/|"(?:\\[^]|[^"\\\n])*"|'(?:\\[^]|[^'\\\n])*'/g

export function blanked(css: string): string {
  return css.replace(NO_CODE, text => text.replace(/[^\n]/g, ' '))
}

// Non-legacy colors, such as oklch(), stay as written: esbuild turns those within sRGB into hex, and gradients and
// transitions between legacy colors interpolate in another space (CSS Color 4 section 12.1). No option except
// `minifySyntax`, which shortens far more, turns that off. Without its first letter, the name is an unknown function to
// esbuild. The length stays the same, for the source map.

const FIRST_LETTER = /(?<![\w-])[clo](?=(?:klab|klch|ab|ch|olor)\()/gi
// Private-use characters before the rest of a function's name.
const HIDDEN = /[\ue043-\ue06f](?=(?:klab|klch|ab|ch|olor)\()/gi
const OFFSET = 0xe000

export const hiddenColors = (css: string) =>
  css.replace(FIRST_LETTER, letter => shifted(letter, OFFSET))

export const shownColors = (text: string) =>
  text.replace(HIDDEN, character => shifted(character, -OFFSET))

const shifted = (character: string, by: number) => String.fromCharCode(character.charCodeAt(0) + by)

const COLOR = /(?<![\w-])(?:oklab|oklch|lab|lch|color)\(/i
const PROPERTY = /^\s*[a-z-]+\s*:/i

/**
 * Repeats each declaration with such a color, hidden, for the browsers that know it: esbuild lowers the first one. The
 * lines stay the same, for the source map. A custom property, which need not be a color, is not repeated.
 */
export function withFallbacks(css: string): string {
  const blank = blanked(css)
  let [result, from, start, depth] = ['', 0, 0, 0]
  for (const { 0: sign, index } of blank.matchAll(/[;{}()]/g)) {
    if (sign === '(') depth++
    else if (sign === ')') depth--
    if (depth > 0 || sign === '(' || sign === ')') continue
    const declaration = blank.slice(start, index)
    const isColor = COLOR.test(declaration) && PROPERTY.test(declaration)
    if (sign !== '{' && isColor && !declaration.trim().startsWith('--')) {
      const copy = css.slice(start, index).trim()
      result += `${css.slice(from, index)};${hiddenColors(copy.replace(/\s*\n\s*/g, ' '))}`
      from = index
    }
    start = index + 1
  }
  return result + css.slice(from)
}

const COMMENT = /\/\*[^]*?\*\//g
const RULE =
  /@import\s*(?:url\(\s*)?(?:(["'])(?<quoted>[^]*?)\1|(?<bare>[^\s"';)]+))\s*\)?(?<condition>[^;{}]*)/dgi

/**
 * Returns, for each rule, the text between it and the one before, without comments, and its URL, with the offset
 * without quotes. The condition has the layer and the media as written.
 */
export function importRules(css: string) {
  const code = css.replace(COMMENT, comment => ' '.repeat(comment.length))
  let end = 0
  return Array.from(code.matchAll(RULE), ({ 0: rule, index, groups, indices }) => {
    const before = code.slice(end, index)
    end = index + rule.length
    const { quoted, bare = '', condition = '' } = groups ?? {}
    const [url = 0] = indices?.groups?.[quoted === undefined ? 'bare' : 'quoted'] ?? []
    return { before, url, written: quoted ?? bare, condition: condition.trim() }
  })
}

/** Tells whether a stylesheet imports a URL twice: esbuild writes one of them after a rule, where it has no effect. */
export function importsTwice(rules: ReturnType<typeof importRules>): boolean {
  return new Set(rules.map(({ written }) => written)).size < rules.length
}
