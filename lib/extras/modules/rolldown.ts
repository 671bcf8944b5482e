// Finds Rolldown, and tells whether it is new enough.
import { stripVTControlCharacters } from 'node:util'
import { findPeer, loadPeer, missingPeer } from '../../publishing/compilers/built-in.ts'
import type { rolldown, RolldownLog } from 'rolldown'
import type { parseAst } from 'rolldown/parseAst'
import type { transform } from 'rolldown/utils'
import { AssetError, ifAssetError } from '../../runtime/errors.ts'
import type { AppSettings } from '../../runtime/settings/apps.ts'

export interface Rolldown {
  readonly rolldown: typeof rolldown
  readonly parseAst: typeof parseAst
  readonly transform: typeof transform
}

/** Earlier versions break React when they keep the order of ECMAScript modules. */
const OLDEST = '1.2.19'
const PEER = ['rolldown']

/** The apps whose server found no Rolldown when it started, so it builds no packages for them. */
export const startedWithout = new WeakSet<AppSettings>()

/** Resolves to false also for an unusable version, which another tool may have installed. */
export const hasRolldown = async (root: string) =>
  foundFor('', root).then(
    () => true,
    ifAssetError(() => false)
  )

export async function loadRolldown(purpose: string, root: string): Promise<Rolldown> {
  // The stack of each Rolldown thread, in bytes: with the usual 2 MiB, 20,000 nested expressions end the process.
  process.env['RUST_MIN_STACK'] ??= String(64 * 1024 * 1024)
  const { require } = await foundFor(purpose, root)
  const main = (await loadPeer(PEER, purpose, root)) as Rolldown
  const parts = ['rolldown/parseAst', 'rolldown/utils'].map(each => require(each) as Rolldown)
  return { ...main, ...parts[0], ...parts[1] }
}

export const rolldownVersion = async (purpose: string, root: string) =>
  (await foundFor(purpose, root)).version

/** @throws AssetError with Yarn's Plug'n'Play, whose archives cannot be built */
export function requireFolders(purpose: string): void {
  if (process.versions['pnp'] === undefined) return
  const advice = 'write nodeLinker: node-modules into .yarnrc.yml, and run yarn install'
  throw missing(
    `${purpose} needs packages in node_modules, and Yarn's Plug'n'Play keeps them in archives: ${advice}`
  )
}

async function foundFor(purpose: string, root: string) {
  requireFolders(purpose)
  const found = await findPeer(PEER, root)
  if (!found) throw missing(missingPeer(PEER, purpose))
  const { require } = found
  const { version } = require('rolldown/package.json') as { readonly version: string }
  if (version.localeCompare(OLDEST, 'en', { numeric: true }) >= 0) return { require, version }
  throw missing(
    `${purpose} needs rolldown ${OLDEST} or newer, and ${version} is installed: npm install --save-dev rolldown@^${OLDEST}`
  )
}

/** Matches brackets, and strings, whose brackets do not count. */
const TOKEN = /"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|([([{])|([)\]}])/g

const TOO_DEEP =
  'more than 500 brackets in each other, which Rolldown cannot read: nest less, or write data as JSON'

/** Rolldown ends the process at about 1000 nested brackets; packages have 200. @throws AssetError above 500 */
export function refuseDeep(code: string): void {
  let depth = 0
  for (const [, opened, closed] of code.matchAll(TOKEN)) {
    depth = opened ? depth + 1 : Math.max(0, closed ? depth - 1 : depth)
    if (depth > 500) throw new AssetError('compile-failed', TOO_DEEP)
  }
}

const missing = (message: string) => new AssetError('compiler-missing', message)

/** Returns what is wrong with a module, and where; undefined for an error that is not Rolldown's. */
export function problemIn(error: unknown) {
  const [first] = (error as { errors?: readonly RolldownLog[] }).errors ?? []
  if (!first) return undefined
  // Only the first line is used, without colours and the name of the rule; the others quote the text.
  const [text = ''] = stripVTControlCharacters(first.message).split('\n')
  const { file = first.id, line, column = 0 } = first.loc ?? {}
  return { first, what: text.replace(/^\[\w+\] /, ''), file, line, column: column + 1 }
}
