// From drafts to final bytes. A stylesheet that shows an image holds the image's fingerprint, so that
// what is referred to comes first.
import { withFingerprint } from '../urls/fingerprint.ts'
import { groupsInOrder } from './graph.ts'
import { finish, type Draft } from '../rendering/draft.ts'
import type { AppSettings } from '../settings/settings.ts'
import { shiftMap } from '../rendering/shift-map.ts'
import type { Listed } from '../sources/sources.ts'
import type { Content } from '../../files/content.ts'
import { checksumsOfBytes, type Checksums } from '../../files/checksums.ts'
import { Digester } from '../../files/digest.ts'
import { encodePath } from '../urls/encode.ts'

/** An asset with its final bytes. */
export interface Built extends Listed {
  readonly app: AppSettings
  /** The plain URL path, decoded: `/assets/app.css`. */
  readonly path: string
  /** What has no text of its own is copied from its source when it is written. */
  readonly content: Content
  readonly mtimeNs: bigint
  /** In bytes. */
  readonly size: number
  readonly digest: string
  readonly integrity: readonly string[]
}

/** A draft, and the digest of what needs no finishing. */
export interface Drafted {
  readonly draft: Draft
  readonly sums: Checksums | undefined
}

/** An asset before its references have their URLs. */
export interface Node extends Listed, Drafted {
  readonly app: AppSettings
  readonly path: string
  /** For each reference the path it leads to; undefined leaves it as it was written. */
  links: readonly (string | undefined)[]
}

/** Every asset by its path, each after those that it refers to. */
export function finishAll(byPath: ReadonlyMap<string, Node>): ReadonlyMap<string, Built> {
  const assets = new Map<string, Built>()
  const leadsTo = ({ links }: Node) =>
    links.flatMap(path => (path === undefined ? [] : (byPath.get(path) ?? [])))
  for (const group of groupsInOrder(byPath.values(), leadsTo)) {
    const [first] = group
    const isCycle = group.length > 1 || (first && leadsTo(first).includes(first))
    const members = new Set(group.map(node => node.path))
    const unit = isCycle ? unitOf(group, members, assets) : undefined
    const inCycle = (path: string) =>
      unit !== undefined && members.has(path) ? `${encodePath(path)}?${unit}` : undefined
    const mtimeNs = newestOf(group, assets)
    for (const node of group) {
      for (const built of finishOne(node, assets, inCycle, mtimeNs)) assets.set(built.path, built)
    }
  }
  return assets
}

/**
 * The newest mtime of all that the bytes of a group depend on: of its sources, and of what it names by
 * fingerprint. A stylesheet whose image changed keeps its size; with its old mtime as well, a server
 * that makes validators of both (nginx) would answer 304 to whoever has the old one.
 */
function newestOf(group: readonly Node[], assets: ReadonlyMap<string, Built>): bigint {
  const times = group.flatMap(({ draft, links }) => [
    draft.mtimeNs,
    ...links.flatMap(path => {
      const named = path === undefined ? undefined : assets.get(path)
      return named && publishedPath(named) !== named.path ? named.mtimeNs : []
    })
  ])
  return times.reduce((newest, time) => (time > newest ? time : newest), 0n)
}

/**
 * Files that refer to each other cannot hold each other's digests. They are digested as one: among
 * each other they refer to plain names with the unit's digest as query, so that a change in one
 * changes the bytes, and so the name, of each.
 */
function unitOf(
  group: readonly Node[],
  members: ReadonlySet<string>,
  assets: ReadonlyMap<string, Built>
): string {
  const plain = (path: string) => (members.has(path) ? encodePath(path) : undefined)
  const digester = new Digester()
  for (const node of group.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    const content = finish(node.draft, urlsOf(node, assets, plain))
    digester.update(node.path).update('\0')
    if (!('copyOf' in content)) digester.update(content).update('\0')
    digester.update(node.draft.map ?? '').update('\0')
  }
  return digester.finish()
}

function finishOne(
  node: Node,
  assets: ReadonlyMap<string, Built>,
  inCycle: (path: string) => string | undefined,
  mtimeNs: bigint
): Built[] {
  const { draft, sums, links: _, ...place } = node
  const urls = urlsOf(node, assets, inCycle)
  const content = finish(draft, urls)
  const common = { ...place, mtimeNs }
  if (draft.map !== undefined) return withMap(common, draft, content as Buffer, urls)
  const known = sums ?? checksumsOfBytes(content as Uint8Array, node.app.integrity)
  return [{ ...common, content, ...known }]
}

/** What a minified text's path gets, for its map. */
export const MAP = '.map'

/** The text names its map by that one's digest, so that its own is over the map as well. */
function withMap(
  place: Omit<Built, 'content' | keyof Checksums>,
  { text, map = '' }: Draft,
  content: Buffer,
  urls: readonly (string | undefined)[]
): Built[] {
  const { app, name, path } = place
  const json = Buffer.from(text ? shiftMap(map, text.code, text.references, urls) : map)
  const mapped = {
    ...place,
    name: name + MAP,
    path: path + MAP,
    content: json,
    ...checksumsOfBytes(json, app.integrity)
  }
  const url = publishedUrl(mapped)
  const comment = /\.css$/i.test(name)
    ? `/*# sourceMappingURL=${url} */\n`
    : `//# sourceMappingURL=${url}\n`
  const code = Buffer.concat([content, Buffer.from(comment)])
  return [mapped, { ...place, content: code, ...checksumsOfBytes(code, app.integrity) }]
}

function urlsOf(
  { links }: Node,
  assets: ReadonlyMap<string, Built>,
  inCycle: (path: string) => string | undefined
): (string | undefined)[] {
  return links.map(path => {
    if (path === undefined) return undefined
    const built = assets.get(path)
    return inCycle(path) ?? (built ? publishedUrl(built) : encodePath(path))
  })
}

/** The URL path under which pages and stylesheets ask for an asset. */
export function publishedUrl(built: Built): string {
  return encodePath(publishedPath(built))
}

/** The same, decoded. */
export function publishedPath({ app, path, digest }: Built): string {
  return app.fingerprint ? withFingerprint(path, digest) : path
}
