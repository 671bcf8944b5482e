/** Which modules a page loads for an entry, as far as their specifiers are literals. */

import { assetName, type AppAssets, type AssetAddress, type Module } from './asset-url.ts'

export function isModulePath(path: string): boolean {
  return /\.m?js$/i.test(path)
}

/** The modules that entries import statically, each after what it imports itself; not the entries. */
export function staticImports(assets: AppAssets, names: readonly string[]): AssetAddress[] {
  const entries = plainPaths(assets, names)
  const order = importOrder(entries, path => assets.moduleAt(path)?.imports ?? [])
  return [...order]
    .filter(path => isModulePath(path) && !entries.includes(path))
    .flatMap(path => assets.moduleAt(path) ?? [])
}

/**
 * The entries and everything that they import, statically or not. All modules if it is not known
 * what one of these imports: the manifest comes from an earlier release, or another app has no fingerprints.
 */
export function reachedFrom(assets: AppAssets, names: readonly string[]): Iterable<Module> {
  const order = importOrder(plainPaths(assets, names), path => {
    const { imports = [], dynamicImports = [] } = assets.moduleAt(path) ?? {}
    return [...imports, ...dynamicImports]
  })
  const reached = [...order].flatMap((path): Module[] => {
    const address = assets.moduleAt(path)
    return address ? [[path, address]] : []
  })
  const isKnown = reached.every(([path, { imports }]) => imports || !isModulePath(path))
  return isKnown ? reached : assets.modules()
}

/** None where it is not known what they import. @param given the names that a view writes */
function plainPaths(assets: AppAssets, given: readonly string[]): string[] {
  const names = given.map(name => assetName(name, '.js')).filter(name => name !== undefined)
  return names.flatMap(name => assets.resolve(name).plainPath ?? [])
}

/** The nodes and everything that they lead to, each once, what a node imports before the node. */
export function importOrder<Node>(
  starts: Iterable<Node>,
  importsOf: (node: Node) => Iterable<Node>
): Set<Node> {
  const seen = new Set<Node>()
  const ordered = new Set<Node>()
  for (const start of starts) {
    if (seen.has(start)) continue
    seen.add(start)
    // A stack of its own: a chain of imports may be longer than the call stack.
    const stack = [{ node: start, imports: importsOf(start)[Symbol.iterator]() }]
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const { done, value } = top.imports.next()
      if (done) {
        ordered.add(top.node)
        stack.pop()
      } else if (!seen.has(value)) {
        seen.add(value)
        stack.push({ node: value, imports: importsOf(value)[Symbol.iterator]() })
      }
    }
  }
  return ordered
}

/** A page has few entries; their lists may be long. */
const MAX_REMEMBERED = 20

/**
 * Remembers what a helper wrote, until the URL of an asset may have changed.
 * @param version changes with the URLs of assets
 */
export function makePageMemory<Written>(version: () => string) {
  const written = new Map<string, Written>()
  let writtenFor: string | undefined
  return (key: string, write: () => Written): Written => {
    const now = version()
    if (now !== writtenFor) written.clear()
    writtenFor = now
    const known = written.get(key)
    if (known !== undefined) return known
    const fresh = write()
    if (written.size >= MAX_REMEMBERED) written.clear()
    written.set(key, fresh)
    return fresh
  }
}
