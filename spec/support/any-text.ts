// Text of any UTF-16 code units, lone surrogates included. What fast-check has for it reads the tables of Unicode
// first, which takes half a second of every process.
import { array, integer, type Arbitrary } from 'fast-check'

export function anyText(maxLength = 20): Arbitrary<string> {
  return array(integer({ min: 0, max: 0xff_ff }), { maxLength }).map(units =>
    String.fromCharCode(...units)
  )
}
