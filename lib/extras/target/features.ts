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

const COLOR = '(?:oklab|oklch|lab|lch|color)\\('

const IN_CSS = [
  feature('light-dark()', /\blight-dark\(/gi, '123 120 17.5'),
  feature('color-mix()', /\bcolor-mix\(/gi, '111 113 16.2'),
  feature(
    'a color made from another',
    /\b(?:rgb|hsl|hwb|lab|lch|oklab|oklch|color)\(\s*from\b/gi,
    '119 128 16.4'
  ),
  feature(
    'a modern color in a custom property',
    new RegExp(`(?<=[;{\\s]--[\\w-]+\\s*:[^;{}]*)\\b${COLOR}`, 'gi'),
    '111 113 15.4'
  ),
  feature(
    'a gradient with a color space',
    /\bgradient\([^;{}]*?\bin\s+(?:srgb|display-p3|(?:ok)?l(?:ab|ch)|hsl|hwb|xyz)/gi,
    '111 127 16.2'
  ),
  feature(':has()', /:has\(/gi, '105 121 15.4'),
  feature('@container', /@container\b/gi, '105 110 16'),
  feature('@layer', /@layer\b/gi, '99 97 15.4'),
  feature('@scope', /@scope\b/gi, '118 146 17.4'),
  feature('subgrid', /:\s*[^;{}]*\bsubgrid\b/gi, '117 71 16')
]

const IN_SCRIPTS = [
  feature(
    'an import attribute',
    /(?<=\b(?:from|import)\s*["'][^"'\n]*["']\s*)\bwith\s*\{/g,
    '123 138 17.2'
  )
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

const SAME: Readonly<Record<string, string>> = { edge: 'chrome', ios: 'safari' }

function lacks(browser: string, since: Readonly<Record<string, string>>): boolean {
  const [, engine = '', version = ''] = /^([a-z]+)([\d.]+)$/.exec(browser) ?? []
  const least = since[SAME[engine] ?? engine]
  return engine === 'ie' || (least !== undefined && isOlder(version, least))
}

const NO_CODE = /\/\*[^]*?\*\/|"(?:\\[^]|[^"\\\n])*"|'(?:\\[^]|[^'\\\n])*'/g

/** Returns a stylesheet with blanks for its comments and strings, as long as before. */
export function blanked(css: string): string {
  return css.replace(NO_CODE, text => text.replace(/[^\n]/g, ' '))
}
