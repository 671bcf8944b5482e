// The whole tree: every asset of every app with its final bytes and its digest. A stylesheet that
// shows an image holds the image's fingerprint, so that what is referred to comes first.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { relative } from 'node:path'
import { AssetError } from '../errors.ts'
import { encodePath } from './asset-url.ts'
import { DIGEST_LENGTH, withFingerprint } from './fingerprint.ts'
import { groupsInOrder } from './graph.ts'
import { inParallel } from './in-parallel.ts'
import { draft, finish, type Draft } from './render.ts'
import { resolveReference } from './resolve-reference.ts'
import type { AppSettings, IntegrityAlgorithm, Settings } from './settings.ts'
import type { Listed, Sources } from './sources.ts'
import type { Content } from './write-whole.ts'

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

export interface Build {
  readonly assets: ReadonlyMap<string, Built>
  readonly problems: readonly AssetError[]
}

export interface BuildOptions {
  readonly warn: (message: string) => void
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((done: number, total: number, path: string) => void) | undefined
  /** What an earlier build has read of an asset, when nothing of it changed since. */
  readonly reuse?: (path: string, source: Listed['source']) => Promise<Drafted | undefined>
  readonly keep?: (path: string, source: Listed['source'], drafted: Drafted) => void
}

/** A draft, and the digest of what needs no finishing. */
export interface Drafted {
  readonly draft: Draft
  readonly sums: Sums | undefined
}

interface Sums {
  readonly digest: string
  readonly integrity: readonly string[]
  readonly size: number
}

interface Node extends Listed, Drafted {
  readonly app: AppSettings
  readonly path: string
  /** For each reference the path it leads to; undefined leaves it as it was written. */
  links: readonly (string | undefined)[]
}

// Enough to keep the disk busy while a compiler works.
const LANES = 16

/** Builds everything that can be built; what cannot is told in `problems`. */
export async function build(
  settings: Settings,
  sources: Sources,
  options: BuildOptions
): Promise<Build> {
  const problems: AssetError[] = []
  const listed = await list(settings, sources, problems)
  let done = 0
  const nodes = await inParallel(
    listed,
    LANES,
    async one => {
      const node = await read(settings, sources, one, options).catch(asProblem(problems))
      options.onProgress?.(++done, listed.length, one.path)
      return node
    },
    options.signal
  )
  const byPath = new Map(nodes.flatMap(node => (node ? [[node.path, node]] : [])))
  for (const node of byPath.values()) {
    node.links = await link(settings, sources, node, byPath, problems, options)
  }
  return { assets: finishAll(byPath), problems }
}

function asProblem(problems: AssetError[]) {
  return (error: unknown): undefined => {
    if (!(error instanceof AssetError)) throw error
    problems.push(error)
  }
}

type Place = Listed & { readonly app: AppSettings; readonly path: string }

