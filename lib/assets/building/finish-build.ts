// Gives assets their final bytes. A stylesheet contains the fingerprints of its images, so what is
// referred to comes first.
import { checksumsOfBytes, type Checksums } from '../../files/checksums.ts'
import { Digester } from '../../files/digest.ts'
import { finish, textType, type Draft } from '../rendering/draft.ts'
import { isInModule, type Reference } from '../rendering/references.ts'
import { shiftMap } from '../rendering/shift-map.ts'
import { encodePath } from '../urls/encode.ts'
import { publishedPath, publishedUrl, type Assets, type Built, type Imports } from './built.ts'
import { cycleThrough, groupsInOrder } from './graph.ts'
import { byPath, type Place } from './places.ts'

/** A draft, and the checksums of content that is final already. */
export interface Drafted {
  readonly draft: Draft
  readonly sums: Checksums | undefined
}

/** Undefined leaves a reference as it is written. */
type Urls = readonly (string | undefined)[]

/** An asset whose references have no URLs yet. */
export interface Node extends Place, Drafted {
  /** The path of the asset that each reference leads to; undefined leaves it as it is written. */
  readonly links: readonly (string | undefined)[]
  /** The source map, as JSON, that the text came with and refers to. */
  readonly ownMap?: string | undefined
}

export interface Finished {
  /** By path; each comes after the assets that it refers to. */
  readonly assets: Assets
  /** The paths of modules that refer to each other, of each such group one cycle. */
  readonly moduleCycles: readonly (readonly string[])[]
}

export function finishAll(nodes: ReadonlyMap<string, Node>): Finished {
  const finisher = new Finisher(nodes)
  for (const group of groupsInOrder(nodes.values(), node => finisher.nodesOf(node))) {
    finisher.finish(group)
  }
  return finisher
}

class Finisher implements Finished {
  readonly assets = new Map<string, Built>()
  readonly moduleCycles: string[][] = []
  readonly #nodes: ReadonlyMap<string, Node>

  constructor(nodes: ReadonlyMap<string, Node>) {
    this.#nodes = nodes
  }

  /** The nodes that a node refers to. */
  nodesOf({ links }: Node): readonly Node[] {
    return links.flatMap(path => this.#nodes.get(path ?? '') ?? [])
  }

  finish(group: readonly Node[]): void {
    const isCycle = group.length > 1 || group.some(node => this.nodesOf(node).includes(node))
    const cycle = new Set(isCycle ? group.map(({ path }) => path) : [])
    const hasStyles = group.some(({ name }) => textType(name) === 'css')
    const query = isCycle && hasStyles ? `?${this.#digestOfCycle(group, cycle)}` : ''
    if (isCycle) this.#report(group)
    const shared = hasStyles ? this.#newestMtime(group) : undefined
    const times = group.map(node => shared ?? this.#newestMtime([node]))
    group.forEach((node, at) => {
      const mtimeNs = times[at] ?? 0n
      this.#shiftOwnMap(node, this.#urlsOf(node, cycle, query), mtimeNs)
      const urls = this.#urlsOf(node, cycle, query)
      for (const built of finishOne(node, urls, mtimeNs)) this.assets.set(built.path, built)
    })
  }

  /** The text refers to its map by fingerprint, so the map comes first. */
  #shiftOwnMap({ path, draft, ownMap }: Node, urls: Urls, mtimeNs: bigint): void {
    const map = this.assets.get(path + MAP)
    if (ownMap === undefined || !map || !draft.text) return
    const { code, references } = draft.text
    const content = Buffer.from(shiftMap(ownMap, code, references, urls))
    const sums = checksumsOfBytes(content, map.app.integrity)
    const newest = mtimeNs > map.mtimeNs ? mtimeNs : map.mtimeNs
    this.assets.set(map.path, { ...map, content, ...sums, mtimeNs: newest })
  }

  #report(group: readonly Node[]): void {
    const modules = group.filter(({ name }) => textType(name) === 'js').toSorted(byPath)
    const [first] = modules
    if (!first) return
    const members = new Set(group)
    const cycle = cycleThrough(first, node => this.nodesOf(node).filter(to => members.has(to)))
    this.moduleCycles.push(cycle.map(({ path }) => path))
  }

