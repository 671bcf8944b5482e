// Plans which imports of stylesheets are joined. The text of an import stands where it is imported, but other imports
// must be in front of all rules (css-cascade-5 section 2), so one that stays keeps those before it.
import { isUtf8 } from 'node:buffer'
import type { Unfinished } from '../../publishing/building/links.ts'
import { textType } from '../../publishing/rendering/draft.ts'
import type { AppSettings } from '../../runtime/settings/app-settings.ts'
import { importRules, importsTwice, type ImportRule } from '../minify/import-rules.ts'
import { modeOf } from '../modules/options.ts'

export type Nodes = ReadonlyMap<string, Unfinished>

/** Maps the paths of stylesheets to those of the imports that are joined into them. */
export type Plan = ReadonlyMap<string, ReadonlySet<string>>

interface Joined {
  /** The paths of the imports that are joined into it. */
  readonly imports: ReadonlySet<string>
  /** True if no other import stays: only such a sheet is joined into others. */
  readonly isWhole: boolean
  /** The paths of all sheets in it, and LAYERS; true for those under a layer, a medium or another condition. */
  readonly conditional: ReadonlyMap<string, boolean>
}

const NOTHING: Joined = { imports: new Set(), isWhole: false, conditional: new Map() }

export function planOf(nodes: Nodes): Plan {
  const known = new Map<string, Joined>()
  const joinedIn = (path: string): Joined => {
    const found = known.get(path)
    if (found) return found
    // A cycle is left to the browser.
    known.set(path, NOTHING)
    const node = nodes.get(path)
    const joined = (node && joinImports(node, nodes, joinedIn)) ?? NOTHING
    known.set(path, joined)
    return joined
  }
  return new Map(
    Array.from(nodes.keys(), path => [path, joinedIn(path).imports] as const).filter(
      ([, imports]) => imports.size > 0
    )
  )
}

function joinImports(
  node: Unfinished,
  nodes: Nodes,
  joinedIn: (path: string) => Joined
): Joined | undefined {
  const all = importsOf(node, nodes)
  if (!all) return undefined
  const last = all.imports.findLastIndex(({ to }) => to === undefined || !joinedIn(to).isWhole)
  const conditional = new Map([[node.path, false]])
  if (all.hasLayers) conditional.set(LAYERS, false)
  const imports = new Set<string>()
  for (const { to = '', isConditional } of all.imports.slice(last + 1)) {
    for (const [path, isNested] of joinedIn(to).conditional) {
      const isUnder = isConditional || isNested
      // esbuild keeps the last one of a sheet that is there twice, which is the same only without conditions.
      const before = conditional.get(path)
      if (before !== undefined && (before || isUnder)) return { ...NOTHING, conditional }
      conditional.set(path, isUnder)
    }
    imports.add(to)
  }
  return { imports, isWhole: last === -1, conditional }
}

/** esbuild makes a layer of its own for each sheet in a layer without a name. */
const ANONYMOUS = /^layer(?![\w(-])/i

/** Stands for the statements `@layer a, b;` in front of imports: esbuild keeps one of those that are equal, too. */
const LAYERS = '@layer'

interface Import {
  /** The path of a stylesheet that may be joined. */
  readonly to: string | undefined
  readonly isConditional: boolean
}

interface Imports {
  readonly hasLayers: boolean
  readonly imports: readonly Import[]
}

const NONE: Imports = { hasLayers: false, imports: [] }

/**
 * Returns the imports of a stylesheet in order. The result is undefined for what is no stylesheet, or cannot be
 * joined.
 */
function importsOf(node: Unfinished, nodes: Nodes): Imports | undefined {
  const { name, app, source, draft, links } = node
  const { content, text, mayImport } = draft
  if (textType(name) !== 'css' || modeOf(app) === false) return undefined
  if ('copyOf' in content || !isUtf8(content)) return undefined
  if (!text) return mayImport ? undefined : NONE
  const { code, references } = text
  const rules = importRules(code)
  const lead = leadOf(rules)
  if (lead === undefined || importsTwice(rules)) return undefined
  const imports = rules.map(({ url, condition }) => {
    const at = references.findIndex(({ start, end }) => start <= url && url < end)
    const to = nodes.get(links[at] ?? '')
    // A URL with a query is another file.
    const isUsual = references[at]?.suffix === '' && !ANONYMOUS.test(condition)
    const isJoined = to && isUsual && mayJoin(app, source.packageName, to)
    return { to: isJoined ? to.path : undefined, isConditional: condition !== '' }
  })
  return { hasLayers: /@layer/i.test(lead), imports }
}

const LEAD = /^(?:\uFEFF?\s*@charset[^;{}]*;)?(?:\s*@layer[^;{}]*;)*\s*$/i

/**
 * Returns what is in front of the imports, or undefined where a browser ignores one of them, since anything else is
 * (css-cascade-5 section 2).
 */
function leadOf(rules: readonly ImportRule[]): string | undefined {
  const [lead = '', ...between] = rules.map(({ before }) => before)
  return LEAD.test(lead) && between.every(text => /^[\s;]*$/.test(text)) ? lead : undefined
}

/** By default those of a package are joined with each other alone, as modules are. */
function mayJoin(app: AppSettings, from: string | undefined, to: Unfinished): boolean {
  if (modeOf(app) === true) return modeOf(to.app) === true
  const { packageName } = to.source
  return packageName !== undefined && packageName === from
}
