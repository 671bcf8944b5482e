// Formats numbers and tables for people.
import { printable } from '../../runtime/errors.ts'

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB']

/** `1234567` -> `1.2 MB` */
export function formatBytes(bytes: number): string {
  let [value, step] = [bytes, 0]
  // A value that would round to 1000 kB is 1.0 MB.
  for (; value >= 999.5 && step < UNITS.length - 1; step++) value /= 1000
  return `${value.toFixed(step > 0 && value < 100 ? 1 : 0)} ${UNITS[step]}`
}

/** `0.42 s`, `12.3 s`, `2 min 5 s` */
export function formatSeconds(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(2)} s`
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  return `${Math.floor(whole / 60)} min ${whole % 60} s`
}

/** `1 asset`, `2 assets`, `1,234 assets` */
export function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`
}

/**
 * Writes columns two spaces apart, each row on one line. @param right has the indexes of columns that are
 * right-aligned
 */
export function table(given: readonly (readonly string[])[], right: readonly number[] = []) {
  const rows = given.map(row => row.map(printable))
  const widths: number[] = []
  for (const row of rows) {
    row.forEach((text, at) => (widths[at] = Math.max(widths[at] ?? 0, text.length)))
  }
  const cell = (text: string, at: number) =>
    right.includes(at) ? text.padStart(widths[at] ?? 0) : text.padEnd(widths[at] ?? 0)
  return rows.map(row => row.map(cell).join('  ').trimEnd()).join('\n')
}

export function indent(text: string, by = '  '): string {
  return text.replace(/^(?=.)/gm, by)
}

/** Says in one line how much smaller files are. */
export function savingsText({
  files,
  bytes,
  insteadOf
}: Readonly<Record<'files' | 'bytes' | 'insteadOf', number>>): string {
  return `${count(files, 'file')}, ${formatBytes(bytes)} instead of ${formatBytes(insteadOf)}`
}
