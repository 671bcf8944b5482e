// Describes the scripts of an app: their imports, and which of them are modules.
import { dirname, posix } from 'node:path'
import { inParallel } from '../../../runtime/concurrency.ts'
import { readContent } from '../../../runtime/files/open-file.ts'
import type { SourceFile } from '../../../runtime/app/extra.ts'
import type { AppSettings } from '../../../runtime/settings/apps.ts'
import { encodePath } from '../../../runtime/urls/spelling.ts'
import { MAP } from '../../../publishing/building/links.ts'
import { loadModuleLexer } from '../../../publishing/references/modules.ts'
import { finish, textType, type Draft } from '../../../publishing/rendering/draft.ts'
import { takeInlineMap } from '../../../publishing/rendering/source-map.ts'
import { refuseDeep } from '../rolldown.ts'

/** A script whose references are plain URLs. Paths are those of such URLs, decoded. */
export interface Script {
  readonly source: SourceFile
  readonly code: string
  /** The source map as JSON, which is not in the code; null if it cannot be read. */
  readonly map?: string | null | undefined
  /** True if it has syntax that only a module may have. */
  readonly isModule: boolean
  /** True if it uses its own URL, which would change in a joined file. */
  readonly isPlaced: boolean
  readonly imports: ReadonlySet<string>
  readonly dynamicImports: ReadonlySet<string>
  /** The modules that it names by URLs with a query or fragment, each of which runs them once more. */
  readonly again: ReadonlySet<string>
  /** The assets to which it refers other than by an import. */
  readonly others: ReadonlySet<string>
}

export type Scripts = ReadonlyMap<string, Script>
export type Nodes = ReadonlyMap<string, Draft>

export async function scriptsOf(app: AppSettings, nodes: Nodes): Promise<Scripts> {
  const all = [...nodes.values()].filter(each => each.app === app && textType(each.path) === 'js')
  const times = new Map<string, number>()
  for (const { source } of all) times.set(source.file, (times.get(source.file) ?? 0) + 1)
  // Rolldown identifies modules by file: one with two names, from two source directories, stays a file under both.
  const own = all.filter(({ source }) => times.get(source.file) === 1)
  const read = async (node: Draft) => [node.path, await scriptOf(node, nodes)] as const
  return new Map(await inParallel(own, 16, read))
}

async function scriptOf(node: Draft, nodes: Nodes): Promise<Script> {
  const { source, text, links = [] } = node
  const { code, map } = await plainText(node)
  const lexer = await loadModuleLexer()
  const [imports, dynamicImports] = [new Set<string>(), new Set<string>()]
  const [again, others] = [new Set<string>(), new Set(loadedBy(code, dirname(node.path), nodes))]
  for (const [at, path] of links.entries()) {
    const { kind, suffix = '' } = text?.references[at] ?? {}
    if (path === undefined || path === node.path + MAP) continue
    const isScript = textType(path) === 'js'
    // A URL with a query is a different module from the one without.
    if (suffix !== '' && isScript) again.add(path)
    if (kind === 'import' && (suffix === '' || isScript)) imports.add(path)
    else if (kind === 'dynamic-import' && suffix === '') dynamicImports.add(path)
    else others.add(path)
  }
  const isModule = lexer.isModule(code) === true
  const isPlaced = lexer.usesOwnUrl(code.replace(LITERAL_URL, "''"))
  return { source, code, map, isModule, isPlaced, imports, dynamicImports, again, others }
}