  #urlsOf({ links, draft }: Node, cycle: ReadonlySet<string>, query = ''): Urls {
    return links.map((path, at) => {
      const reference = draft.text?.references[at]
      if (path === undefined || !reference) return undefined
      // An import map resolves plain URLs, not those with a query.
      if (cycle.has(path)) return encodePath(path) + (isInModule(reference) ? '' : query)
      const built = this.assets.get(path)
      return built ? publishedUrl(built) : encodePath(path)
    })
  }

  /**
   * Stylesheets in a cycle cannot contain each other's digests. They share one digest: they refer to each
   * other by plain names with that digest as the query, so a change in one changes the bytes, and the
   * fingerprint, of each.
   */
  #digestOfCycle(group: readonly Node[], cycle: ReadonlySet<string>): string {
    const digester = new Digester()
    for (const node of group.toSorted(byPath)) {
      const { path, draft } = node
      const content = finish(draft, this.#urlsOf(node, cycle))
      digester.update(path).update('\0')
      if (!('copyOf' in content)) digester.update(content).update('\0')
      digester.update(draft.map ?? '').update('\0')
    }
    return digester.finish()
  }

  /**
   * The newest mtime of everything that the bytes depend on: the sources, and the assets that are named
   * by fingerprint. A stylesheet keeps its size when its image changes; if it kept its mtime too, a
   * server that derives validators from both (nginx) would respond 304 to a client with the old bytes.
   */
  #newestMtime(group: readonly Node[]): bigint {
    const links = group.flatMap(node => node.links)
    const linked = links.flatMap(path => this.assets.get(path ?? '') ?? [])
    const named = linked.filter(asset => publishedPath(asset) !== asset.path)
    const times = [...group.map(({ draft }) => draft.mtimeNs), ...named.map(one => one.mtimeNs)]
    return times.reduce((newest, time) => (time > newest ? time : newest), 0n)
  }
}

/** What a module imports; undefined for what is no script, or was not searched for imports. */
function importsOf({ app, name, draft, links }: Node): Imports | undefined {
  if (textType(name) !== 'js' || !app.fingerprint) return undefined
  const { references = [] } = draft.text ?? {}
  const of = (kind: Reference['kind']) =>
    [...new Set(links.filter((_, at) => references[at]?.kind === kind))].filter(
      path => path !== undefined
    )
  const dynamicImports = of('dynamic-import')
  return { imports: of('import'), ...(dynamicImports.length > 0 && { dynamicImports }) }
}

function finishOne(node: Node, urls: Urls, mtimeNs: bigint): Built[] {
  const { draft, sums, links: _, ownMap: __, ...place } = node
  const content = finish(draft, urls)
  const imports = importsOf(node)
  if (draft.map === undefined) {
    const known = sums ?? checksumsOfBytes(content as Uint8Array, place.app.integrity)
    return [{ ...place, mtimeNs, content, ...known, ...imports }]
  }
  const [map, code] = withMap({ ...place, mtimeNs }, draft, content as Buffer, urls)
  return [map, { ...code, ...imports }]
}

/** Added to the path of a minified asset for its source map. */
export const MAP = '.map'

/** The asset names its map by fingerprint, so the map comes first. */
function withMap(
  place: Omit<Built, 'content' | keyof Checksums>,
  { text, map = '' }: Draft,
  content: Buffer,
  urls: Urls
): [map: Built, code: Built] {
  const { app, name, path } = place
  const json = Buffer.from(text ? shiftMap(map, text.code, text.references, urls) : map)
  const mapped: Built = {
    ...place,
    name: name + MAP,
    path: path + MAP,
    content: json,
    ...checksumsOfBytes(json, app.integrity)
  }
  const directive = `# sourceMappingURL=${publishedUrl(mapped)}`
  const comment = /\.css$/i.test(name) ? `/*${directive} */\n` : `//${directive}\n`
  const code = Buffer.concat([content, Buffer.from(comment)])
  return [mapped, { ...place, content: code, ...checksumsOfBytes(code, app.integrity) }]
}
