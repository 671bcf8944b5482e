// Replaces modules by the scripts into which they are joined.
import { dirname, posix } from 'node:path'
import type { Bundler, Mention, Project, Transform } from '../../../runtime/app/parts.ts'
import { finish, textOf, textType } from '../../../publishing/rendering/draft.ts'
import { readContent } from '../../../runtime/files/open-file.ts'
import { AssetError } from '../../../runtime/errors.ts'
import { inParallel } from '../../../runtime/concurrency.ts'
import { assetPath, type AppSettings } from '../../../runtime/settings/app-settings.ts'
import type { Sources } from '../../../publishing/sources/sources.ts'
import { decodeIfValid, encodePath } from '../../../runtime/urls/spelling.ts'
import { MAP, type Unfinished } from '../../../publishing/building/links.ts'
import { isJoined, modeOf, type JoinReport } from '../options.ts'
import { hasRolldown, loadRolldown } from '../rolldown.ts'
import { apartIn } from './apart.ts'
import { join } from './join.ts'
import { leftIn } from './left.ts'
import { cycleOf, type Scripts } from './package-files.ts'
import { planOf, type Plan } from './plan.ts'
import type { Made, Script } from './script.ts'

const CONCURRENCY = 16
const PURPOSE = 'joining modules'

type Nodes = ReadonlyMap<string, Unfinished>
/** The browsers for which an app is minified, none for any; undefined: it is not. */
type MinifyTarget = (app: AppSettings) => readonly string[] | undefined

export async function makeBundler(
  { apps, root }: Project,
  sources: Sources,
  transforms: readonly Transform[]
): Promise<Bundler<Map<string, Unfinished>>> {
  const isReady = await hasRolldown(root)
  const minifyTarget: MinifyTarget = app =>
    transforms.some(each => each.minifies(app))
      ? transforms.flatMap(each => each.targetOf?.(app) ?? [])
      : undefined
  const reports: JoinReport[] = []
  return {
    takes: app => isReady && isJoined(app),
    async join(nodes, mentions) {
      const written = new Map(nodes)
      const all = new Map(nodes)
      for (const app of apps.filter(isJoined)) {
        const scripts = await scriptsOf(app, nodes)
        const named = await namedBy({ app, nodes, scripts, mentions, sources })
        const found = await joinedIn(app, { root, scripts, named, minifyTarget })
        if (!found) continue
        for (const path of found.replaced) for (const ending of ['', MAP]) all.delete(path + ending)
        for (const made of found.made) {
          const node = await nodeOf(made, app, nodes)
          if (all.has(node.path)) throw taken(node.path)
          all.set(node.path, node)
        }
        reports.push(found.report)
      }
      for (const path of nodes.keys()) if (!all.has(path)) nodes.delete(path)
      const errors = new Array<AssetError>()
      const warnings = new Array<string>()
      for (const [path, node] of all) {
        const made = linked(node, all)
        nodes.set(path, made)
        const { missing } = node.app
        const lost = missing === 'ignore' ? [] : await leftIn(root, made, written)
        if (missing === 'error') errors.push(...lost)
        else warnings.push(...lost.map(({ message }) => message))
      }
      return { errors, warnings }
    },
    report: () => ({ joined: reports.length > 0 ? reports.reduce(total) : undefined })
  }
}

function total(one: JoinReport, other: JoinReport): JoinReport {
  return {
    modules: one.modules + other.modules,
    insteadOf: one.insteadOf + other.insteadOf,
    files: one.files + other.files,
    bytes: one.bytes + other.bytes
  }
}

async function scriptsOf(app: AppSettings, nodes: Nodes): Promise<Scripts> {
  const isScript = (node: Unfinished) => node.app === app && textType(node.name) === 'js'
  const own = [...nodes.values()].filter(isScript)
  return new Map(
    await inParallel(
      own,
      CONCURRENCY,
      async node => [node.path, await scriptOf(node, nodes)] as const
    )
  )
}

interface Naming {
  readonly app: AppSettings
  readonly nodes: Nodes
  readonly scripts: Scripts
  readonly mentions: readonly Mention[]
  readonly sources: Sources
}

/** Returns the paths of scripts that a page, a stylesheet or another app loads. */
async function namedBy({ app, nodes, scripts, mentions, sources }: Naming): Promise<Set<string>> {
  const outside = [...nodes.values()].filter(({ path }) => !scripts.has(path))
  return new Set([
    ...outside.flatMap(({ links }) => links.flatMap(path => path ?? [])),
    ...(await pathsOf(mentions, app, sources))
  ])
}

interface JoinedApp {
  /** The paths of scripts that are not published, unless `made` has them again. */
  readonly replaced: readonly string[]
  readonly made: readonly Made[]
  readonly report: JoinReport
}

interface Joining {
  readonly root: string
  readonly scripts: Scripts
  readonly named: ReadonlySet<string>
  readonly minifyTarget: MinifyTarget
}

