// Gives assets their final bytes. A stylesheet contains the fingerprints of its images, so every asset comes after
// those to which it refers.
import type { Warn } from '../../runtime/errors.ts'
import { createHash } from 'node:crypto'
import { checksumsOfBytes, digestOfHash, type Checksums } from '../../runtime/files/digest.ts'
import { finish, textType, type Draft } from '../rendering/draft.ts'
import type { Content } from '../../runtime/files/open-file.ts'
import type { Asset } from '../../runtime/urls/manifest.ts'
import type { Sourced } from '../sources/snapshot.ts'
import { isBare } from '../references/modules.ts'
import { isInModule, type Reference, type Urls } from '../references/references.ts'
import { shiftMap } from '../rendering/source-map.ts'
import { encodePath, withFingerprint } from '../../runtime/urls/spelling.ts'
import { importOrder } from '../../runtime/views/modules.ts'
import { byPath, type Assets, type Built } from './assets.ts'

/** Returns the assets by path, each after those to which it refers. @param base is written before every path */
export function finishAll(nodes: ReadonlyMap<string, Draft>, warn: Warn, base = ''): Assets {
  const assets = new Map<string, Built>()
  const linksOf = (path: string) =>
    (nodes.get(path)?.links ?? []).flatMap(to => nodes.get(to ?? '')?.path ?? [])
  for (const paths of groupsInOrder([...nodes.keys()], linksOf)) {
    const isCycle = paths.length > 1 || paths.some(path => linksOf(path).includes(path))
    const cycle = new Set(isCycle ? paths : [])
    const group = paths.flatMap(path => nodes.get(path) ?? [])
    const hasStyles = group.some(({ path }) => textType(path) === 'css')
    const urlsOf = ({ links = [], text }: Draft, query = ''): Urls =>
      links.map((path, at) => {
        const reference = text?.references[at]
        if (path === undefined || !reference) return undefined
        const target = cycle.has(path) ? undefined : assets.get(path)?.asset.target
        // An import map resolves plain URLs, not those with a query.
        const suffix = cycle.has(path) && !isInModule(reference) ? query : ''
        return base + (target ?? encodePath(path) + suffix)
      })
    const query = isCycle && hasStyles ? `?${digestOfCycle(group, urlsOf)}` : ''
    const modules = group.filter(({ path }) => cycle.has(path) && textType(path) === 'js')
    if (modules.length > 0) warn(cycleFound(modules.map(({ path }) => path).toSorted()))
    for (const node of group) {
      shiftOwnMap(node, urlsOf(node, query), assets)
      for (const built of finishOne(node, urlsOf(node, query), cycle, base))
        assets.set(built.path, built)
    }
  }
  return assets
}

function cycleFound(paths: readonly string[]): string {
  const shown = paths.length > 10 ? [...paths.slice(0, 10), '…'] : paths
  return `modules refer to each other: ${shown.join(', ')}; they import each other by plain names, so break the cycle or write importMap() before the first module of a page, which would otherwise load them twice`
}

/**
 * Stylesheets in a cycle cannot contain each other's digests, so they share one: they refer to each other by plain
 * names with that digest as the query, so a change in one changes the bytes, and the fingerprint, of each.
 */
function digestOfCycle(group: readonly Draft[], urlsOf: (node: Draft) => Urls): string {
  const hash = createHash('sha256')
  for (const node of group.toSorted(byPath)) {
    const content = finish(node, urlsOf(node))
    hash.update(node.path).update('\0')
    if (!('copyOf' in content)) hash.update(content).update('\0')
    if (node.app.sourceMaps === true) hash.update(node.map ?? '').update('\0')
  }
  return digestOfHash(hash.digest())
}

/** Shifts the map that a text came with. The text refers to it by fingerprint, so the map comes first. */
function shiftOwnMap({ path, text, ownMap }: Draft, urls: Urls, assets: Map<string, Built>) {
  const map = assets.get(path + MAP)
  if (ownMap === undefined || !map || !text) return
  const content = Buffer.from(shiftMap(ownMap, text, urls))
  assets.set(map.path, builtFrom(map, content, checksumsOfBytes(content, map.app.integrity)))
}

