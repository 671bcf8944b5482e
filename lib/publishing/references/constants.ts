// Finds the expressions in a script that have a constant value, such as `process.env.NODE_ENV`.
import { memoized } from '../../runtime/concurrency.ts'
import type { Constants } from '../../runtime/settings/constants.ts'
import { loadModuleLexer } from './modules.ts'
import { replaceReferences, type Reference } from './references.ts'

const rootOf = (expression: string) => /^[^.]+/.exec(expression)?.[0] ?? ''
const written = (name: string) =>
  name === 'import' ? String.raw`import\s*\.\s*meta` : name.replaceAll('$', String.raw`\$`)

/** Returns a pattern for an expression: `a.b` also matches `a?.b` and `a['b']`. */
function patternOf(expression: string): string {
  const [root = '', ...names] = expression.replace('import.meta', 'import').split('.').map(written)
  const step = (name: string) =>
    String.raw`\s*(?:\??\.\s*${name}|(?:\?\.\s*)?\[\s*["'\`]${name}["'\`]\s*\])`
  return `(${root}${names.map(step).join('')})`
}

/** Returns a pattern for the ways in which a text defines a name itself: a declaration, an import or an assignment. */
function declarationOf(root: string): RegExp {
  const name = String.raw`(?<![\w$]|(?<!\.\.)\.\s*)${written(root)}(?![\w$])`
  const forms = [
    String.raw`\b(?:const|let|var|class|function\s*\*?)\s+${name}(?=\s*(?:[;,({]|(?:of|in|extends)\b|$))`,
    String.raw`\b(?:import|as)\s+${name}\s*(?:[,}]|from\b)`,
    String.raw`${name}\s*=(?!=)|\b(?:break|continue)[ \t]+${name}`,
    String.raw`(?:[,:]|(?<!\$)\{)\s*${name}\s*(?:,[^(){}]{0,500})?\}\s*(?:=(?!=)|from\b)`
  ]
  return new RegExp(forms.join('|'), 'm')
}

const PARAMETERS = /(?<!\b(?:if|while|for|switch|with)\s*)\(([^()]{0,1000})\)\s*(?:=>|\{)/g
const PIECE = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`|\.{3}|[\w$.]+(?:\s*:)?|\S/g

/** Yields the names of parameters; skips what follows `=` or another sign, up to the comma or bracket that ends it. */
function* parametersIn(code: string): Iterable<string> {
  for (const [, list = ''] of code.matchAll(PARAMETERS)) {
    let [depth, ofDefault] = [0, Infinity]
    for (const [piece] of list.matchAll(PIECE)) {
      if (/[\]}]/.test(piece)) depth--
      if (depth < ofDefault || (piece === ',' && depth === ofDefault)) ofDefault = Infinity
      if (/[[{]/.test(piece)) depth++
      else if (!/^[\w$.,:\]}]/.test(piece)) ofDefault = Math.min(ofDefault, depth)
      else if (ofDefault === Infinity) yield piece
    }
  }
}

const finderFor = memoized((constants: Constants) => {
  const expressions = Object.keys(constants).toSorted((a, b) => b.length - a.length)
  // Vite replaces calls of `import.meta.glob`.
  const ofVite = String.raw`import\s*\.\s*meta(?=\s*\.\s*glob\b)`
  const all = [...expressions.map(patternOf), ofVite, 'process'].join('|')
  const roots = [...new Set(['process', ...expressions.map(rootOf)])]
  return {
    expressions,
    roots: roots.map(root => [root, declarationOf(root)] as const),
    candidate: new RegExp(roots.map(written).join('|')),
    pattern: new RegExp(String.raw`(?<![\w$#]|(?<!\.\.)\.\s*)(?:${all})(?![\w$])`, 'g')
  }
})

type Found = Reference & { readonly expression: string }