/** Joins again with modules apart that turn out to be in another file than that of their name. */
async function joinedIn(
  app: AppSettings,
  { root, scripts, named, minifyTarget }: Joining
): Promise<JoinedApp | undefined> {
  const moved = new Set<string>()
  const planned = () => planOf(scripts, named, { mode: modeOf(app), moved })
  const modulesOf = ({ modules, apart }: Plan) => new Map([...modules, ...apart])
  // A project that has nothing to join needs no Rolldown.
  if (modulesOf(await planned()).size === 0) return undefined
  const rolldown = await loadRolldown(PURPOSE, root)
  for (const path of apartIn(scripts, rolldown.parseAst)) moved.add(path)
  const plan = await planned()
  const all = modulesOf(plan)
  if (all.size === 0) return undefined
  const options = { root, app, minifyTarget: minifyTarget(app) }
  let result = await join(rolldown, { ...options, plan })
  while (result.moved.length > 0) {
    for (const path of result.moved) for (const each of cycleOf(path, scripts)) moved.add(each)
    result = await join(rolldown, { ...options, plan: await planned() })
  }
  const { made } = result
  const sizeOf = (all: Iterable<{ readonly code: string }>) =>
    [...all].reduce((sum, { code }) => sum + Buffer.byteLength(code), 0)
  const report = {
    modules: all.size,
    insteadOf: sizeOf(all.values()),
    files: made.length,
    bytes: sizeOf(made)
  }
  return { replaced: [...all.keys()], made, report }
}

function taken(path: string): AssetError {
  const advice = 'rename it, or set bundle: false'
  return new AssetError('name-taken', `joined modules would be ${path}, which is there: ${advice}`)
}

async function scriptOf(node: Unfinished, nodes: Nodes): Promise<Script> {
  const { name, source, draft, links } = node
  const urls = links.map(path => path && encodePath(path))
  const code = new TextDecoder().decode(await readContent(finish(draft, urls)))
  const { references = [] } = draft.text ?? {}
  const others = new Set(loadedBy(code, dirname(node.path), nodes))
  const found = { import: new Set<string>(), 'dynamic-import': new Set<string>() }
  const again = new Set<string>()
  for (const [at, path] of links.entries()) {
    const { kind, suffix = '' } = references[at] ?? {}
    if (path === undefined || path === node.path + MAP) continue
    const isScript = textType(path) === 'js'
    // A URL with a query is another module than the one without.
    if (suffix !== '' && isScript) again.add(path)
    if (kind === 'import' && (suffix === '' || isScript)) found.import.add(path)
    else if (kind === 'dynamic-import' && suffix === '') found[kind].add(path)
    else others.add(path)
  }
  const [imports, dynamicImports] = [[...found.import], [...found['dynamic-import']]]
  const loaded = { imports, dynamicImports, again: [...again], others: [...others] }
  return { name, source, code, map: draft.map, ...loaded }
}

/** ``import(`./locales/${name}.js`)``, `import('./locales/' + name)` */
const BEGINNING =
  /\bimport\s*\(\s*(?:`(?<template>\.{0,2}\/[^`$]*)\$\{|(["'])(?<text>\.{0,2}\/(?:(?!\2)[^\n])*)\2\s*\+)/g
const RESOLVED = /\bimport\.meta\.resolve\(\s*(["'`])(?<text>\.{0,2}\/(?:(?!\1)[^\n])*)\1/g

/** Returns the paths of assets whose URL a module computes: they stay files. */
function loadedBy(code: string, directory: string, nodes: Nodes): string[] {
  const absolute = (path: string) => posix.join(path.startsWith('/') ? '' : directory, path)
  const begun = Array.from(code.matchAll(BEGINNING), ({ groups = {} }) =>
    absolute(groups['template'] ?? groups['text'] ?? '')
  )
  const whole = Array.from(code.matchAll(RESOLVED), ({ groups }) =>
    absolute(groups?.['text'] ?? '')
  )
  const isLoaded = (path: string) =>
    whole.includes(path) || begun.some(each => path.startsWith(each) && textType(path) === 'js')
  return begun.length + whole.length > 0 ? [...nodes.keys()].filter(isLoaded) : []
}

export async function pathsOf(
  mentions: readonly Mention[],
  app: AppSettings,
  sources: Sources
): Promise<string[]> {
  const own = sources.of(app)
  const given = [...app.imports.values()].map(name => ({ app: undefined, name }))
  const found = await inParallel([...mentions, ...given], CONCURRENCY, async mention => {
    if ((mention.app ?? app.name) !== app.name) return []
    const given = mention.name.replace(`${app.urlPrefix}/`, '').replace(/^(?:\.?\/)+/, '')
    const name = (await own.named(given, '')) ?? given
    const source = own.has(name) ? await own.find(name) : undefined
    return source ? [assetPath(app, source.name)] : []
  })
  return found.flat()
}

export async function nodeOf(
  { name, code, map, from }: Made,
  app: AppSettings,
  nodes: Nodes
): Promise<Unfinished> {
  const origins = from.flatMap(path => nodes.get(path) ?? [])
  const [first] = origins
  if (!first) throw new TypeError(`${name} is made of nothing`)
  const path = assetPath(app, name)
  const isItself = first.path === path
  const source = { ...first.source, name, path: name, tail: name, specifiers: undefined }
  const draft = {
    content: Buffer.from(code),
    text: await textOf({ app, name }, code, []),
    inputs: [],
    isSettled: true,
    map
  }
  const sources = origins.map(({ path }) => path)
  const place = { ...first, path, name, source: isItself ? first.source : source }
  return { ...place, draft, ownMap: undefined, links: [], sources }
}

/** Joined scripts refer to assets by their plain URLs. */
export function linked(node: Unfinished, all: Nodes): Unfinished {
  if (!node.sources) return node
  const links = (node.draft.text?.references ?? []).map(({ path: url }) => {
    const to = posix.resolve(dirname(node.path), decodeIfValid(url) ?? '')
    return /^\.{0,2}\//.test(url) && all.has(to) ? to : undefined
  })
  return { ...node, links }
}
