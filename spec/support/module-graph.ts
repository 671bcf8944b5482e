// Random modules that import each other by the names of their files, and what a browser reaches from the first one.
import { posix } from 'node:path'
import fc from 'fast-check'
import { loadModuleLexer } from '../../lib/publishing/references/modules.ts'
import type { Answer } from './ask.ts'

/** A module by its place among the sources; the first is the one that a page loads. */
interface Module {
  readonly folder: string
  readonly extension: string
  /** True for the index of a folder with its name. */
  readonly isIndex: boolean
  readonly edges: readonly Edge[]
}

interface Edge {
  /** The number of the other module. */
  readonly to: number
  readonly form: keyof typeof FORMS
  /** True for a path without the extension, or of the folder. */
  readonly isShort: boolean
}

type Graph = readonly Module[]

/** `export type` and `import type` leave nothing behind. */
const FORMS = {
  static: (path: string) => `import '${path}'`,
  named: (path: string, at: number) => `import { own as from${at} } from '${path}'; use(from${at})`,
  namespace: (path: string, at: number) => `import * as all${at} from '${path}'; use(all${at})`,
  again: (path: string, at: number) => `export { own as again${at} } from '${path}'`,
  dynamic: (path: string) => `void import('${path}')`,
  url: (path: string) => `use(new URL('${path}', import.meta.url))`,
  worker: (path: string) =>
    `use(() => new Worker(new URL('${path}', import.meta.url), { type: 'module' }))`,
  type: (path: string, at: number) => `import type { Own as Own${at} } from '${path}'`
}

const TYPED = ['.ts', '.tsx', '.mts', '.cts', '.js.ts']
const SCRIPTS = [...TYPED, '.jsx', '.js']
const aForm = fc.constantFrom(...(Object.keys(FORMS) as (keyof typeof FORMS)[]))
const moduleOf = (count: number) => {
  const anEdge = fc.record({ to: fc.nat(count - 1), form: aForm, isShort: fc.boolean() })
  return fc.record({
    folder: fc.constantFrom('javascripts', 'javascripts/lib', 'shared'),
    extension: fc.constantFrom(...SCRIPTS),
    isIndex: fc.boolean(),
    edges: fc.uniqueArray(anEdge, { selector: ({ to }) => to, maxLength: 4 })
  })
}

export const graphs: fc.Arbitrary<Graph> = fc
  .integer({ min: 2, max: 7 })
  .chain(count => fc.array(moduleOf(count), { minLength: count, maxLength: count }))

/** Imports lead to later modules alone: those in a circle are rewritten to plain names, and need an import map. */
const edgesOf = (graph: Graph, from: number) =>
  (graph[from]?.edges ?? []).filter(({ to, form }) => {
    const isTyped = TYPED.includes(graph[from]?.extension ?? '')
    return to > from && (form !== 'type' || isTyped)
  })

const fileOf = ({ folder, extension, isIndex }: Module, at: number) =>
  `${folder}/m${at}${isIndex && at > 0 ? '/index' : ''}${extension}`

/** The last of several extensions is left out. */
const short = (path: string) => path.replace(/(?:\/index)?\.\w+$/, '')

/** The files below the directory of sources. */
export function filesOf(graph: Graph): Record<string, string> {
  const written = graph.map((module, from) => {
    const lines = edgesOf(graph, from).flatMap(({ to, form, isShort }) => {
      const target = graph[to]
      if (!target) return []
      const folder = posix.dirname(fileOf(module, from))
      const whole = posix.relative(folder, fileOf(target, to))
      const path = isShort ? short(whole) : whole
      return FORMS[form](path.startsWith('.') ? path : `./${path}`, to)
    })
    const isTyped = TYPED.includes(module.extension)
    const own = isTyped ? 'export type Own = 1; export const own: Own = 1' : 'export const own = 1'
    const parameter = isTyped ? 'all: unknown[]' : 'all'
    // What has no effect is left out of joined modules.
    const use = `const use = (...${parameter}) => Reflect.set(globalThis, 'used', all)`
    return [fileOf(module, from), [own, use, ...lines, `globalThis['<m${from}>'] = own`].join('\n')]
  })
  return Object.fromEntries(written) as Record<string, string>
}

/** The modules that a browser must reach, each by its mark. */
export function reachedIn(graph: Graph): string[] {
  const reached = new Set([0])
  for (const from of reached)
    for (const { to, form } of edgesOf(graph, from)) if (form !== 'type') reached.add(to)
  return Array.from(reached, at => `<m${at}>`).toSorted()
}

/** Follows every reference of modules, and returns the marks that it meets; a URL that leads nowhere throws. */
export async function followed(first: string, get: (path: string) => Promise<Answer>) {
  const { find } = await loadModuleLexer()
  const marks = new Set<string>()
  const paths = new Set([first])
  for (const path of paths) {
    const { status, text } = await get(path)
    if (status !== 200) throw new Error(`${status} ${path}`)
    for (const [mark] of text.matchAll(/<m\d+>/g)) marks.add(mark)
    for (const reference of find(text).references)
      paths.add(posix.resolve(path, '..', reference.path))
  }
  const unknown = [...paths].filter(path => !path.endsWith('.js'))
  if (unknown.length > 0) throw new Error(`these are no scripts: ${unknown.join(', ')}`)
  return [...marks].toSorted()
}