/** Returns undefined for a text without the first name of any expression, which a quick search shows. */
export async function constantsIn(code: string, constants: Constants) {
  const { expressions, roots, candidate, pattern } = finderFor(constants)
  if (!candidate.test(code)) return undefined
  const parameters = new Set(parametersIn(code))
  const own = roots.flatMap(([root, form]) => (form.test(code) || parameters.has(root) ? root : []))
  const found = Array.from(code.matchAll(pattern), ({ index: start, 0: text, ...groups }) => {
    const expression =
      expressions.find((_, at) => groups[at + 1] !== undefined) ?? text.replaceAll(/\s/g, '')
    const end = start + text.length
    return { start, end, path: '', suffix: '', kind: 'constant', expression } satisfies Found
  }).filter(({ expression }) => !own.includes(rootOf(expression)))
  // The lexer of modules tells code from strings, comments and regular expressions, but finds only `import.meta`.
  const asked = found.map(() => 'import.meta')
  const metas = new Set((await loadModuleLexer()).metasIn(replaceReferences(code, found, asked)))
  let moved = 0
  const inCode = found.filter(({ start, end }) => {
    const isCode = metas.has(start + moved)
    moved += 'import.meta'.length - (end - start)
    return isCode
  })
  const unknown = new Map<string, number>()
  // A text that checks for `process` can do without it.
  const isAsked = /\btypeof\s+process\b/.test(code)
  for (const { start, end, expression } of inCode) {
    const [more] = /^(?:\s*\.\s*[\w$]+){1,2}/.exec(code.slice(end, end + 200)) ?? []
    const isKnown =
      expression === 'process' ? isAsked : !/^import\.meta(?:\.env)?$/.test(expression)
    const name = expression + (more ?? '').replace(/\s/g, '')
    if (more !== undefined && !isKnown && !unknown.has(name)) unknown.set(name, start)
  }
  const values = inCode.map(each => valueAt(code, each, constants))
  return { code, references: inCode, values, unknown }
}

// `§` is the place of the expression.
const ASSIGNED = /§\s*(?:=(?![=>])|(?:\*\*|<<|>>>?|&&|\|\||\?\?|[-+*/%&|^])=|\+\+|--)/
/** Matches the name of a method, a property or a label. */
const NAME = /§\s*\(|(?:^|[{,;}]|[\w$]\s*\n)\s*§\s*:/
const SHORT = /(?<!\$)\{(?:[^()[\]{}]*,)?\s*§\s*[,}]/
/** Matches a line without a semicolon that a bracket or a sign, unlike a name, would continue on the next line. */
const ENDED = /(?:\/\/.*|[^\s(,[{=?:&|+\-*%<>!~^;])[^\S\n]*\n\s*$/
const CLOSED = /§|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\([^()]*\)|\[[^[\]]*\]|\{[^{}]*\}/g

/** Returns undefined for an expression that stays unchanged. */
function valueAt(code: string, { start, end, expression }: Found, constants: Constants) {
  const isNamed = !expression.includes('.')
  const after = code.slice(end, end + 200)
  // A property in its short form may be far after the bracket of its object.
  const isListed =
    /[{,]\s*$/.test(code.slice(Math.max(0, start - 100), start)) && /^\s*[,}]/.test(after)
  const reach = isListed ? start : 500
  let before = code.slice(Math.max(0, start - (isNamed ? reach : 0)), start)
  for (let last = ''; last !== before; before = before.replace(CLOSED, '')) last = before
  const around = `${before}§${after}`
  const isKnown = Object.hasOwn(constants, expression)
  if (!isKnown || ASSIGNED.test(around) || (isNamed && NAME.test(around))) return undefined
  const json = (JSON.stringify(constants[expression]) as string | undefined) ?? 'undefined'
  const isFirst = ENDED.test(code.slice(Math.max(0, start - 500), start))
  const named = isFirst ? `JSON.parse(${JSON.stringify(json)})` : json.replace(/^[\d{-].*/, '($&)')
  const value = /^["tfnu]/.test(json) ? json : named
  // After an expression of several lines, the text keeps its line and column.
  const rest = code.slice(start, end).replace(/^.*/, '').replace(/./g, ' ')
  return (isNamed && SHORT.test(around) ? `${expression}: ` : '') + value + rest
}
