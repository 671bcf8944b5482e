import test from 'ava'
import { count, formatBytes, formatSeconds, table } from '../../lib/cli/format.ts'

for (const [bytes, text] of [
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1.0 kB'],
  [1234, '1.2 kB'],
  [99_940, '99.9 kB'],
  [123_456, '123 kB'],
  [999_499, '999 kB'],
  [999_960, '1.0 MB'],
  [1_234_567, '1.2 MB'],
  [5e9, '5.0 GB'],
  [2e16, '20000 TB']
] as const) {
  test(`${bytes} bytes are ${text}`, t => {
    t.is(formatBytes(bytes), text)
  })
}

for (const [seconds, text] of [
  [0.004, '0.00 s'],
  [1.234, '1.23 s'],
  [12.34, '12.3 s'],
  [125, '2 min 5 s'],
  [119.7, '2 min 0 s']
] as const) {
  test(`${seconds} seconds are ${text}`, t => {
    t.is(formatSeconds(seconds), text)
  })
}

test('one asset, 1,234 assets', t => {
  t.is(count(1, 'asset'), '1 asset')
  t.is(count(1234, 'asset'), '1,234 assets')
})

test('columns are as wide as their widest cell, and numbers are right-aligned', t => {
  const rows = [
    ['a', '1 B', 'x'],
    ['long', '12 kB', '']
  ]
  t.is(table(rows, [1]), 'a       1 B  x\nlong  12 kB')
  t.is(table([]), '')
})
