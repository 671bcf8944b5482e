import { createHash } from 'node:crypto'
import test from 'ava'
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
  t.is(nearest('hatl', ['halt']), 'halt')
  t.is(nearest('hat2', ['halt']), undefined)
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
