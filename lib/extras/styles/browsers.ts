// Finds esbuild's names for the browsers of the option `target`, and the features that these browsers lack.
import { loadPeer } from '../../publishing/compilers/built-in.ts'
import { AssetError, reasonOf } from '../../runtime/errors.ts'
import { blanked } from './css.ts'
import { BROWSER } from './options.ts'

type Browserslist = (queries: readonly string[], options: { readonly path: string }) => string[]

/** esbuild's names by those of browserslist, which knows others, such as Opera Mini. */
const ENGINES = new Map([
  ...['chrome', 'edge', 'firefox', 'ie', 'opera', 'safari'].map(name => [name, name] as const),
  ...Object.entries({ and_chr: 'chrome', and_ff: 'firefox', android: 'chrome', ios_saf: 'ios' })
])
/** Android's own browser had Android's version numbers, up to 4.4. */
const WEBVIEW = 37

/** @throws AssetError for a text that neither tool knows, or if browserslist is needed but missing */
export async function browsersOf(target: string | readonly string[], root: string) {
  const given = [target].flat()
  const names = given.flatMap(each => each.trim().split(/\s*,\s*/))
  if (names.every(each => BROWSER.test(each))) return names.map(each => each.toLowerCase())
  const all = `'${given.join("', '")}'`
  const unusable = (reason: string) =>
    new AssetError('compile-failed', `the option target cannot be ${all}: ${reason}`)
  const peer = await loadPeer(['browserslist'], `the option target (${all})`, root)
  const list = async () => (peer as Browserslist)(given, { path: root })
  const listed = await list().catch((error: unknown) => {
    throw unusable(reasonOf(error))
  })
  const lowest = new Map<string, string>()
  for (const each of listed) {
    const [, browser = '', version = ''] = /^(\w+) ([\d.]+)/.exec(each) ?? []
    const engine = ENGINES.get(browser)
    const isOld = browser === 'android' && Number.parseInt(version, 10) < WEBVIEW
    if (isOld || engine === undefined) continue
    const known = lowest.get(engine)
    if (known === undefined || isOlder(version, known)) lowest.set(engine, version)
  }
  if (lowest.size > 0) return Array.from(lowest, each => each.join(''))
  throw unusable('it matches no browser that esbuild knows')
}

const isOlder = (version: string, other: string) =>
  version.localeCompare(other, 'en', { numeric: true }) < 0

// The tables list features that esbuild leaves unchanged, although browsers of the target lack them. The versions are
// from MDN's browser-compat-data; those that merely have no effect in older browsers, such as text-wrap, are left out.

/** A feature, with the first versions of Chrome, Firefox and Safari that support it. */
type Feature = readonly [name: string, written: RegExp, versions: string]

const inCustomProperty = (functions: string) =>
  new RegExp(`(?<=[;{\\s]--[\\w-]+\\s*:[^;{}]*)\\b(?:${functions})\\(`, 'gi')

const IN_CSS: readonly Feature[] = [
  ['light-dark()', /\blight-dark\(/gi, '123 120 17.5'],
  ['color-mix()', /\bcolor-mix\(/gi, '111 113 16.2'],
  // Chrome from 119 on and Safari from 16.4 on compute other colors.
  ['a color made from another', /\b(?:hsl|hwb)\(\s*from\b/gi, '125 128 18'],
  ['a color made from another', /\b(?:rgb|lab|lch|oklab|oklch|color)\(\s*from\b/gi, '122 128 18'],
  ['a modern color in a custom property', inCustomProperty('oklab|oklch'), '111 113 15.4'],
  ['a modern color in a custom property', inCustomProperty('lab|lch|color'), '111 113 15'],
  ['a modern color in a custom property', inCustomProperty('hwb'), '101 96 15'],
  [
    'a gradient with a color space',
    /\bgradient\([^;{}]*?\bin\s+(?:srgb|display-p3|a98-rgb|prophoto-rgb|rec2020|(?:ok)?l(?:ab|ch)|hsl|hwb|xyz)/gi,
    '111 127 16.2'
  ],
  [':has()', /:has\(/gi, '105 121 15.4'],
  [':is()', /:is\(/gi, '88 78 14'],
  [':where()', /:where\(/gi, '88 78 14'],
  [':not() with a list', /:not\([^()]*,/gi, '88 84 9'],
  [':focus-visible', /:focus-visible\b/gi, '86 85 15.4'],
  ['@container', /@container\b/gi, '105 110 16'],
  ['@layer', /@layer\b|@import\s+(?:url\([^)]*\)\s*)?layer\b/gi, '99 97 15.4'],
  ['@scope', /@scope\b/gi, '118 146 17.4'],
  ['subgrid', /:\s*[^;{}]*\bsubgrid\b/gi, '117 71 16']
]

const ATTRIBUTE = String.raw`(?:(?<=\b(?:from|import)\s*["'][^"'\n]*["']\s*)\bwith\s*|\bimport\s*\(\s*["'][^"'\n]*["']\s*,\s*\{\s*with\s*:\s*)\{\s*`
const CSS = String.raw`type\s*:\s*["']css["']`

const IN_SCRIPTS: readonly Feature[] = [
  ['an import attribute', new RegExp(`${ATTRIBUTE}(?!${CSS})`, 'g'), '123 138 17.2'],
  ['a stylesheet as a module', new RegExp(ATTRIBUTE + CSS, 'g'), '123 147 Infinity'],
  // esbuild turns some expressions into calls of RegExp, which throw in these browsers, without a warning.
  ['a lookbehind in a regular expression', /\(\?<[=!]/g, '62 78 16.4'],
  ['a modifier in a regular expression', /\(\?[ims]*-?[ims]+:/g, '125 132 26']
]

/** Returns the features in a text that a browser of the target lacks, each once. */
export function lackingIn(code: string, isCss: boolean, target: readonly string[]) {
  const text = isCss ? blanked(code) : code
  return (isCss ? IN_CSS : IN_SCRIPTS).flatMap(([name, written, versions]) => {
    const browser = target.find(each => lacks(each, versions.split(' ')))
    const at = browser === undefined ? -1 : text.search(written)
    return browser === undefined || at === -1 ? [] : [{ name, browser, at }]
  })
}

const SAME: Readonly<Record<string, string>> = { edge: 'chrome', ios: 'safari' }

function lacks(browser: string, versions: readonly string[]): boolean {
  const [, engine = '', version = ''] = /^([a-z]+)([\d.]+)$/.exec(browser) ?? []
  const least = versions[['chrome', 'firefox', 'safari'].indexOf(SAME[engine] ?? engine)]
  return engine === 'ie' || (least !== undefined && isOlder(version, least))
}
