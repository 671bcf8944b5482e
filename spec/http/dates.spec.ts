import test from 'ava'
import * as fc from 'fast-check'

import { formatHttpDate, parseHttpDate } from '../../lib/http/dates.ts'

const NOV_1994 = Date.UTC(1994, 10, 6, 8, 49, 37)
const NOW = Date.UTC(2026, 0, 15)

test('EXP-05 dates are written as IMF-fixdate', t => {
  t.is(formatHttpDate(0), 'Thu, 01 Jan 1970 00:00:00 GMT')
  t.is(formatHttpDate(NOV_1994 + 999), 'Sun, 06 Nov 1994 08:49:37 GMT')
})

test('a year of more than four digits is rejected', t => {
  for (const wrong of [Number.NaN, Infinity, Date.UTC(10_000, 0), Date.parse('-000001-01-01')]) {
    t.throws(() => formatHttpDate(wrong), { instanceOf: TypeError, message: /years 0000 to 9999/ })
  }
})

test('MOD-05 all three formats are parsed as GMT, in whatever time zone the server is', t => {
  const zone = process.env.TZ
  t.teardown(() => {
    if (zone === undefined) delete process.env.TZ
    else process.env.TZ = zone
  })
  for (const TZ of ['UTC', 'America/New_York', 'Asia/Kolkata']) {
    process.env.TZ = TZ
    t.is(parseHttpDate('Sun, 06 Nov 1994 08:49:37 GMT'), NOV_1994, TZ)
    t.is(parseHttpDate('Sunday, 06-Nov-94 08:49:37 GMT', NOW), NOV_1994, TZ)
    t.is(parseHttpDate('Sun Nov  6 08:49:37 1994'), NOV_1994, TZ)
  }
})

function yearOf(digits: string, now: number): number | undefined {
  const date = parseHttpDate(`Friday, 01-Jan-${digits} 00:00:00 GMT`, now)
  return date === undefined ? undefined : new Date(date).getUTCFullYear()
}

test('a two-digit year is at most fifty years ahead', t => {
  t.is(yearOf('26', NOW), 2026)
  t.is(yearOf('76', NOW), 2076)
  t.is(yearOf('77', NOW), 1977)
  t.is(yearOf('99', NOW), 1999)
  t.is(yearOf('76', NOW - 30 * 86_400_000), 1976)
  t.is(yearOf('05', Date.UTC(2099, 0)), 2105)
})

test('a leap second is valid, a day that the month does not have is not', t => {
  t.is(parseHttpDate('Sat, 31 Dec 2016 23:59:60 GMT'), Date.UTC(2017, 0))
  t.is(parseHttpDate('Mon, 29 Feb 2016 00:00:00 GMT'), Date.UTC(2016, 1, 29))
  t.is(parseHttpDate('Wed, 29 Feb 2017 00:00:00 GMT'), undefined)
  t.is(parseHttpDate('Sat, 31 Apr 2016 00:00:00 GMT'), undefined)
})

const UNREADABLE = [
  '',
  ' ',
  '2030',
  '0',
  'yesterday',
  '1994-11-06T08:49:37Z',
  'Sun, 06 Nov 1994 08:49:37',
  'Sun, 06 Nov 1994 08:49:37 UTC',
  'Sun, 06 Nov 1994 08:49:37 +0000',
  'Sun, 06 Nov 1994 24:00:00 GMT',
  'Sun, 06 Nov 1994 08:60:00 GMT',
  'Sun, 6 Nov 1994 08:49:37 GMT',
  'sun, 06 nov 1994 08:49:37 gmt',
  'Sun, 06 Nov 1994 08:49:37 GMT; length=3',
  ' Sun, 06 Nov 1994 08:49:37 GMT',
  'Sun Nov 6 08:49:37 1994',
  'Sun, 00 Nov 1994 08:49:37 GMT'
]

for (const text of UNREADABLE) {
  test(`${JSON.stringify(text)} is not a date`, t => {
    t.is(parseHttpDate(text, NOW), undefined)
  })
}

test('a formatted date parses to the same time', t => {
  const seconds = fc.integer({ min: -62_167_219_200, max: 253_402_300_799 })
  fc.assert(fc.property(seconds, at => parseHttpDate(formatHttpDate(at * 1000)) === at * 1000))
  t.pass()
})
