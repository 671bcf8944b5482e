// Keeps the colors that are not legacy ones behind those to which esbuild lowers them, for the browsers that know them.
import { hiddenColors } from '../minify/colors.ts'
import { blanked } from './features.ts'

const COLOR = /(?<![\w-])(?:oklab|oklch|lab|lch|color)\(/i
const PROPERTY = /^\s*[a-z-]+\s*:/i

/**
 * Repeats each declaration with such a color: the second one is hidden from esbuild. Lines stay lines, for the source
 * map. Nothing replaces a custom property, which is not known to be a color.
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
      const copy = css
        .slice(start, index)
        .trim()
        .replace(/\s*\n\s*/g, ' ')
      result += `${css.slice(from, index)};${hiddenColors(copy)}`
      from = index
    }
    start = index + 1
  }
  return result + css.slice(from)
}
