// Finds what esbuild leaves as it is, although browsers of the target do not know it. The versions are those of MDN's
// browser-compat-data; what merely has no effect in an older browser, such as text-wrap, is not here.
import { isOlder } from './browsers.ts'

interface Feature {
  readonly name: string
  readonly written: RegExp
  readonly chrome: string
  readonly firefox: string
  readonly safari: string
}

const feature = (name: string, written: RegExp, versions: string): Feature => {
  const [chrome = '', firefox = '', safari = ''] = versions.split(' ')
  return { name, written, chrome, firefox, safari }
}

const inCustomProperty = (functions: string) =>
  new RegExp(`(?<=[;{\\s]--[\\w-]+\\s*:[^;{}]*)\\b(?:${functions})\\(`, 'gi')

const IN_CSS = [
  feature('light-dark()', /\blight-dark\(/gi, '123 120 17.5'),
  feature('color-mix()', /\bcolor-mix\(/gi, '111 113 16.2'),
  // Chrome from 119 on and Safari from 16.4 on compute other colors.
  feature('a color made from another', /\b(?:hsl|hwb)\(\s*from\b/gi, '125 128 18'),
  feature(
    'a color made from another',
    /\b(?:rgb|lab|lch|oklab|oklch|color)\(\s*from\b/gi,
    '122 128 18'
  ),
  feature('a modern color in a custom property', inCustomProperty('oklab|oklch'), '111 113 15.4'),
  feature('a modern color in a custom property', inCustomProperty('lab|lch|color'), '111 113 15'),
  feature('a modern color in a custom property', inCustomProperty('hwb'), '101 96 15'),
  feature(
    'a gradient with a color space',
    /\bgradient\([^;{}]*?\bin\s+(?:srgb|display-p3|a98-rgb|prophoto-rgb|rec2020|(?:ok)?l(?:ab|ch)|hsl|hwb|xyz)/gi,
    '111 127 16.2'
  ),
  feature(':has()', /:has\(/gi, '105 121 15.4'),
  feature(':is()', /:is\(/gi, '88 78 14'),
  feature(':where()', /:where\(/gi, '88 78 14'),
  feature(':not() with a list', /:not\([^()]*,/gi, '88 84 9'),
  feature(':focus-visible', /:focus-visible\b/gi, '86 85 15.4'),
  feature('@container', /@container\b/gi, '105 110 16'),
  feature('@layer', /@layer\b|@import\s+(?:url\([^)]*\)\s*)?layer\b/gi, '99 97 15.4'),
  feature('@scope', /@scope\b/gi, '118 146 17.4'),
  feature('subgrid', /:\s*[^;{}]*\bsubgrid\b/gi, '117 71 16')
]

const ATTRIBUTE = String.raw`(?:(?<=\b(?:from|import)\s*["'][^"'\n]*["']\s*)\bwith\s*|\bimport\s*\(\s*["'][^"'\n]*["']\s*,\s*\{\s*with\s*:\s*)\{\s*`
const CSS = String.raw`type\s*:\s*["']css["']`

const IN_SCRIPTS = [
  feature('an import attribute', new RegExp(`${ATTRIBUTE}(?!${CSS})`, 'g'), '123 138 17.2'),
  feature('a stylesheet as a module', new RegExp(ATTRIBUTE + CSS, 'g'), '123 147 Infinity'),
  // Esbuild makes some expressions calls of RegExp, which throw in these browsers, and says nothing.
  feature('a lookbehind in a regular expression', /\(\?<[=!]/g, '62 78 16.4'),
  feature('a modifier in a regular expression', /\(\?[ims]*-?[ims]+:/g, '125 132 26')
]

/** Returns what a text has that a browser of the target lacks, each once. */
export function lackingIn(code: string, isCss: boolean, target: readonly string[]) {
  const all = isCss ? IN_CSS : IN_SCRIPTS
  const text = isCss ? blanked(code) : code
  return all.flatMap(({ name, written, ...since }) => {
    const browser = target.find(each => lacks(each, since))
    const at = browser === undefined ? -1 : text.search(written)
    return browser === undefined || at === -1 ? [] : [{ name, browser, at }]
  })
}

const SAME: Readonly<Record<string, string>> = { edge: 'chrome', ios: 'safari', opera: 'chrome' }
/** Opera is Chrome with version numbers that are so much lower. */
const OPERA = 14

function lacks(browser: string, since: Readonly<Record<string, string>>): boolean {
  const [, engine = '', version = ''] = /^([a-z]+)([\d.]+)$/.exec(browser) ?? []
  const least = since[SAME[engine] ?? engine]
  const same = engine === 'opera' ? String(Number.parseInt(version, 10) + OPERA) : version
  return engine === 'ie' || (least !== undefined && isOlder(same, least))
}

const NO_CODE = /\/\*[^]*?\*\/|"(?:\\[^]|[^"\\\n])*"|'(?:\\[^]|[^'\\\n])*'/g

/** Returns a stylesheet with blanks for its comments and strings, as long as before. */
export function blanked(css: string): string {
  return css.replace(NO_CODE, text => text.replace(/[^\n]/g, ' '))
}
