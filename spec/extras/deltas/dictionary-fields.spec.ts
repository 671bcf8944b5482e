// The fields of requests and responses by which browsers and servers agree on a dictionary.
import test from 'ava'
import { offeredDictionary, useAsDictionary } from '../../../lib/extras/deltas/dictionary-fields.ts'
import { available, sha256 } from '../../support/deltas.ts'

const OLD = 'old bytes'

const offered = (headers: Readonly<Record<string, string>>) =>
  offeredDictionary({
    'accept-encoding': 'gzip, dcz',
    'available-dictionary': available(OLD),
    ...headers
  })

test('DLT-02 a dictionary is offered by its SHA-256, with dcz among the codings', t => {
  for (const coding of ['DCZ', 'gzip, dcb, dcz', 'dcz;q=0.001', 'br;q=1 , dcz ; q=0.5']) {
    t.deepEqual(offered({ 'accept-encoding': coding }), sha256(OLD), coding)
  }
})

test('DLT-03 unless dcz is accepted by name there is no dictionary', t => {
  for (const coding of ['', '*', '*;q=1', 'gzip', 'dcz;q=0.000', 'dcb', 'xdcz', 'dcz;q=x']) {
    t.is(offered({ 'accept-encoding': coding }), undefined, coding)
  }
  t.is(offeredDictionary({ 'available-dictionary': available(OLD) }), undefined)
})

test('DLT-03 S62 a field that is not exactly one hash offers no dictionary', t => {
  const hash = sha256(OLD).toString('base64')
  const wrong = [
    ...['', ':', '::', hash, `:${hash}`, `"${hash}"`, `:${hash}: `, `:${hash}:, :${hash}:`],
    ...[
      `:${hash.slice(4)}:`,
      `:AAAA${hash}:`,
      `:${hash.slice(0, -1)}:`,
      `:${hash.replace('=', '-')}:`
    ],
    ...[`:${'A'.repeat(16 * 1024)}:`, sha256(OLD).toString('hex')]
  ]
  for (const field of wrong) t.is(offered({ 'available-dictionary': field }), undefined, field)
})

test('DLT-03 a page that may not read the response gets none that depends on the browser’s cache', t => {
  const from = (mode: string, site: string) =>
    offered({ 'sec-fetch-mode': mode, 'sec-fetch-site': site }) !== undefined
  for (const site of ['cross-site', 'same-site']) {
    t.false(from('no-cors', site), site)
    t.true(from('cors', site), site)
    t.true(from('navigate', site), site)
  }
  for (const site of ['same-origin', 'none']) t.true(from('no-cors', site), site)
})

test('DLT-01 a pattern of URLs is literal except for its star', t => {
  t.is(useAsDictionary('/assets/app-', '.js'), 'match="/assets/app-*.js"')
  t.is(
    useAsDictionary('/static/(a)+b:c{d}-', '.js'),
    String.raw`match="/static/\\(a\\)\\+b\\:c\\{d\\}-*.js"`
  )
})
