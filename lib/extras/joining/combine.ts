// Replaces modules by the scripts into which they are joined.
import { dirname, posix } from 'node:path'
import type { Bundler, Mention, Project } from '../../assets/parts.ts'
import type { Combiner, Made, Script } from './combining.ts'
import { finish, textOf, textType } from '../../assets/rendering/draft.ts'
import { readContent } from '../../files/open-file.ts'
import { AssetError } from '../../errors.ts'
import { inParallel } from '../../concurrency.ts'
import { assetPath, type AppSettings } from '../../assets/settings/app-settings.ts'
import type { Sources } from '../../assets/sources/sources.ts'
import { decodeIfValid, encodePath } from '../../assets/urls/canonical-path.ts'
import { importsOf, MAP, type Unfinished } from '../../assets/building/final-bytes.ts'

const CONCURRENCY = 16

export function bundlerBy(
  combiner: Combiner,
  { apps }: Project,
  sources: Sources
): Bundler<Map<string, Unfinished>> {
  return {
    takes: (app, source) => combiner.isReady && combiner.takes(app, source),
    async join(nodes, mentions) {
      const all = new Map(nodes)
      for (const app of apps) await combineIn(app, { nodes, all, combiner, mentions, sources })
      for (const path of nodes.keys()) if (!all.has(path)) nodes.delete(path)
      for (const [path, node] of all) nodes.set(path, linked(node, all))
    },
    report: () => combiner.report()
  }
}

type Nodes = ReadonlyMap<string, Unfinished>

interface Combining {
  readonly nodes: Nodes
  /** These scripts are published in their place. */
  readonly all: Map<string, Unfinished>
  readonly combiner: Combiner
  readonly mentions: readonly Mention[]
  readonly sources: Sources
}

async function combineIn(
  app: AppSettings,
  { nodes, all, combiner, mentions, sources }: Combining
): Promise<void> {
  const isScript = (node: Unfinished) => node.app === app && textType(node.name) === 'js'
  const own = [...nodes.values()].filter(isScript)
  if (!own.some(({ source }) => combiner.takes(app, source))) return
  const scripts = new Map(
    await inParallel(own, CONCURRENCY, async node => [node.path, await scriptOf(node)] as const)
  )
  const outside = [...nodes.values()].filter(({ path }) => !scripts.has(path))
  const named = new Set([
    ...outside.flatMap(({ links }) => links.flatMap(path => path ?? [])),
    ...(await pathsOf(mentions, app, sources))
  ])
  const { replaced, made } = await combiner.combine(app, scripts, named)
  for (const path of replaced) for (const ending of ['', MAP]) all.delete(path + ending)
  for (const each of made) {
    const node = await nodeOf(each, app, nodes)
    if (all.has(node.path)) throw taken(node.path)
    all.set(node.path, node)
  }
}

function taken(path: string): AssetError {
  const advice = 'rename it, or set bundle: false'
  return new AssetError('name-taken', `joined modules would be ${path}, which is there: ${advice}`)
}

async function scriptOf(node: Unfinished): Promise<Script> {
  const { name, source, draft, links } = node
  const urls = links.map(path => path && encodePath(path))
  const code = new TextDecoder().decode(await readContent(finish(draft, urls)))
  const { imports = [], dynamicImports = [] } = importsOf(node) ?? {}
  const known = new Set([...imports, ...dynamicImports, node.path + MAP])
  const others = links.filter(path => path !== undefined && !known.has(path)) as string[]
  return { name, source, code, map: draft.map, imports, dynamicImports, others }
}

async function pathsOf(
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

async function nodeOf(
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
function linked(node: Unfinished, all: Nodes): Unfinished {
  if (!node.sources) return node
  const links = (node.draft.text?.references ?? []).map(({ path: url }) => {
    const to = posix.resolve(dirname(node.path), decodeIfValid(url) ?? '')
    return /^\.{0,2}\//.test(url) && all.has(to) ? to : undefined
  })
  return { ...node, links }
}
