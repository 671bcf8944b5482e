// Parses durations such as '90s', '10m', '2 weeks' and '1y'.

// A year of 365 days is 31536000 seconds, the conventional max-age of immutable files.
const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800, y: 31_536_000 } as const
type Unit = 'second' | 'minute' | 'hour' | 'day' | 'week' | 'year'
const DURATION = /^(\d{1,9}) ?([smhdwy]|(?:second|minute|hour|day|week|year)s?)$/

/** A whole number and a unit, from seconds to years of 365 days: `'90s'`, `'10m'`, `'2 weeks'`, `'1y'`. */
export type Duration = `${number}${'' | ' '}${keyof typeof SECONDS | Unit | `${Unit}s`}`

/** Undefined for any other text, including a number without a unit. */
export function secondsOf(text: string): number | undefined {
  const [, number, unit] = DURATION.exec(text) ?? []
  if (number === undefined || unit === undefined) return undefined
  return Number(number) * SECONDS[unit.charAt(0) as keyof typeof SECONDS]
}