const LITERAL_URL =
  /\bnew\s+URL\s*\(\s*(["'`])\/(?:(?!\1)[^\\\n])*\1\s*,\s*import\.meta\.url\s*,?\s*\)/g

/** Returns the text with plain URLs as references, and its source map, null if that cannot be read. */
export async function plainText(node: Draft) {
  const { path, links = [], map } = node
  const urls = links.map(to => (to === undefined || to === path + MAP ? undefined : encodePath(to)))
  const finished = new TextDecoder().decode(await readContent(finish(node, urls)))
  const { code, map: inline = map } = takeInlineMap(finished)
  return { code, map: inline }
}

/** ``import(`./locales/${name}.js`)``, `import('./locales/' + name)` */
const BEGINNING =
  /\bimport\s*\(\s*(?:`(?<template>\.{0,2}\/[^`$]*)\$\{|(["'])(?<text>\.{0,2}\/(?:(?!\2)[^\n])*)\2\s*\+)/g
const RESOLVED = /\bimport\.meta\.resolve\(\s*(["'`])(?<text>\.{0,2}\/(?:(?!\1)[^\n])*)\1/g

/** Returns the paths of assets whose URLs a module computes, which stay separate files. */
function loadedBy(code: string, directory: string, nodes: Nodes): string[] {
  const found = (pattern: RegExp) =>
    Array.from(code.matchAll(pattern), ({ groups = {} }) => {
      const path = groups['template'] ?? groups['text'] ?? ''
      return posix.join(path.startsWith('/') ? '' : directory, path)
    })
  const [begun, whole] = [found(BEGINNING), found(RESOLVED)]
  const isLoaded = (path: string) =>
    whole.includes(path) || begun.some(each => path.startsWith(each) && textType(path) === 'js')
  return begun.length + whole.length > 0 ? [...nodes.keys()].filter(isLoaded) : []
}

/** @param isEager leaves out dynamic imports */
export function reachedFrom(paths: Iterable<string>, all: Scripts, isEager = false): Set<string> {
  const reached = new Set(paths)
  for (const path of reached) {
    const { imports = [], dynamicImports = [] } = all.get(path) ?? {}
    for (const to of isEager ? imports : [...imports, ...dynamicImports])
      if (all.has(to)) reached.add(to)
  }
  return reached
}

/** Returns a module and those with which it forms a cycle, directly or not. */
export function cycleOf(path: string, modules: Scripts): string[] {
  const reached = [...reachedFrom([path], modules, true)]
  return reached.filter(each => reachedFrom([each], modules, true).has(path))
}

/** Rolldown ignores `defer`, and runs such imports at once. */
const DEFERRED = /\bimport\s+defer\s*\*/

export function modulesIn(all: Scripts): Scripts {
  const scripts = new Map([...all].filter(([, { code }]) => !DEFERRED.test(code)))
  const isFound = ({ source, isModule }: Script) => source.specifiers !== undefined || isModule
  const found = [...scripts].flatMap(([path, script]) => (isFound(script) ? path : []))
  // An imported file is a module, whatever it contains.
  const paths = [...reachedFrom(found, scripts)].toSorted()
  return new Map(paths.map(path => [path, scripts.get(path) as Script]))
}

// A joined module with top-level await would delay others that a browser runs meanwhile, unless nothing imports it; one
// that is imported by a URL with a query would not run once more. Their importers are kept apart as well.
export function apartIn(scripts: Scripts, parse: (code: string) => object): Set<string> {
  const imported = new Set([...scripts.values()].flatMap(({ imports }) => [...imports]))
  const found = new Set([...scripts.values()].flatMap(({ again }) => [...again]))
  for (const [path, { code }] of scripts)
    if (imported.has(path) && /\bawait\b/.test(code) && awaitsIn(code, parse)) found.add(path)
  return withImporters(found, scripts)
}

export function withImporters(paths: Iterable<string>, scripts: Scripts): Set<string> {
  const found = new Set(paths)
  for (const path of found)
    for (const [importer, { imports }] of scripts) if (imports.has(path)) found.add(importer)
  return found
}

/** Returns false for a text that cannot be parsed, which joining reports. */
function awaitsIn(code: string, parse: (code: string) => object) {
  try {
    refuseDeep(code)
    return isAwaiting(parse(code))
  } catch (error) {
    if ((error as { code?: unknown }).code === undefined) throw error
    return false
  }
}

/** Uses no recursion, as nodes may be nested deeper than the call stack: chains have no brackets. */
function isAwaiting(program: object): boolean {
  const nodes: unknown[] = [program]
  for (const node of nodes) {
    if (typeof node !== 'object' || node === null) continue
    const { type, await: isLoop } = node as { readonly type?: unknown; readonly await?: unknown }
    if (type === 'AwaitExpression' || (type === 'ForOfStatement' && isLoop === true)) return true
    if (/Function|MethodDefinition|PropertyDefinition/.test(String(type))) continue
    for (const each of Object.values(node)) nodes.push(each)
  }
  return false
}
