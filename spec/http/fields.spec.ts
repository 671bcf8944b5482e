import { validateHeaderName, validateHeaderValue } from 'node:http'
import test from 'ava'
import * as fc from 'fast-check'
import { isFieldValue, TOKEN } from '../../lib/http/fields.ts'

function accepts(validate: () => void): boolean {
  try {
    validate()
    return true
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
}

test('a name or a value is taken exactly where Node takes it', t => {
  const text = fc.string({ unit: 'binary', maxLength: 4 })
  const characters = Array.from({ length: 0x180 }, (_, code) => String.fromCharCode(code))
  const same = (given: string) =>
    TOKEN.test(given) === accepts(() => validateHeaderName(given)) &&
    isFieldValue(given) === accepts(() => validateHeaderValue('X-A', given))
  t.deepEqual(
    ['', ...characters].filter(character => !same(character)),
    []
  )
  t.notThrows(() => fc.assert(fc.property(text, same), { numRuns: 2000 }))
  for (const value of [1, null, undefined, ['a'], {}]) t.false(isFieldValue(value))
})
