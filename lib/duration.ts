// Durations as people write them: '90s', '10m', '2 weeks', '1y'.

// A year has 365 days: 31536000 seconds, the lifetime that stands for "for ever" on the web.
const UNITS = {
  s: 1,
  second: 1,
  seconds: 1,
  m: 60,
  minute: 60,
  minutes: 60,
  h: 3600,
  hour: 3600,
  hours: 3600,
  d: 86_400,
  day: 86_400,
  days: 86_400,
  w: 604_800,
  week: 604_800,
  weeks: 604_800,
  y: 31_536_000,
  year: 31_536_000,
  years: 31_536_000
} as const

/** A whole number and a unit from seconds to years of 365 days: `'90s'`, `'10m'`, `'2 weeks'`, `'1y'`. */
export type Duration = `${number}${'' | ' '}${keyof typeof UNITS}`

/** The seconds of a duration; `undefined` for every other text, a number without a unit included. */
export function secondsOf(text: string): number | undefined {
  const [, number, unit = ''] = /^(\d{1,9}) ?([a-z]{1,7})$/.exec(text) ?? []
  if (number === undefined || !Object.hasOwn(UNITS, unit)) return undefined
  return Number(number) * UNITS[unit as keyof typeof UNITS]
}
