import test from 'ava'
import { array, assert, constantFrom, integer, property, string, tuple } from 'fast-check'
import { loadModuleLexer } from '../../../lib/assets/rendering/module-references.ts'
import {
  findReferences,
  replaceReferences,
  type Reference
} from '../../../lib/assets/rendering/references.ts'
import { cases } from '../../support/soak.ts'

// Pieces that are hard on a tokenizer, in any order.
const pieces = constantFrom(
  ...['url(', ')', '(', '"', "'", '/*', '*/', '\\', '\\"', '\n', ' ', ';', '{', '}', '@import'],
  ...['x.png', 'a', '#', '?', ',', 'image-set(', 'data:', '//', 'é', '🎈', ':', '1x', 'layer(b)']
)
const texts = array(pieces, { maxLength: 40 }).map(parts => parts.join(''))

test('references that are not replaced leave the text as it was', t => {
  assert(
    property(texts, constantFrom('css' as const, 'js' as const), (text, type) => {
      const references = findReferences(type, text)
      const none = references.map(() => undefined)
      return replaceReferences(text, references, none) === text
    }),
    { numRuns: cases(300, 3000) }
  )
  t.pass()
})

test('text without url, import, image-set and sourceMappingURL has no references', t => {
  assert(
    property(string({ maxLength: 200, unit: 'binary' }), text => {
      if (/url|@|image-set/i.test(text)) return true
      return findReferences('css', text).length + findReferences('js', text).length === 0
    }),
    { numRuns: cases(200, 2000) }
  )
  t.pass()
})

test('references are in order, do not overlap, and are within the text', t => {
  assert(
    property(texts, text => {
      const ends = findReferences('css', text).flatMap(({ start, end }) => [start, end])
      return [0, ...ends, text.length].every((at, i, all) => i === 0 || at >= (all[i - 1] ?? 0))
    }),
    { numRuns: cases(300, 3000) }
  )
  t.pass()
})

test('replacing references with their own URLs changes nothing, after the first time', t => {
  assert(
    property(texts, text => {
      const once = withOwnPaths(text)
      return withOwnPaths(once) === once
    }),
    { numRuns: cases(300, 3000) }
  )
  t.pass()
})

function withOwnPaths(text: string): string {
  const references = findReferences('css', text)
  return replaceReferences(
    text,
    references,
    references.map(({ path }) => ownPath(path))
  )
}

/** A path that cannot be decoded stays as it is. */
function ownPath(path: string): string {
  try {
    return encodeURI(decodeURI(path))
  } catch (error) {
    if (error instanceof URIError) return path
    throw error
  }
}

test('text between references stays, whatever they refer to', t => {
  const names = integer({ min: 1, max: 999 }).map(n => `i/${n}.png`)
  const rules = array(tuple(names, constantFrom('url(%)', 'url("%")', "url('%')", 'url( % )')))
  assert(
    property(rules, all => {
      const text = all.map(([name, form], at) => `.r${at}{b:${form.replace('%', name)}}`).join('\n')
      const references = findReferences('css', text)
      const paths = references.map(({ path }) => path)
      const out = replaceReferences(
        text,
        references,
        paths.map(path => `/assets/${path}`)
      )
      const found = JSON.stringify(paths) === JSON.stringify(all.map(([name]) => name))
      return (
        found && out.replaceAll('/assets/', '').replaceAll("'", '"') === text.replaceAll("'", '"')
      )
    })
  )
  t.pass()
})

const modulePieces = constantFrom(
  ...["import './a.js';", "import a, { b } from './a.js';", 'export * from "/b.mjs"', '\n', ' '],
  ...["import('./c.js?x')", 'import(`./c.js`)', 'import(name)', 'import.meta.url', 'x()', '`${'],
  ...["new URL('d.png', import.meta.url)", "new URL('d.png', ", '// ', '/*', '*/', '`', "'", '"'],
  ...['/', '}', ')', '(', "with { type: 'json' }", 'é', '🎈', 'of /x/g', '\\']
)

test('replaced references of a module are found again, and nothing else has changed', async t => {
  const find = await loadModuleLexer()
  t.is(find("import './a.js'\nexport * from \"/b.mjs\"\nimport('./c.js?x')").length, 3)
  assert(
    property(array(modulePieces, { maxLength: 20 }), pieces => {
      const code = pieces.join('')
      const references = find(code)
      const urls = references.map((_, at) => `/assets/${at}-0123.js`)
      const replaced = replaceReferences(code, references, urls)
      const again = find(replaced)
      return (
        again.every(({ path }, at) => path === urls[at]) &&
        again.length === references.length &&
        between(replaced, again) === between(code, references)
      )
    }),
    { numRuns: cases(1000, 20_000) }
  )
})

/** What stands around the references. */
function between(code: string, references: readonly Reference[]): string {
  const starts = [...references.map(({ start }) => start), code.length]
  const ends = [0, ...references.map(({ end }) => end)]
  return starts.map((start, at) => code.slice(ends[at], start)).join('\0')
}
