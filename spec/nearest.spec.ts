import { createHash } from 'node:crypto'
import test from 'ava'
import fc from 'fast-check'
import { nearest, nearestPath } from '../lib/nearest.ts'
import { costsAtMost } from './support/cost.ts'
import { cases } from './support/soak.ts'

const NAMES_IN_A_TREE = cases(4000, 20_000)
const NAMES = ['fingerprint', 'root', 'env', 'serve', 'public']

test('finds a name with a letter too many, too few, wrong, or swapped', t => {
  t.is(nearest('fingerprints', NAMES), 'fingerprint')
  t.is(nearest('serv', NAMES), 'serve')
  t.is(nearest('sorve', NAMES), 'serve')
  t.is(nearest('pubilc', NAMES), 'public')
})

test('does not mind case', t => {
  t.is(nearest('FINGERprint', NAMES), 'fingerprint')
})

test('finds nothing where nothing is near', t => {
  t.is(nearest('weird', NAMES), undefined)
  t.is(nearest('', NAMES), undefined)
  t.is(nearest('x', []), undefined)
})

test('prefers the nearest, and of equals the first', t => {
  t.is(nearest('band', ['bond', 'bands', 'band']), 'band')
  t.is(nearest('bxnd', ['bond', 'band']), 'bond')
})

test('of paths one that differs in its first folders alone comes first, the longest before others', t => {
  const paths = ['menu.cs', 'admin/menu.css', 'a/b/app.css', 'b/app.css', 'x.svg', 'icons/x.svg']
  t.is(nearestPath('menu.css', paths), 'admin/menu.css')
  t.is(nearestPath('stylesheets/admin/menu.css', paths), 'admin/menu.css')
  t.is(nearestPath('a/b/app.css', ['app.css', 'b/app.css']), 'b/app.css')
  t.is(nearestPath('images/icons/x.svg', paths), 'icons/x.svg')
  t.is(nearestPath('enu.css', paths), 'menu.cs', 'a tail begins at a segment')
  t.is(nearestPath('nowhere.png', paths), undefined)
})

test('it is the first of those with the fewest edits, whatever the letters', t => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'C', 'c', '-', 'é'), maxLength: 12 })
  fc.assert(
    fc.property(text, fc.array(text, { maxLength: 8 }), (word, candidates) => {
      t.is(nearest(word, candidates), nearestOfAll(word, candidates))
    }),
    { numRuns: cases(200, 2000) }
  )
})

/** Every candidate by the whole table. */
function nearestOfAll(word: string, candidates: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.min(6, Math.floor(word.length * 0.4)))
  const measured = candidates.map(candidate => ({
    candidate,
    edits: editsBetween(word, candidate)
  }))
  const lowest = Math.min(...measured.map(({ edits }) => edits))
  return lowest > limit ? undefined : measured.find(({ edits }) => edits === lowest)?.candidate
}

function editsBetween(one: string, other: string): number {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()]
  const table = Array.from({ length: a.length + 1 }, (_, row) =>
    Array.from({ length: b.length + 1 }, (_, column) => (row === 0 ? column : row))
  )
  const at = (row: number, column: number) => table[row]?.[column] ?? Infinity
  for (let row = 1; row <= a.length; row++) {
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1] ? 0 : 1
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      table[row]![column] = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + same,
        swapped ? at(row - 2, column - 2) + 1 : Infinity
      )
    }
  }
  return at(a.length, b.length)
}

for (const [what, nameOf] of Object.entries({
  'alike but for a number': (at: number) => `widgets/card-${at}/index-${at}.css`,
  'alike to their ends': (at: number) => `vendor/components/dist/file-${1e7 + at}.css`,
  'of random letters': (at: number) => `${digestOf(at).repeat(2).slice(0, 40)}.css`
})) {
  test(`S61 ${NAMES_IN_A_TREE} names ${what}, none of them near: a few times what it takes to digest them`, t => {
    const names = Array.from({ length: NAMES_IN_A_TREE }, (_, at) => nameOf(at))
    const digesting = () => names.map(name => digestOf(name))
    for (const word of ['vendor/components/dist/file-abcdefgh.css', 'widgets/nothing/of-all.css']) {
      t.is(nearest(word, names), undefined)
      t.true(
        costsAtMost(6, () => nearest(word, names), digesting),
        word
      )
    }
  })
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(String(value)).digest('hex')
}
