// Replaces modules with the scripts into which they are joined.
import { dirname, posix } from 'node:path'
import type { Project } from '../../../runtime/app/extra.ts'
import type { Bundler, Mention, Transform } from '../../../runtime/app/transform.ts'
import { AssetError } from '../../../runtime/errors.ts'
import { inParallel } from '../../../runtime/concurrency.ts'
import { assetPath, type AppSettings } from '../../../runtime/settings/apps.ts'
import { decodeIfValid, withoutBase } from '../../../runtime/urls/spelling.ts'
import { MAP } from '../../../publishing/building/links.ts'
import { sum } from '../../../runtime/lists.ts'
import { textOf, type Draft } from '../../../publishing/rendering/draft.ts'
import { brokenMap } from '../../../publishing/rendering/source-map.ts'
import type { Sources } from '../../../publishing/sources/sources.ts'
import { joinModeOf } from '../options.ts'
import { hasRolldown, loadRolldown } from '../rolldown.ts'
import { join, type Joining, type Made } from './join.ts'
import { planOf } from './plan.ts'
import { apartIn, cycleOf, modulesIn, scriptsOf, type Nodes, type Script } from './scripts.ts'

export async function makeBundler(
  { apps, root }: Project,
  sources: Sources,
  transforms: readonly Transform[]
): Promise<Bundler<Map<string, Draft>>> {
  const isReady = await hasRolldown(root)
  const minifyTarget = (app: AppSettings) =>
    transforms.some(each => each.minifies?.(app))
      ? transforms.flatMap(each => each.targetOf?.(app) ?? [])
      : undefined
  const [modules, files] = [new Array<Script>(), new Array<Made>()]
  const hasPackages = (app: AppSettings) =>
    sources.of(app).lists.some(({ files }) => files.some(({ specifiers }) => specifiers))
  const isMeant = (app: AppSettings) =>
    joinModeOf(app) === true || (joinModeOf(app) === 'packages' && hasPackages(app))
  // Without Rolldown, the option `bundle` is an error.
  const isJoined = (app: AppSettings) => (isReady || app.bundle !== undefined) && isMeant(app)
  return {
    takes: app => isReady && isMeant(app),
    async join(nodes, mentions) {
      const written = new Map(nodes)
      const warnings = new Array<string>()
      for (const app of apps.filter(isJoined)) {
        const named = await pathsOf(mentions, app, sources)
        const joining = { root, app, nodes: written, minifyTarget: minifyTarget(app) }
        const joined = await joinedIn(joining, named)
        if (!joined) continue
        for (const path of joined.modules.keys())
          for (const ending of ['', MAP]) nodes.delete(path + ending)
        for (const each of joined.made) {
          const node = await nodeOf(each, app, written)
          if (nodes.has(node.path)) throw new AssetError('name-taken', taken(node.path))
          nodes.set(node.path, node)
        }
        modules.push(...joined.modules.values())
        const broken = [...joined.modules.values()].filter(({ map }) => map === null)
        warnings.push(...broken.map(({ source }) => brokenMap(source.file, root)))
        files.push(...joined.made)
      }
      for (const [path, node] of nodes) nodes.set(path, linked(node, nodes))
      return warnings
    },
    report() {
      if (modules.length === 0) return { joined: undefined }
      const [insteadOf, bytes] = [modules, files].map(all =>
        sum(all.map(({ code }) => Buffer.byteLength(code)))
      )
      return { joined: { modules: modules.length, insteadOf, files: files.length, bytes } }
    }
  }
}

/** Joins modules, and again with those kept apart that ended up in a file with another name. */
async function joinedIn(joining: Omit<Joining, 'plan'>, mentioned: readonly string[]) {
  const { root, app, nodes } = joining
  const scripts = await scriptsOf(app, nodes)
  const modules = modulesIn(scripts)
  // A project with nothing to join needs no Rolldown.
  if (modules.size === 0) return undefined
  const outside = [...nodes.values()].filter(({ path }) => !scripts.has(path))
  const links = outside.flatMap(({ links = [] }) => links).filter(path => path !== undefined)
  const named = new Set([...mentioned, ...links])
  const rolldown = await loadRolldown('joining modules', root)
  const moved = apartIn(scripts, rolldown.parseAst)
  for (;;) {
    const plan = planOf({ scripts, modules, named, mode: joinModeOf(app) }, moved)
    if (!app.tails && plan.guarded.size > 0) {
      plan.guarded.forEach(path => moved.add(path))
      continue
    }
    const { made, moved: others } = await join(rolldown, { ...joining, plan })
    if (others.length === 0) return { modules, made }
    const before = moved.size
    for (const path of others) for (const each of cycleOf(path, scripts)) moved.add(each)
    if (moved.size === before) throw new AssetError('name-taken', unnamed(others))
  }
}

const unnamed = (paths: readonly string[]) =>
  `Rolldown gives these modules the name of another file: ${paths.join(', ')}; set bundle: 'packages'`

const taken = (path: string) =>
  `joined modules would be ${path}, which is there: rename it, or set bundle: false`

/** Returns the paths of assets of an app that views and the option `imports` name. */
export async function pathsOf(mentions: readonly Mention[], app: AppSettings, sources: Sources) {
  const own = sources.of(app)
  const given = [...app.imports.values()].map(name => ({ app: undefined, name }))
  const found = await inParallel([...mentions, ...given], 16, async mention => {
    if ((mention.app ?? app.name) !== app.name) return []
    const given = withoutBase(mention.name, app.urlPrefix).replace(/^(?:\.?\/)+/, '')
    const name = (await own.named(given, '')) ?? given
    const source = own.has(name) ? await own.find(name) : undefined
    return source ? [assetPath(app, source.name)] : []
  })
  return found.flat()
}

export async function nodeOf({ name, code, map, from }: Made, app: AppSettings, nodes: Nodes) {
  const origins = from.flatMap(path => nodes.get(path) ?? [])
  const [first] = origins
  if (!first) throw new TypeError(`${name} is made of nothing`)
  const path = assetPath(app, name)
  const renamed = { ...first.source, name, path: name, tail: name, specifiers: undefined }
  const source = first.path === path ? first.source : renamed
  const text = await textOf({ app, source }, code, [])
  const draft = { content: Buffer.from(code), text, inputs: [], isSettled: true, map }
  const sources = origins.map(({ path }) => path)
  return { app: first.app, path, source, ...draft, sources }
}

/** Finds the links of joined scripts, which refer to assets by their plain URLs. */
export function linked(node: Draft, all: Nodes): Draft {
  if (!node.sources) return node
  const links = (node.text?.references ?? []).map(({ path: url }) => {
    const to = posix.resolve(dirname(node.path), decodeIfValid(url) ?? '')
    return /^\.{0,2}\//.test(url) && all.has(to) ? to : undefined
  })
  return { ...node, links }
}
