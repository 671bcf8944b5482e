import test from 'ava'
import { printable, printableLines } from '../lib/printable.ts'

test('S60 control characters and marks that turn the direction of text are escaped', t => {
  t.is(printable('\u001b[31mred\u001b[0m'), '\\u001b[31mred\\u001b[0m')
  t.is(printable('a\r\n\tb\u007f\u009b2J\u0000'), 'a\\u000d\\u000a\\u0009b\\u007f\\u009b2J\\u0000')
  for (const mark of '\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029') {
    t.is(printable(`a${mark}`), `a\\u${mark.charCodeAt(0).toString(16)}`)
  }
})

test('S60 what people write in any language stays as it is', t => {
  for (const text of ['Übersicht 😀.svg', 'שלום', 'a\u0301', '日本語', 'a\u00a0b', '👩\u200d🚀']) {
    t.is(printable(text), text)
  }
})

test('S60 lines and tabs stay in text that has them of its own', t => {
  t.is(printableLines('a\n\tb\u001b\r'), 'a\n\tb\\u001b\\u000d')
})
