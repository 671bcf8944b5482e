import test from 'ava'

import { nearest } from '../lib/nearest.ts'

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
