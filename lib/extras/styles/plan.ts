// Plans which imports of stylesheets are joined. The text of an import replaces its rule, but other imports must come
// before all rules (css-cascade-5 section 2), so those before an import that stays must stay, too.
import { isUtf8 } from 'node:buffer'
import { textType, type Draft } from '../../publishing/rendering/draft.ts'
import type { AppSettings } from '../../runtime/settings/apps.ts'
import type { Nodes } from '../modules/joining/scripts.ts'
import { joinModeOf } from '../modules/options.ts'
import { importRules, importsTwice } from './css.ts'

/** Maps the paths of stylesheets to those of the imports that are joined into them. */
export type Plan = ReadonlyMap<string, ReadonlySet<string>>

/** The paths of sheets, and LAYERS; true for those under a layer, media query or other condition. */
type Sheets = ReadonlyMap<string, boolean>

interface Joined {
  readonly imports: ReadonlySet<string>
  /** True if no other import stays: only such a sheet is joined into others. */
  readonly isWhole: boolean
  readonly sheets: Sheets
}

const NOTHING: Joined = { imports: new Set(), isWhole: false, sheets: new Map() }

export function planOf(nodes: Nodes): Plan {
  const known = new Map<Draft, Joined>()
  const joinedIn = (node: Draft): Joined => {
    const found = known.get(node)
    if (found) return found
    // A cycle is left to the browser.
    known.set(node, NOTHING)
    const written = importsOf(node, nodes)
    const joined = written ? join(written, joinedIn) : NOTHING
    known.set(node, joined)
    return joined
  }
  const all = Array.from(nodes, ([path, node]) => [path, joinedIn(node).imports] as const)
  return new Map(all.filter(([, imports]) => imports.size > 0))
}

type Imports = NonNullable<ReturnType<typeof importsOf>>

function join({ own, imports: all }: Imports, joinedIn: (node: Draft) => Joined): Joined {
  const last = all.findLastIndex(([to]) => !to || !joinedIn(to).isWhole)
  const sheets = new Map(own)
  const imports = new Set<string>()
  for (const [to, isConditional] of all.slice(last + 1)) {
    if (!to) continue
    for (const [path, isNested] of joinedIn(to).sheets) {
      const isUnder = isConditional || isNested
      // esbuild keeps only the last copy of a sheet, which has the same effect only without conditions.
      const before = sheets.get(path)
      if (before !== undefined && (before || isUnder)) return { ...NOTHING, sheets }
      sheets.set(path, isUnder)
    }
    imports.add(to.path)
  }
  return { imports, isWhole: last === -1, sheets }
}

/** esbuild makes a separate layer for each sheet in a layer without a name. */
const ANONYMOUS = /^layer(?![\w(-])/i

/** Stands for the statements `@layer a, b;` before imports, of which esbuild also keeps only one of equal ones. */
const LAYERS = '@layer'

/** Returns undefined for anything that is not a stylesheet, or cannot be joined; an import that stays is undefined. */
function importsOf(node: Draft, nodes: Nodes) {
  const { app, path, source, links = [], content, text, mayImport } = node
  if (textType(path) !== 'css' || joinModeOf(app) === false) return undefined
  if ('copyOf' in content || !isUtf8(content) || (!text && mayImport)) return undefined
  const { code = '', references = [] } = text ?? {}
  const rules = importRules(code)
  // A browser ignores an import after anything else.
  const [lead = '', ...between] = rules.map(({ before }) => before)
  const areFirst = LEAD.test(lead) && between.every(each => /^[\s;]*$/.test(each))
  if (!areFirst || importsTwice(rules)) return undefined
  const imports = rules.map(({ url, condition }) => {
    const at = references.findIndex(({ start, end }) => start <= url && url < end)
    const to = nodes.get(links[at] ?? '')
    // A URL with a query is a different file.
    const isUsual = references[at]?.suffix === '' && !ANONYMOUS.test(condition)
    const isJoined = to && isUsual && mayJoin(app, source.packageName, to)
    return [isJoined ? to : undefined, condition !== ''] as const
  })
  const own = [path, ...(/@layer/i.test(lead) ? [LAYERS] : [])]
  return { own: new Map(own.map(each => [each, false])), imports }
}

const LEAD = /^(?:\uFEFF?\s*@charset[^;{}]*;)?(?:\s*@layer[^;{}]*;)*\s*$/i

/** Tells whether a sheet may be joined; by `'packages'`, those of a package only with each other, like modules. */
function mayJoin(app: AppSettings, from: string | undefined, to: Draft): boolean {
  if (joinModeOf(app) === true) return joinModeOf(to.app) === true
  const { packageName } = to.source
  return packageName !== undefined && packageName === from
}
