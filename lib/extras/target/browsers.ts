// Finds esbuild's names for the browsers of the option `target`.
import { loadPeer } from '../../publishing/compilers/built-in.ts'
import { AssetError, reasonOf } from '../../runtime/errors.ts'
import type { Target } from './options.ts'

type Browserslist = (queries: readonly string[], options: { readonly path: string }) => string[]

const NAME =
  /^(?:es(?:\d{1,4}|next)|(?:chrome|deno|edge|firefox|hermes|ie|ios|node|opera|rhino|safari)\d+(?:\.\d+){0,2})$/i

/** Names of browserslist. It knows others, such as Opera Mini, of which esbuild has no table. */
const ENGINES: Readonly<Record<string, string>> = {
  and_chr: 'chrome',
  and_ff: 'firefox',
  android: 'chrome',
  chrome: 'chrome',
  edge: 'edge',
  firefox: 'firefox',
  ie: 'ie',
  ios_saf: 'ios',
  opera: 'opera',
  safari: 'safari'
}
/** Android's own browser had version numbers of Android, up to 4.4. */
const WEBVIEW = 37

/** @throws AssetError for a text that neither of them knows, and where browserslist is needed and not there */
export async function browsersOf(target: Target, root: string): Promise<readonly string[]> {
  const given = [target].flat()
  const names = given.flatMap(each => each.trim().split(/\s*,\s*/))
  if (names.every(each => NAME.test(each))) return names.map(each => each.toLowerCase())
  const peer = await loadPeer(['browserslist'], `the option target ('${given.join("', '")}')`, root)
  const lowest = new Map<string, string>()
  for (const each of listed(peer as Browserslist, given, root)) {
    const [browser = '', versions = ''] = each.split(' ')
    const [version = ''] = versions.split('-')
    const engine = ENGINES[browser]
    if (engine === undefined || !/^\d/.test(version)) continue
    if (browser === 'android' && Number.parseInt(version, 10) < WEBVIEW) continue
    const known = lowest.get(engine)
    if (known === undefined || isOlder(version, known)) lowest.set(engine, version)
  }
  if (lowest.size > 0) return Array.from(lowest, each => each.join(''))
  throw unusable(given, 'it means no browser that esbuild knows')
}

function listed(browserslist: Browserslist, given: readonly string[], root: string): string[] {
  try {
    return browserslist(given, { path: root })
  } catch (error) {
    throw unusable(given, reasonOf(error))
  }
}

function unusable(given: readonly string[], reason: string): AssetError {
  const all = given.map(each => `'${each}'`).join(', ')
  return new AssetError('compile-failed', `the option target cannot be ${all}: ${reason}`)
}

const partsOf = (version: string) => version.split('.').map(Number)

export function isOlder(version: string, other: string): boolean {
  const [one, two] = [partsOf(version), partsOf(other)]
  const at = two.findIndex((part, index) => (one[index] ?? 0) !== part)
  return at !== -1 && (one[at] ?? 0) < (two[at] ?? 0)
}
