// Keeps the colors of stylesheets that are not legacy ones, such as oklch(), as they are written: esbuild turns those
// within sRGB into hex, and gradients and transitions between legacy colors interpolate in another space (CSS Color 4
// section 12.1). No option but `minifySyntax`, which shortens far more, turns that off.
import type * as Esbuild from 'esbuild'

type Minify = (code: string) => Promise<Esbuild.TransformResult>

const COLOR = /(?<![\w-])[clo](?=(?:klab|klch|ab|ch|olor)\()/gi
// Characters for private use, in front of the rest of a function's name.
const HIDDEN = /[\ue043-\ue06f](?=(?:klab|klch|ab|ch|olor)\()/gi
const OFFSET = 0xe000

/** A name without its first letter is an unknown function to esbuild. Each stays as long, for the source map. */
export async function keepingColors(
  code: string,
  minify: Minify
): Promise<Esbuild.TransformResult> {
  const hidden = hiddenColors(code)
  if (hidden === code) return minify(code)
  // An error shows the text as it was written.
  const result = await minify(hidden).catch(() => minify(code))
  return {
    ...result,
    code: shownColors(result.code),
    map: shownColors(result.map),
    warnings: result.warnings.map(warning => ({ ...warning, text: shownColors(warning.text) }))
  }
}

export const hiddenColors = (code: string) => code.replace(COLOR, letter => shifted(letter, OFFSET))

export const shownColors = (text: string) =>
  text.replace(HIDDEN, character => shifted(character, -OFFSET))

const shifted = (character: string, by: number) => String.fromCharCode(character.charCodeAt(0) + by)
