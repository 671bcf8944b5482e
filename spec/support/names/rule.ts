// The rule by which a name has one source, as docs/assets.md states it.
import { posix } from 'node:path'
import { matcherOf } from '../../../lib/runtime/files/paths.ts'
import { BY_HAND, markOf, ownDirectory } from './project.ts'
import type { App, Library, Plan, Written } from './project.ts'

/** A miss costs development a look at every folder. */
const MAX_NAMES = 3

interface Candidate {
  readonly file: Written
  /** The position of its directory in the search order. */
  readonly from: number
  readonly name: string
  /** The path with the first folder, if tails of it find the file. */
  readonly whole: string | undefined
}

interface Found {
  readonly mark: string
  /** Returns the mark of what a reference in it leads to. */
  readonly referred: (reference: string) => string | undefined
}

interface Named {
  /** What is published, by name. */
  readonly published: ReadonlyMap<string, Candidate>
  /** The names for which precompile refuses the project. */
  readonly refused: readonly string[]
}

export class Rule {
  readonly #plan: Plan
  readonly #named: ReadonlyMap<App, Named>

  constructor(plan: Plan) {
    this.#plan = plan
    this.#named = new Map(plan.apps.map(app => [app, this.#namesOf(app)]))
  }

  /** The names for which precompile refuses the project. */
  get refused(): readonly string[] {
    return [...this.#named.values()].flatMap(({ refused }) => refused)
  }

  get isEmpty(): boolean {
    return [...this.#named.values()].every(({ published }) => published.size === 0)
  }

  /** Some of the names that somebody might ask an app for: names and tails, of other apps as well. */
  namesToTry(app: App): readonly string[] {
    const { apps, byHand, offset } = this.#plan
    const all = apps.flatMap(each => {
      const candidates = candidatesOf(this.#plan, each)
      const names = candidates.flatMap(({ name, whole = name }) => [name, ...tailsOf(whole)])
      const others = names.map(name => `${each.path}/${name}`.slice(1))
      return each === app ? names : [...names, ...others]
    })
    const named = [...new Set([...all, ...byHand, 'none.svg'])]
    const given = named.filter(name => !name.startsWith('/'))
    const step = Math.max(1, given.length / MAX_NAMES)
    return given.filter((_, at) => (at + offset) % step < 1)
  }

  /** Returns what a name leads to; undefined: nothing. A name is a path below the prefix of its app. */
  lookUp(app: App, name: string): Found | undefined {
    const path = `${prefixOf(app)}/${name}`
    const [owner, found] = [ownerOf(this.#plan, path), this.#candidateAt(path)]
    if (!owner || !found) return undefined
    const referred: Found['referred'] = reference => this.#referredBy(owner, found, reference)
    return { mark: markOf(found.file), referred }
  }

  #referredBy(app: App, { name, file }: Candidate, reference: string): string | undefined {
    const byUrl = this.#atUrl(urlFrom(app, name, reference))
    if (reference.startsWith('/')) return byUrl
    const beside = posix.join(file.directory, posix.dirname(file.path), reference)
    const meant = file.path.endsWith('.js')
      ? [beside, `${beside}.js`, `${beside}/index.js`]
      : [beside]
    const candidates = candidatesOf(this.#plan, app)
    const found = meant
      .map(path => candidates.find(each => compiledAt(each.file) === path))
      .find(Boolean)
    // A name of the app's own replaces that of a library.
    const owner = found && this.#named.get(app)?.published.get(found.name)
    if (owner) return markOf(owner.file)
    if (byUrl !== undefined || file.path.endsWith('.js')) return byUrl
    return this.lookUp(app, posix.normalize(reference).replace(/^(?:\.\.\/)+/, ''))?.mark
  }

  /** Returns the mark of what a browser gets, which may be a file without a source. */
  #atUrl(path: string): string | undefined {
    const found = this.#candidateAt(path)
    if (found) return markOf(found.file)
    return this.#plan.byHand.some(name => path === `/assets/${name}`) ? BY_HAND : undefined
  }

  #candidateAt(path: string): Candidate | undefined {
    const app = ownerOf(this.#plan, path)
    const { published } = (app && this.#named.get(app)) ?? {}
    if (!app || !published) return undefined
    const name = path.slice(prefixOf(app).length + 1)
    const exact = published.get(name)
    if (exact || !this.#plan.tails) return exact
    // A file called like a folder, or below a name, has no tail there.
    const folders = [...published.values()].flatMap(each => foldersIn(each.whole ?? each.name))
    if (folders.includes(posix.basename(name))) return undefined
    if ([...published.keys()].some(other => name.startsWith(`${other}/`))) return undefined
    const hasTail = ({ whole }: Candidate) => whole && tailsOf(whole).includes(name)
    const tailed = [...published.values()].filter(hasTail)
    const first = Math.min(...tailed.map(({ from }) => from))
    const found = tailed.filter(({ from }) => from === first)
    return found.length === 1 ? found[0] : undefined
  }

  #namesOf(app: App): Named {
    const plan = this.#plan
    const refused: string[] = []
    const published = new Map<string, Candidate>()
    const byPath = (a: Candidate, b: Candidate) => (a.file.path < b.file.path ? -1 : 1)
    const all = candidatesOf(plan, app)
    for (const each of all.toSorted((a, b) => a.from - b.from || byPath(a, b))) {
      const { name } = each
      const known = published.get(name)
      const isElse = plan.apps.some(other => other !== app && isBelow(other, app, name))
      if (isElse || known?.from === each.from) refused.push(name)
      if (!isElse && !known) published.set(name, each)
    }
    for (const name of [...published.keys()]) {
      if (![...published.keys()].some(other => other.startsWith(`${name}/`))) continue
      published.delete(name)
      refused.push(name)
    }
    return { published, refused }
  }
}

/** The path of a name belongs to another app, or is a folder above its assets. */
function isBelow(other: App, app: App, name: string): boolean {
  const path = `${prefixOf(app)}/${name}`
  const isIn = ownerOf({ apps: [app, other] }, path) === other
  return isIn || `${prefixOf(other)}/`.startsWith(`${path}/`)
}

function urlFrom(app: App, name: string, reference: string): string {
  return posix.resolve(prefixOf(app), posix.dirname(name), reference)
}

function prefixOf({ path }: App): string {
  return `/assets${path === '/' ? '' : path}`
}

function ownerOf({ apps }: Pick<Plan, 'apps'>, path: string): App | undefined {
  const around = apps.filter(app => path.startsWith(`${prefixOf(app)}/`))
  return around.toSorted((a, b) => b.path.length - a.path.length)[0]
}

function candidatesOf(plan: Plan, app: App): readonly Candidate[] {
  const nothing = { at: undefined, include: undefined, exclude: undefined, app: undefined }
  const own: Library = { dir: ownDirectory(app), ...nothing }
  const isOf = (of: string | undefined) => plan.libraries.filter(each => each.app === of)
  return [own, ...isOf(undefined), ...isOf(app.name)].flatMap((library, from) => {
    const inIt = plan.files.filter(({ directory }) => directory === library.dir)
    const files = inIt.filter(({ path }) => isIn(library, path))
    const plain = new Set(files.map(({ path }) => path))
    // A plain file hides a source that is compiled to its name.
    const seen = files.filter(({ path }) => compiled(path) === path || !plain.has(compiled(path)))
    return seen.map(file => candidate(library, from, file))
  })
}

function candidate({ at }: Library, from: number, file: Written): Candidate {
  const path = compiled(file.path)
  const isPlaced = at !== undefined
  const name = isPlaced ? posix.join(at, path).replace(/^\//, '') : path.replace(/^[^/]*\//, '')
  return { file, from, name, whole: isPlaced ? undefined : path }
}

function isIn({ include, exclude }: Library, path: string): boolean {
  const parts = path.split('/').map((_, at, all) => all.slice(0, at + 1).join('/'))
  if (exclude !== undefined && parts.some(matcherOf([exclude]))) return false
  return include === undefined || matcherOf([include])(path)
}

const compiled = (path: string) => path.replace(/(?:\.css)?\.up$/, '.css')
const compiledAt = ({ directory, path }: Written) => `${directory}/${compiled(path)}`

const foldersIn = (path: string) => path.split('/').slice(0, -1)

function tailsOf(path: string): readonly string[] {
  const parts = path.split('/')
  return parts.map((_, at) => parts.slice(at).join('/'))
}