export const MAP = '.map'

function builtFrom(
  { app, source, path }: Sourced,
  content: Content,
  { digest, integrity, size }: Checksums,
  { imports, dynamicImports, unresolved, ...known }: Partial<Asset> = {}
): Built {
  const asset: Asset = {
    path: encodePath(path),
    target: encodePath(app.fingerprint ? withFingerprint(path, digest) : path),
    source: source.path,
    integrity,
    size,
    from: source.from || undefined,
    imports,
    dynamicImports,
    unresolved,
    specifiers: source.specifiers,
    ...known
  }
  return { app, source, path, asset, content, digest }
}

/** Returns the asset, after its map if it has one, to which it refers by fingerprint. */
function finishOne(node: Draft, urls: Urls, cycle: ReadonlySet<string>, base: string): Built[] {
  const { app, source, path, text } = node
  const content = finish(node, urls)
  const known = { ...importsOf(node, cycle), sources: node.sources?.map(encodePath) }
  const sumsOf = (bytes: Content) => checksumsOfBytes(bytes as Uint8Array, app.integrity)
  if (node.map === undefined)
    return [builtFrom(node, content, node.sums ?? sumsOf(content), { ...known, ...node.details })]
  const mapBytes = Buffer.from(text ? shiftMap(node.map, text, urls) : node.map)
  if (app.sourceMaps !== true) {
    const built = builtFrom(node, content, sumsOf(content), known)
    return [app.sourceMaps === 'hidden' ? { ...built, hiddenMap: mapBytes } : built]
  }
  const map = builtFrom({ app, source, path: path + MAP }, mapBytes, sumsOf(mapBytes))
  const directive = `# sourceMappingURL=${base}${map.asset.target}`
  const comment = textType(path) === 'css' ? `/*${directive} */\n` : `//${directive}\n`
  const code = Buffer.concat([content as Buffer, Buffer.from(comment)])
  return [map, builtFrom(node, code, sumsOf(code), known)]
}

/** Returns undefined for an asset that is not a script, or was not searched for imports. */
function importsOf({ app, path, text, links = [] }: Draft, cycle: ReadonlySet<string>) {
  if (textType(path) !== 'js' || !app.fingerprint) return undefined
  const { references = [], isOpen = false } = text ?? {}
  const of = (kind: Reference['kind']) => {
    const paths = links.filter((_, at) => references[at]?.kind === kind)
    return [...new Set(paths)].filter(to => to !== undefined).map(encodePath)
  }
  const dynamicImports = of('dynamic-import')
  const left = references.flatMap((reference, at) => {
    const to = links[at]
    if (to === undefined) return isBare(reference) ? reference.path : []
    return cycle.has(to) && isInModule(reference) ? encodePath(to) : []
  })
  const unresolved = [...new Set([...left, ...(isOpen ? ['*'] : [])])]
  const known = { imports: of('import'), unresolved }
  return dynamicImports.length > 0 ? { ...known, dynamicImports } : known
}

/** Puts each group after those to which it refers; paths of one cycle share a group (Kosaraju's algorithm). */
function groupsInOrder(paths: readonly string[], linksOf: (path: string) => readonly string[]) {
  const referrers = new Map(paths.map(path => [path, new Array<string>()]))
  for (const path of paths) for (const to of linksOf(path)) referrers.get(to)?.push(path)
  const left = new Set(paths)
  const groups: string[][] = []
  for (const path of [...importOrder(paths, linksOf)].toReversed()) {
    if (!left.delete(path)) continue
    const group = [path]
    for (const each of group)
      for (const from of referrers.get(each) ?? []) if (left.delete(from)) group.push(from)
    groups.push(group)
  }
  return groups.toReversed()
}
