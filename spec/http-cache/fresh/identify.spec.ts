import { runInNewContext } from 'node:vm'

import test from 'ava'

import { identify } from '../../../lib/http-cache/fresh/identify.ts'

const DATE = new Date('2020-01-01T00:00:00.789Z')
const SECONDS = Date.UTC(2020, 0, 1)
const validators = (given: unknown) => identify(given as never, undefined)

test('last_modified is understood as lastModified', t => {
  t.deepEqual(validators({ last_modified: DATE }), { etag: undefined, lastModified: SECONDS })
  t.deepEqual(validators({ last_modified: new Date(0), lastModified: DATE, etag: 'x' }), {
    etag: '"x"',
    lastModified: SECONDS
  })
})

test('a validator that is null is not set, as in a database row', t => {
  t.deepEqual(validators({ etag: 'x', lastModified: null }), {
    etag: '"x"',
    lastModified: undefined
  })
  t.is(validators({ lastModified: null, last_modified: DATE }).lastModified, SECONDS)
  t.is(validators({ etag: null, lastModified: DATE }).etag, undefined)
})

for (const wrong of [0, '', false, 1577836800789, '2020-01-01']) {
  test(`a lastModified of ${JSON.stringify(wrong)} is rejected, beside an etag as well`, t => {
    const message = /^lastModified must be a valid Date, got /
    t.throws(() => validators({ etag: 'x', lastModified: wrong }), {
      instanceOf: TypeError,
      message
    })
  })
}

test('a Date of another realm is a Date', t => {
  const date: unknown = runInNewContext('new Date(1577836800789)')
  t.is(validators(date).lastModified, SECONDS)
  t.is(validators({ lastModified: date }).lastModified, SECONDS)
})

test('an instance of a class may have the validators, also as accessors', t => {
  class State {
    get etag() {
      return 'x'
    }
  }
  class Fields {
    readonly lastModified = DATE
  }
  t.is(validators(new State()).etag, '"x"')
  t.is(validators(new Fields()).lastModified, SECONDS)
})

class Book {
  id = 1
  title = 'A book'
  updatedAt = DATE
}
class Article extends Book {
  etag = 'column'
}
class Nothing {
  readonly #id = 1
  get id() {
    return this.#id
  }
}

for (const [name, model, message] of [
  [
    'a model',
    new Book(),
    /^ctx\.fresh got a Book: name what identifies .*lastModified: book\.updatedAt/
  ],
  ['a model with a column etag', new Article(), /^ctx\.fresh got an Article: name/],
  ['an object of a class', new Nothing(), /^ctx\.fresh got a Nothing: name/],
  ['a Map', new Map([['etag', 'x']]), /^ctx\.fresh got a Map: name/],
  [
    'a row',
    { id: 1, title: 'A book', updatedAt: DATE },
    /^unknown key 'id': name .*lastModified: book\.updatedAt/
  ],
  [
    'a typing error',
    { lastmodified: DATE },
    /^unknown key 'lastmodified': did you mean 'lastModified'\?$/
  ],
  ['nothing', {}, /must be an etag, a lastModified, or null, got \{\}/],
  ['weak alone', { weak: true }, /must be an etag, a lastModified, or null/],
  ['a list', ['x'], /must be an ETag, a Date or \{ etag, lastModified \}/]
] as const) {
  test(`ctx.fresh of ${name} is rejected with advice`, t => {
    t.throws(() => validators(model), { instanceOf: TypeError, message })
  })
}
