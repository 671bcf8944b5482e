// Turns an ES module into CommonJS: the same lines, except for imports and exports.
import { parseAst } from 'rolldown/parseAst'

/**
 * Modules that import each other would not load, and `export *` and `export default` are not supported: Rolldown
 * writes neither here.
 */
export function toCommonJs(code) {
  const edits = []
  const read = node => {
    const text = WRITERS[node.type]?.(node)
    if (text === undefined) for (const child of Object.values(node)) readAll(child)
    else edits.push({ ...node, text })
  }
  const readAll = child => {
    for (const node of [child].flat()) if (typeof node?.type === 'string') read(node)
  }
  read(parseAst(code))
  const edited = edits
    .toSorted((one, other) => other.start - one.start)
    .reduce((rest, { start, end, text }) => rest.slice(0, start) + text + rest.slice(end), code)
  return edited.replace(/^(?:#!.*\n)?/, start => `${start}'use strict'\n`)
}

const META = {
  url: "require('node:url').pathToFileURL(__filename).href",
  dirname: '__dirname',
  filename: '__filename'
}

const WRITERS = {
  ImportDeclaration: ({ specifiers, source }) => {
    const loaded = `require(${source.raw})`
    if (specifiers.length === 0) return loaded
    const named = specifiers.filter(({ type }) => type === 'ImportSpecifier')
    // The default import of a CommonJS package is all of it, as in Node's ES modules.
    const names = specifiers.filter(each => !named.includes(each)).map(({ local }) => local.name)
    if (named.length > 0) names.push(`{ ${pairs(named, 'imported', 'local')} }`)
    return `const ${names.map(name => `${name} = ${loaded}`).join(', ')}`
  },
  ExportNamedDeclaration: ({ specifiers, source }) => {
    if (!source) return `module.exports = { ${pairs(specifiers, 'exported', 'local')} }`
    const members = specifiers.map(({ exported, local }) => `${exported.name}: all.${local.name}`)
    return `const all = require(${source.raw})\nmodule.exports = { ${members.join(', ')} }`
  },
  // A package has the same exports as in Node: its names, and all of it as the default.
  // Jest has no import(). A file of the application may be an ES module with top-level await, which `require` refuses.
  ImportExpression: ({ source }) => {
    if (source.type !== 'Literal') return undefined
    return source.value.startsWith('.')
      ? `Promise.resolve().then(() => require(${source.raw}))`
      : `Promise.resolve().then(() => require(${source.raw})).then(all => ({ ...all, default: all }))`
  },
  MemberExpression: ({ object, property }) =>
    object.type === 'MetaProperty' ? META[property.name] : undefined,
  ExportAllDeclaration: unknown,
  ExportDefaultDeclaration: unknown
}

/** Turns `{ a as b }` of an import or export into `a: b` of an object. */
function pairs(specifiers, from, to) {
  return specifiers
    .map(each => [each[from].name, each[to].name])
    .map(([one, other]) => (one === other ? one : `${one}: ${other}`))
    .join(', ')
}

function unknown({ type }) {
  throw new Error(`.ci/commonjs.js does not know ${type}`)
}
