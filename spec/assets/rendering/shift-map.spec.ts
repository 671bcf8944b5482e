// Source maps of texts in which URLs take the place of what was written.
import { encode } from '@jridgewell/sourcemap-codec'
import test from 'ava'
import { findReferences, replaceReferences } from '../../../lib/assets/references/references.ts'
import { shiftInlineMap, shiftMap } from '../../../lib/assets/rendering/shift-map.ts'
import { growsInProportion } from '../../support/cost.ts'

const LONGER = '/assets/images/a-0123456789abcdef0123456789abcdef.png'

/** Segments at these columns of the first line. */
function mapping(columns: readonly number[]): string {
  return encode([columns.map(column => [column, 0, 0, 0])])
}

/** A text with references, and a map with a segment at the beginning of each rule. */
function makeText(rules: readonly string[]) {
  const text = rules.join('')
  let column = 0
  const columns = rules.map(rule => [column, (column += rule.length)][0] ?? 0)
  const mappings = mapping(columns)
  const references = findReferences('css', text)
  const map = JSON.stringify({ version: 3, sources: ['a.css'], names: [], mappings })
  return { text, map, references, urls: references.map(() => LONGER) }
}

test('every rule is mapped from its new column once the URLs are longer', t => {
  const { text, map, references, urls } = makeText(['a{}', 'b{background:url(a.png)}', 'c{}'])
  const written = replaceReferences(text, references, urls)
  const { mappings } = JSON.parse(shiftMap(map, { code: text, references }, urls)) as {
    mappings: string
  }
  const columns = ['a{', 'b{', 'c{'].map(rule => written.indexOf(rule))
  t.is(mappings, mapping(columns))
})

const asData = (map: string) =>
  `data:application/json;base64,${Buffer.from(map).toString('base64')}`

test('a map in the last comment of a text is moved as well, whatever the form of the comment', t => {
  const { text, map, references, urls } = makeText(['a{}', 'b{background:url(a.png)}', 'c{}'])
  const finished = replaceReferences(text, references, urls)
  const moved = shiftMap(map, { code: text, references }, urls)
  t.not(moved, map)
  for (const comment of ['//# $', '//# $\n', '/*# $ */', '/*# $ */\n', '\n//@ $\r\n']) {
    const withMap = (json: string) =>
      finished + comment.replace('$', `sourceMappingURL=${asData(json)}`)
    t.is(shiftInlineMap(withMap(map), { code: text, references }, urls), withMap(moved), comment)
  }
})

test('what is not a map of the text stays: elsewhere in the text, linked, cut off, not JSON', t => {
  const { text, map, references, urls } = makeText(['b{background:url(a.png)}'])
  const url = `sourceMappingURL=${asData(map)}`
  for (const rest of [
    `"//# ${url}"`,
    `//# ${url}\nlast()`,
    '//# sourceMappingURL=a.js.map',
    '//# sourceMappingURL=data:application/json;base64,',
    '//# sourceMappingURL=data:application/json;base64,!!!!',
    `//# sourceMappingURL=${asData('{')}`,
    `//# sourceMappingURL=${asData('null')}`,
    `//# sourceMappingURL=${asData('{"version":3,"sections":[]}')}`
  ]) {
    t.is(shiftInlineMap(text + rest, { code: text, references }, urls), text + rest, rest)
  }
})

test('S61 references in one line take time in proportion to their number', t => {
  const rule = `.icon{background:url(a.png);color:red}`
  const [few, many] = [2000, 8000].map(count => makeText(Array.from({ length: count }, () => rule)))
  const shift = ({ text, map, references, urls }: ReturnType<typeof makeText>) =>
    shiftMap(map, { code: text, references }, urls)
  t.true(growsInProportion(1, times => shift((times === 1 ? few : many) ?? makeText([rule]))))
})