async function list(
  settings: Settings,
  sources: Sources,
  problems: AssetError[]
): Promise<readonly Place[]> {
  const all: Place[] = []
  for (const app of settings.apps) {
    for (const one of await sources.list(app)) {
      const path = `${app.urlPrefix}/${one.name}`
      // A request for it would reach the app with the longer prefix.
      if (appOf(settings, path) !== app) continue
      if (one.rivals.length > 0) problems.push(collision(one))
      all.push({ ...one, app, path })
    }
  }
  return all.toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

function appOf({ apps }: Settings, path: string): AppSettings | undefined {
  return apps.find(({ urlPrefix }) => path.startsWith(`${urlPrefix}/`))
}

function collision({ name, source, rivals }: Listed): AssetError {
  const paths = [source, ...rivals].map(one => one.path).join(', ')
  return new AssetError(
    'name-taken',
    `several sources in ${source.directory} are published as ${name}: ${paths}; rename all but one`
  )
}

async function read(
  settings: Settings,
  sources: Sources,
  place: Place,
  { reuse, keep }: BuildOptions
): Promise<Node | undefined> {
  const { app, name, path, source } = place
  const known = await reuse?.(path, source)
  if (known) return { ...place, ...known, links: [] }
  const drafted = await draft(settings, sources.loadPaths(app), name, source)
  if (!drafted) return undefined
  const sums = drafted.text ? undefined : await sumsOf(drafted.content, app.integrity)
  // Bytes that stay as they are need not be kept: the source has them.
  const isCopy = !source.compiler && !drafted.text
  const result = {
    draft: isCopy ? { ...drafted, content: { copyOf: source.file } } : drafted,
    sums
  }
  keep?.(path, source, result)
  return { ...place, ...result, links: [] }
}

async function link(
  settings: Settings,
  sources: Sources,
  node: Node,
  byPath: ReadonlyMap<string, Node>,
  problems: AssetError[],
  { warn }: BuildOptions
): Promise<(string | undefined)[]> {
  const { text } = node.draft
  const links = (text?.references ?? []).map(async reference => {
    const asker = { ...node, dependencies: text?.dependencies ?? [] }
    const found = await resolveReference(settings, sources, asker, reference)
    if (found === 'elsewhere') return undefined
    if (found) {
      const path = `${found.app.urlPrefix}/${found.name}`
      if (byPath.has(path)) return path
      // A tail: what it finds is published under its own name.
      const source = await sources.find(found.app, found.name)
      return source && `${found.app.urlPrefix}/${source.name}`
    }
    if (reference.kind === 'source-map') return undefined
    const where = relative(settings.root, node.source.file)
    const message = `${where} refers to ${reference.path}, which leads to no asset`
    if (node.app.missing === 'error') problems.push(new AssetError('reference-missing', message))
    else warn(message)
    return undefined
  })
  return Promise.all(links)
}

function finishAll(byPath: ReadonlyMap<string, Node>): ReadonlyMap<string, Built> {
  const assets = new Map<string, Built>()
  const leadsTo = ({ links }: Node) =>
    links.flatMap(path => (path === undefined ? [] : (byPath.get(path) ?? [])))
  for (const group of groupsInOrder(byPath.values(), leadsTo)) {
    const [first] = group
    const isCircle = group.length > 1 || (first && leadsTo(first).includes(first))
    const members = new Set(group.map(node => node.path))
    const unit = isCircle ? unitOf(group, members, assets) : undefined
    const inCircle = (path: string) =>
      unit !== undefined && members.has(path) ? `${encodePath(path)}?${unit}` : undefined
    for (const node of group) assets.set(node.path, finishOne(node, assets, inCircle))
  }
  return assets
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
  const hash = createHash('sha256')
  for (const node of group.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    const content = finish(node.draft, urlsOf(node, assets, plain))
    hash.update(node.path).update('\0')
    if (!('copyOf' in content)) hash.update(content).update('\0')
  }
  return hash.digest('hex').slice(0, DIGEST_LENGTH)
}

function finishOne(
  node: Node,
  assets: ReadonlyMap<string, Built>,
  inCircle: (path: string) => string | undefined
): Built {
  const { draft, sums, links: _, ...place } = node
  const content = finish(draft, urlsOf(node, assets, inCircle))
  const known = sums ?? sumsOfBytes(content as Uint8Array, node.app.integrity)
  return { ...place, content, mtimeNs: draft.mtimeNs, ...known }
}

function urlsOf(
  { links }: Node,
  assets: ReadonlyMap<string, Built>,
  inCircle: (path: string) => string | undefined
): (string | undefined)[] {
  return links.map(path => {
    if (path === undefined) return undefined
    const built = assets.get(path)
    return inCircle(path) ?? (built ? publishedUrl(built) : encodePath(path))
  })
}

/** The URL path under which pages and stylesheets ask for an asset. */
export function publishedUrl({ app, path, digest }: Built): string {
  return encodePath(app.fingerprint ? withFingerprint(path, digest) : path)
}

async function sumsOf(content: Content, algorithms: readonly IntegrityAlgorithm[]): Promise<Sums> {
  if (!('copyOf' in content)) return sumsOfBytes(content, algorithms)
  const hashes = ['sha256', ...algorithms].map(name => createHash(name))
  let size = 0
  for await (const chunk of createReadStream(content.copyOf)) {
    size += (chunk as Buffer).length
    for (const hash of hashes) hash.update(chunk as Buffer)
  }
  const [digest, ...others] = hashes.map(hash => hash.digest())
  return {
    digest: (digest as Buffer).toString('hex').slice(0, DIGEST_LENGTH),
    integrity: others.map((sum, at) => `${algorithms[at]}-${sum.toString('base64')}`),
    size
  }
}

function sumsOfBytes(bytes: Uint8Array, algorithms: readonly IntegrityAlgorithm[]): Sums {
  const sum = (name: string) => createHash(name).update(bytes).digest()
  return {
    digest: sum('sha256').toString('hex').slice(0, DIGEST_LENGTH),
    integrity: algorithms.map(name => `${name}-${sum(name).toString('base64')}`),
    size: bytes.length
  }
}
