// Looks in views for names of assets that do not exist: in the text of a view, whatever its language, at literals
// in calls of the helpers.
import { readdir, readFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { inParallel } from '../../concurrency.ts'
import { ifThere, statOf } from '../../files/disk.ts'
import { matcherOf } from '../../files/globs.ts'
import { nearestPath } from '../../nearest.ts'
import { Manifest } from '../building/manifest/manifest.ts'
import { readManifest } from '../building/manifest/read-manifest.ts'
import type { VerifyProblem } from '../building/verify.ts'
import { Bundles } from '../bundles/bundles.ts'
import { manifestFile } from '../settings/public-directory.ts'
import type { KoaAssetsOptions } from '../settings/options.ts'
import { settleForPrecompile, type Settings } from '../settings/settings.ts'
import { memoized } from '../sources/catalog.ts'
import { Sources } from '../sources/sources.ts'
import { assetName } from '../views/asset-url.ts'
import type { ViewHelpers } from '../views/view-helpers.ts'

/**
 * A name in a view that is neither that of an asset nor that of a helper. Its `path` is that of the view, below
 * the root, and the line: `views/a.ejs:7`.
 */
export interface ViewProblem extends VerifyProblem {
  readonly name: string
  /** The known name that is most similar. */
  readonly near?: string | undefined
}

export interface ViewsReport {
  /** How many views were read. */
  readonly files: number
  /** How many names were found in them. */
  readonly names: number
  /** Empty when all of them exist. */
  readonly problems: readonly ViewProblem[]
}

const CONCURRENCY = 16

/**
 * @param globs relative to the root
 * @throws AssetError for the manifest of a mount that is missing or broken
 */
export async function checkViews(
  options: KoaAssetsOptions,
  globs: readonly string[]
): Promise<ViewsReport> {
  const settings = settleForPrecompile(options)
  const { root } = settings
  const files = (await inParallel(globs, 1, glob => filesOf(root, glob))).flat()
  const views = [...new Set(files)].toSorted()
  const problemOf = await makeCheck(options, settings)
  // The names in a partial belong to many views.
  const known = memoized((key: string) => problemOf(JSON.parse(key) as Named))
  let names = 0
  const problems = await inParallel(views, CONCURRENCY, async file => {
    const text = await readFile(join(root, file), 'utf8')
    const found = literalNames(text)
    names += found.filter(({ helper }) => helper !== undefined).length
    return found.flatMap(({ at, ...named }) => {
      const problem = known(JSON.stringify(named))
      if (!problem) return []
      const line = text.slice(0, at).split('\n').length
      return { path: `${file}:${line}`, name: named.name, ...problem }
    })
  })
  return { files: views.length, names, problems: problems.flat() }
}

type Problem = Pick<ViewProblem, 'near' | 'message'>
type Named = Omit<LiteralName, 'at'>

async function makeCheck(
  options: KoaAssetsOptions,
  settings: Settings
): Promise<(named: Named) => Problem | undefined> {
  const apps = await ownNames(options, settings)
  const bundles = new Bundles(settings, () => undefined)
  await bundles.loading
  const { entries, sources } = bundles.names()
  const all = [...apps.flatMap(({ names }) => names), ...sources]
  const exists = (name: string) => sources.has(name) || apps.some(({ has }) => has(name))
  const unlike = (what: string, name: string, known: readonly string[]): Problem => {
    const near = nearestPath(name, known)
    const hint = near === undefined ? '' : `; did you mean '${near}'?`
    return { near, message: `'${name}' is not ${what}${hint}` }
  }
  return ({ helper, name: given, isCertain }) => {
    if (helper === undefined) {
      const misspelled = unlike('a helper', given, [...Object.keys(HELPERS), ...OTHERS])
      // Another member may belong to an array of that name.
      return misspelled.near === undefined ? undefined : misspelled
    }
    const entry = given.replace(/^(?:\.?\/)+/, '')
    if (helper === 'entry' || helper === 'entryFiles') {
      const isElse = entries.size === 0 && !isCertain
      const what = entries.size > 0 ? 'an entry' : 'an entry: no mount has a manifest'
      return isElse || entries.has(entry) ? undefined : unlike(what, entry, [...entries])
    }
    try {
      const name = assetName(given, HELPERS[helper])
      const isPreload = helper === 'preload'
      const endings = isPreload ? ['', '.js', '.css'] : ['']
      if (name === undefined || (isPreload && entries.has(entry))) return undefined
      if (endings.some(ending => exists(name + ending))) return undefined
      return unlike('an asset', name, all)
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      return isCertain ? { message: error.message } : undefined
    }
  }
}

/** The names of each app: of its sources or, on a machine that has none, of the manifest. */
async function ownNames(options: KoaAssetsOptions, settings: Settings) {
  const sources = new Sources(settings, () => undefined)
  const listed = await Promise.all(settings.apps.map(app => sources.of(app).list()))
  const file = manifestFile(settings)
  const isOnlyBundles =
    settings.mounts.some(({ manifest }) => manifest !== undefined) && !(await statOf(file))
  if (listed.some(list => list.length > 0) || settings.apps.length === 0 || isOnlyBundles) {
    return settings.apps.map((app, at) => ({
      names: (listed[at] ?? []).map(({ name }) => name),
      has: (name: string) => sources.of(app).has(name)
    }))
  }
  const { assets } = await readManifest(file)
  const manifest = new Manifest(assets)
  // Those of the manifest, unless the options name them.
  const { apps } = settleForPrecompile({ ...options, compile: false })
  return apps.map(app => ({
    names: manifest.namesOf(app),
    has: (name: string) => manifest.find(app, name) !== undefined
  }))
}

/** Files that match a glob, relative to the root; folders of packages and hidden ones only if it begins there. */
async function filesOf(root: string, given: string): Promise<string[]> {
  const glob = given.startsWith('/') ? relative(root, given) : given.replace(/^(?:\.\/)+/, '')
  // The folders before the first name with a pattern.
  const [base = ''] = /^(?:[^*?[\]{}()!+@\\/]+\/)*/.exec(glob) ?? []
  const matches = matcherOf([glob])
  const walk = async (folder: string): Promise<string[]> => {
    const entries = (await ifThere(readdir(resolve(root, folder), { withFileTypes: true }))) ?? []
    const found = await inParallel(entries, CONCURRENCY, async entry => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return /^\.|^node_modules$/.test(entry.name) ? [] : walk(path)
      // A link may lead to a folder.
      const isView = matches(path) && (await statOf(resolve(root, path)))?.isFile()
      return isView ? [path] : []
    })
    return found.flat()
  }
  return walk(base)
}

/** What is called, and how a name without a known extension ends. */
const HELPERS = {
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
} as const satisfies Record<Exclude<keyof ViewHelpers, Other>, string>

/** Members that take no name of an asset. */
type Other = 'app' | 'live' | 'version'
const OTHERS: ReadonlySet<string> = new Set<Other>(['app', 'live', 'version'])

interface LiteralName {
  /** Undefined for a name that no helper has. */
  readonly helper: keyof typeof HELPERS | undefined
  /** Or that of what is called: `stylesheeet`. */
  readonly name: string
  /** The offset of the call in the text. */
  readonly at: number
  /** Whether it is a call of `assets.…`: an application may have its own function `path`. */
  readonly isCertain: boolean
}

/** `importMap({ entry: ['a', 'b'] })` has the names in its options, `entry(['a', 'b'])` in a list. */
const CALL =
  /(?<![\w$])(\w+)\s*\((?:(?<=importMap\s*\()\s*\{[^{}]*?\bentry\s*:\s*\[?|(?<=\bentry\s*\()\s*\[)?(?=\s*['"`])/g
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
