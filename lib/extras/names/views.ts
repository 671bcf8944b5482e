// Finds views, and the names and imports in their text, whatever its language.
import { basename, isAbsolute, join, resolve } from 'node:path'
import { inParallel } from '../../runtime/concurrency.ts'
import { bytesOf, entriesBelow, statOf } from '../../runtime/files/disk.ts'
import { isInside, matcherOf, pathFrom, withSlashes } from '../../runtime/files/paths.ts'
import type { Project } from '../../runtime/app/extra.ts'
import type { Mention } from '../../runtime/app/transform.ts'
import type { AppSettings } from '../../runtime/settings/settings.ts'
import { withoutBase } from '../../runtime/urls/spelling.ts'
import type { ViewHelpers } from '../../runtime/views/view-helpers.ts'

const CONCURRENCY = 16

// Looks at the views that match globs, in the order of their paths. Assets and type declarations are not views: their
// names do not show what pages load. A view below the folder of an app is for pages of that app, any other for all.
export async function inViews<T>(
  root: string,
  apps: readonly Pick<AppSettings, 'name' | 'dir'>[],
  globs: readonly string[],
  look: (text: string, file: string, app: string | undefined) => T
): Promise<T[]> {
  const files = await inParallel(globs, 1, glob => filesOf(root, glob))
  const isAsset = (file: string) =>
    apps.some(({ dir }) => isInside(join(dir, 'assets'), resolve(root, file)))
  const views = files.flat().filter(file => !/\.d\.[cm]?ts$/.test(file) && !isAsset(file))
  const deepest = apps.toSorted((a, b) => b.dir.length - a.dir.length)
  const nested = deepest.filter(({ dir }) => dir !== root)
  return inParallel([...new Set(views)].toSorted(), CONCURRENCY, async file => {
    const text = String((await bytesOf(join(root, file))) ?? '')
    const app = nested.find(({ dir }) => isInside(dir, resolve(root, file)))
    return look(text, file, app?.name)
  })
}

export const globsOf = ({ options }: Project) => [options.views ?? []].flat()

export async function unmatchedViews(project: Project): Promise<string[]> {
  const globs = globsOf(project)
  const found = await inParallel(globs, 1, glob => filesOf(project.root, glob))
  return globs
    .filter((_, at) => found[at]?.length === 0)
    .map(glob => `views: '${glob}' matches no file of the project: correct or remove it`)
}

/** Returns paths below the root. In hidden folders and those of packages, a glob matches only if it begins there. */
async function filesOf(root: string, given: string): Promise<string[]> {
  const written = withSlashes(given)
  // `/views/**` begins at the root of the project, unless it is an absolute path inside it.
  const glob = isAbsolute(written) && isInside(root, written) ? pathFrom(root, written) : written
  // The base consists of the folders before the first name with a pattern.
  const below = glob.replace(/^(?:\.?\/)+/, '')
  const [base = ''] = /^(?:[^*?[\]{}()!+@\\/]+\/)*/.exec(below) ?? []
  const matches = matcherOf([glob])
  const isEntered = (folder: string) => !/^\.|^node_modules$/.test(basename(folder))
  const entries = await entriesBelow(resolve(root, base), isEntered)
  const files = entries.map(entry => pathFrom(root, join(entry.parentPath, entry.name)))
  const views = await inParallel(files.filter(matches), CONCURRENCY, async file =>
    // A link may lead to a folder.
    (await statOf(resolve(root, file)))?.isFile() ? [file] : []
  )
  return views.flat()
}

// The extra that has `preload` may be removed.
type Naming = Exclude<keyof ViewHelpers, 'app' | 'devOrigins' | 'live' | 'version'> | 'preload'

/** The helpers that take names, each with the extension that it appends to a name without a known one. */
export const HELPERS: Readonly<Record<Naming, string>> = {
  ...{ javascript: '.js', stylesheet: '.css', importMap: '.js' },
  ...{ image: '', inline: '', favicon: '', video: '', audio: '', path: '', url: '' },
  ...{ preload: '', entry: '', entryFiles: '' }
}

interface LiteralName {
  readonly helper: Naming
  readonly name: string
  readonly at: number
  /** True for a call of `assets.…`: an application may have its own function `path`. */
  readonly isCertain: boolean
  /** The app of a call such as `app('admin').path('menu.css')`. */
  readonly app?: string | undefined
}

