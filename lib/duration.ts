// Parses durations such as '90s', '10m', '2 weeks' and '1y'.

// A year of 365 days is 31536000 seconds, the conventional max-age of immutable files.
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

/** A whole number and a unit, from seconds to years of 365 days: `'90s'`, `'10m'`, `'2 weeks'`, `'1y'`. */
export type Duration = `${number}${'' | ' '}${keyof typeof UNITS}`

/** Undefined for any other text, including a number without a unit. */
export function secondsOf(text: string): number | undefined {
  const [, number, unit = ''] = /^(\d{1,9}) ?([a-z]{1,7})$/.exec(text) ?? []
  if (number === undefined || !Object.hasOwn(UNITS, unit)) return undefined
  return Number(number) * UNITS[unit as keyof typeof UNITS]
}
