import test from 'ava'

import {
  check,
  flag,
  oneOf,
  optionError,
  settleTable,
  unknownName,
  wholeNumber,
  withDefault
} from '../lib/options.ts'

interface Situation {
  readonly env: string
}

const OPTIONS = {
  live: withDefault(flag, ({ env }: Situation) => env === 'development'),
  links: withDefault(oneOf('follow', 'deny'), 'deny'),
  max: wholeNumber('entries', 1)
}

test('a table settles the options that have a default', t => {
  const settled = settleTable(OPTIONS, { links: 'follow', max: 1 }, { env: 'development' })
  t.deepEqual(settled, { live: true, links: 'follow' })
})

test('undefined is not set, false is', t => {
  const given = { live: false, links: undefined }
  t.deepEqual(settleTable(OPTIONS, given, { env: 'development' }), { live: false, links: 'deny' })
})

test('a wrong value is named with its place, what was expected and what was given', t => {
  t.notThrows(() => check({ max: 1, links: undefined }, OPTIONS))
  t.throws(() => check({ max: 0 }, OPTIONS, 'index.'), {
    instanceOf: TypeError,
    message: 'max must be a whole number of entries, 1 or more, got 0 (index.max)'
  })
  t.throws(() => check({ links: 'x' }, OPTIONS), {
    message: "links must be 'follow' or 'deny', got 'x'"
  })
  t.is(optionError('a', 'b', { c: { d: {} } }).message, 'a must be b, got { c: { d: {} } }')
})

test('an unknown option is named with the nearest one, else with all, else with advice', t => {
  t.throws(() => check({ lnks: 'x' }, OPTIONS, 'a.'), {
    instanceOf: TypeError,
    message: "unknown option 'a.lnks': did you mean 'links'?"
  })
  t.throws(() => check(JSON.parse('{"__proto__":1}'), OPTIONS), {
    message: "unknown option '__proto__': known options: live, links, max"
  })
  t.is(
    unknownName('key', 'id', ['etag'], { advice: 'use etag' }).message,
    "unknown key 'id': use etag"
  )
})