/** `importMap({ entry: ['a'] })` has the names in its options, `entry(['a'])` in a list; `favicon()` has a default. */
const CALL =
  /(?<![\w$])(\w+)\s*\((?:(?:(?<=importMap\s*\()\s*\{[^{}]*?\bentry\s*:\s*\[?|(?<=\bentry\s*\()\s*\[)?(?=\s*['"`])|(?<=\bfavicon\s*\()(?=\s*(\))))/g
const LITERAL =
  /\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\$]|\\.)*)`)\s*(?=[,)\]}])(,?)/y
const SEVERAL = new Set(['javascript', 'stylesheet', 'preload', 'entry', 'importMap'])

const MEMBER = /\.\s*$/
const OURS = /\b(?:assets|app\(\s*['"]([^'"\n]*)['"]\s*\))\s*\??\.\s*$/
const CONTEXT = /\bctx\s*\.\s*$/
/** `background: url('a.png'), url('b.png')` */
const CSS = new Set(['path', 'url', 'image'])
const IN_CSS = /[\w:,)]\s*$/
/** Matches comments of EJS and Nunjucks. */
const COMMENT = /<%#[^]*?%>|\{#[^]*?#\}/g
const LONGEST_RECEIVER = 80

const isHelper = (word: string): word is Naming => Object.hasOwn(HELPERS, word)

/** Finds literal names, but not computed ones or those in options. */
export function literalNames(text: string): LiteralName[] {
  const found: LiteralName[] = []
  const code = text.replace(COMMENT, comment => ' '.repeat(comment.length))
  for (const { 0: call, 1: helper = '', 2: end, index: at } of code.matchAll(CALL)) {
    if (!isHelper(helper)) continue
    const before = code.slice(Math.max(0, at - LONGEST_RECEIVER), at)
    const ours = OURS.exec(before)
    const isCertain = ours !== null || (helper === 'preload' && CONTEXT.test(before))
    if (!isCertain && (MEMBER.test(before) || (CSS.has(helper) && IN_CSS.test(before)))) continue
    const of = { helper, at, isCertain, ...(ours?.[1] !== undefined && { app: ours[1] }) }
    // Without a receiver, the function may be koa-favicon's.
    if (end && ours) found.push({ ...of, name: 'favicon.ico' })
    LITERAL.lastIndex = at + call.length
    for (let match = LITERAL.exec(code); match; match = match[4] ? LITERAL.exec(code) : null) {
      const literal = match[1] ?? match[2] ?? match[3] ?? ''
      found.push({ ...of, name: literal.replace(/\\(.)/g, '$1') })
      if (!SEVERAL.has(helper)) break
    }
  }
  return found
}

const PLACES = ['views', 'templates', 'src/views', 'src/templates']
export const USUAL = [...PLACES, `apps/*/{${PLACES.join(',')}}`].map(place => `${place}/**`)

const IMPORT = /\b(?:from|import)\s*\(?\s*(["'`])([^"'`\s]+)\1/g
/** Matches names of scripts and stylesheets in options and variables. */
const FILE = /(["'`])([^"'`\s]+\.(?:m?js|css))\1/g
/** Matches inline scripts, as other code of a template imports nothing for a browser. */
const INLINE = /<script\b[^>]*>([^]*?)<\/script/gi
const IS_SCRIPT = /\.[cm]?[jt]sx?$/i

/** Finds the names that views load: scripts and stylesheets by helpers, and modules by inline scripts. */
export async function mentionsIn(project: Project): Promise<Mention[]> {
  const globs = [project.options.views ?? USUAL].flat()
  const all = await inViews(project.root, project.apps, globs, (text, file, own) => {
    const named = literalNames(text).flatMap(({ app = own, name }) =>
      [name, `${name}.js`, `${name}.css`].map((each): Mention => ({ app, name: each }))
    )
    const foundIn = (code: string, pattern: RegExp) =>
      Array.from(code.matchAll(pattern), ([, , name = '']): Mention => ({
        app: own,
        name: withoutBase(name, project.base)
      }))
    const inline = Array.from(text.matchAll(INLINE), ([, code = '']) => code)
    // Pug has no end tags, and a partial may be the inside of a script.
    const isWhole = IS_SCRIPT.test(file) || inline.length === 0
    const imported = foundIn(isWhole ? text : inline.join('\n'), IMPORT)
    const others = [IMPORT, FILE].flatMap(pattern => foundIn(text, pattern))
    return [...named, ...others, ...imported.map(each => ({ ...each, isImported: true }))]
  })
  return all.flat()
}
