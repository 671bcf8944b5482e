import { encode } from '@jridgewell/sourcemap-codec'
import test from 'ava'
import { growsInProportion } from '../../support/cost.ts'
import { findReferences, replaceReferences } from '../../../lib/assets/rendering/references.ts'
import { shiftMap } from '../../../lib/assets/rendering/shift-map.ts'

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
  const { mappings } = JSON.parse(shiftMap(map, text, references, urls)) as { mappings: string }
  const columns = ['a{', 'b{', 'c{'].map(rule => written.indexOf(rule))
  t.is(mappings, mapping(columns))
})

test('S61 references in one line take time in proportion to their number', t => {
  const rule = `.icon{background:url(a.png);color:red}`
  const [few, many] = [2000, 8000].map(count => makeText(Array.from({ length: count }, () => rule)))
  const shift = ({ text, map, references, urls }: ReturnType<typeof makeText>) =>
    shiftMap(map, text, references, urls)
  t.true(growsInProportion(1, times => shift((times === 1 ? few : many) ?? makeText([rule]))))
})
