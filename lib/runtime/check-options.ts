// Checks options by tables with their defaults, and finds the known name that a misspelled one most likely means.
import { inspect } from 'node:util'
import { distance } from 'fastest-levenshtein'

export interface Expectation {
  /** Completes "sources must be …". */
  readonly expected: string
  readonly holds: (value: unknown) => boolean
  /** The checks of its options, if it is an object. */
  readonly fields?: Expectations
  /** The check of the value under every key, if it is an object. */
  readonly each?: Expectation
  readonly isRequired?: true
  /** True if each layer of options appends to the list; otherwise the last layer that sets it counts. */
  readonly isAppended?: true
}

export interface ExpectationOf<Value> extends Expectation {
  readonly holds: (value: unknown) => value is Value
}

export interface Option<Value, Situation> extends Expectation {
  readonly default: (situation: Situation) => Value
}

type Expectations = Readonly<Record<string, Expectation>>

export type SettingsOf<Table> = {
  readonly [
    Name in keyof Table as Table[Name] extends Option<unknown, never> ? Name : never
  ]: Table[Name] extends Option<infer Value, never> ? Value : never
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !value.includes('\0')
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export const text: ExpectationOf<string> = {
  expected: 'a non-empty string without NUL',
  holds: isText
}
export const flag: ExpectationOf<boolean> = {
  expected: 'true or false',
  holds: value => typeof value === 'boolean'
}

export function isGlob(value: unknown): value is string {
  if (!isText(value)) return false
  const names = value.split('/')
  return !names.includes('..') && names.some(name => name !== '' && name !== '.')
}

export const globs: Expectation = {
  expected: "a glob or a list of globs below the directory, such as 'private/**' or '*.md'",
  holds: value => [value].flat().every(isGlob)
}

export const record = { expected: 'an object', holds: isRecord } as const

export const seconds: ExpectationOf<number> = {
  expected: 'a number of seconds, 0 or more',
  holds: (value): value is number => Number.isFinite(value) && (value as number) >= 0
}

export const callback: Expectation = {
  expected: 'a function',
  holds: value => typeof value === 'function'
}

// `instanceof AbortSignal` would fail for a signal of another realm (Jest).
export const abortSignal: Expectation = {
  expected: 'an AbortSignal',
  holds: value => typeof (value as Partial<AbortSignal> | null)?.throwIfAborted === 'function'
}

export function oneOf<const Word extends string>(...words: readonly Word[]): ExpectationOf<Word> {
  const list = words.map(word => `'${word}'`).join(', ')
  return {
    expected: list.replace(/, ([^,]*)$/, ' or $1'),
    holds: (value): value is Word => words.includes(value as Word)
  }
}

export function listOf(expected: string, holds: Expectation['holds']): Expectation {
  return { expected, holds: value => Array.isArray(value) && value.every(each => holds(each)) }
}

/** Checks a list, or one item of it, to which each layer of options appends; it is empty if none does. */
export function appended<Item>(
  expected: string,
  holds: Expectation['holds']
): Option<readonly Item[], unknown> {
  const isEach = (value: unknown) => [value].flat().every(item => holds(item))
  return { expected, holds: isEach, isAppended: true, default: () => [] }
}

/** @param unit the unit in the plural, such as `bytes` */
export function wholeNumber(unit: string, least = 0): ExpectationOf<number> {
  return {
    expected: `a whole number of ${unit}${least > 0 ? `, ${least} or more` : ''}`,
    holds: (value): value is number => Number.isSafeInteger(value) && (value as number) >= least
  }
}

export function withDefault<Value extends string | number | boolean, Situation = unknown>(
  expectation: ExpectationOf<Value>,
  fallback: NoInfer<Value> | ((situation: Situation) => NoInfer<Value>)
): Option<Value, Situation> {
  const isFunction = typeof fallback === 'function'
  return { ...expectation, default: isFunction ? fallback : () => fallback }
}

export function joinLayers<Layer extends object>(table: Expectations, layers: readonly Layer[]) {
  const joined: Record<string, unknown> = {}
  const given: [string, unknown][] = layers.flatMap(layer => Object.entries(layer))
  for (const [name, value] of given) {
    if (value === undefined) continue
    const isAppended = table[name]?.isAppended
    joined[name] = isAppended ? Object.freeze([joined[name] ?? [], value].flat()) : value
  }
  return joined as Partial<Layer>
}

export function settleTable<Table extends Expectations>(
  options: Table,
  given: { readonly [Name in keyof Table]?: unknown } = {},
  situation?: unknown
): SettingsOf<Table> {
  const rows = Object.entries<Partial<Option<unknown, unknown>>>(options)
  const settings = rows.flatMap(([name, row]) =>
    row.default ? [[name, given[name] ?? row.default(situation)]] : []
  )
  return Object.freeze(Object.fromEntries(settings)) as SettingsOf<Table>
}

const COPIES = 'compressed copies are sent wherever they are beside a file'
const LIFETIME = "write cacheControl: 'public, max-age=<seconds>'"

/** Options of koa-static, koa-static-cache and sirv, each with its counterpart here. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  maxage: LIFETIME,
  maxAge: LIFETIME,
  hidden: 'dotfiles are never served',
  defer: 'register this middleware behind the router',
  format: "with index, '/docs' is a redirect to '/docs/'",
  gzip: COPIES,
  br: COPIES,
  brotli: COPIES,
  single: "write fallback: 'index.html'"
}

/** `undefined` means "not set" everywhere. */
export function entriesGiven<T>(given: Readonly<Record<string, T | undefined>> = {}) {
  return Object.entries(given).filter((entry): entry is [string, T] => entry[1] !== undefined)
}

/** @param place such as `apps.web.` @throws TypeError for an unknown, missing or invalid option, at any depth */
export function check(options: unknown, rows: Expectations, place = '') {
  const given = checked(options, record, place.slice(0, -1) || 'options')
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(rows, name)) continue
    const advice = Object.hasOwn(ELSEWHERE, name) ? ELSEWHERE[name] : undefined
    throw unknownName('option', name, Object.keys(rows), { place, advice })
  }
  for (const [name, row] of Object.entries(rows)) checkOption(given[name], row, name, place)
}

function checkOption(value: unknown, rule: Expectation, name: string, place: string): void {
  if (value === undefined && !rule.isRequired) return
  checked(value, rule as ExpectationOf<unknown>, name, place)
  if (!isRecord(value)) return
  const { fields, each } = rule
  const inside = `${place}${name}.`
  if (fields) check(value, fields, inside)
  if (each) for (const [key, item] of Object.entries(value)) checkOption(item, each, key, inside)
}

export function checked<Value>(
  value: unknown,
  { expected, holds }: ExpectationOf<Value>,
  name: string,
  place?: string
): Value {
  if (holds(value)) return value
  throw optionError(name, expected, value, place)
}

/** `sources must be a list of directories, got 42 (apps.web.sources)` */
export function optionError(name: string, expected: string, given: unknown, place = ''): TypeError {
  const where = place === '' ? '' : ` (${place}${name})`
  const shown = inspect(given, { depth: 1, breakLength: Infinity, maxStringLength: 200 })
  return new TypeError(`${name} must be ${expected}, got ${shown}${where}`)
}

/** `unknown option 'sorces': did you mean 'sources'?` @param advice is given if no known name is near */
export function unknownName(
  kind: string,
  name: string,
  known: readonly string[],
  { advice, place = '' }: { readonly advice?: string | undefined; readonly place?: string } = {}
): TypeError {
  const meant = nearest(name, known)
  const others = advice ?? `known ${kind}s: ${known.join(', ')}`
  const hint = meant === undefined ? others : `did you mean '${meant}'?`
  return new TypeError(`unknown ${kind} '${place}${name}': ${hint}`)
}

// A year of 365 days is 31536000 seconds, the conventional max-age of immutable files.
const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800, y: 31_536_000 } as const
type Unit = 'second' | 'minute' | 'hour' | 'day' | 'week' | 'year'
const DURATION = /^(\d{1,9}) ?([smhdwy]|(?:second|minute|hour|day|week|year)s?)$/

/** A whole number with a unit, from seconds to years of 365 days: `'90s'`, `'10m'`, `'2 weeks'`, `'1y'`. */
export type Duration = `${number}${'' | ' '}${keyof typeof SECONDS | Unit | `${Unit}s`}`

/** Returns the number of seconds; undefined for any other text, including a number without a unit. */
export function secondsOf(written: string): number | undefined {
  const [, number, unit] = DURATION.exec(written) ?? []
  if (number === undefined || unit === undefined) return undefined
  return Number(number) * SECONDS[unit.charAt(0) as keyof typeof SECONDS]
}

/** Asks whether a name was meant, and says how two names that look alike differ. */
export function didYouMean(given: string, near: string): string {
  const [before, after] = [given.normalize('NFC'), near.normalize('NFC')]
  const question = `did you mean '${near}'?`
  if (before === after) return `${question} It has its accents in another Unicode form (NFC, NFD)`
  const isCase = before.toLowerCase() === after.toLowerCase()
  return isCase ? `${question} It differs in upper and lower case` : question
}

// Two characters in five may differ, as in TypeScript's "Did you mean"; nobody mistypes more than six.
const TOLERANCE = 0.4

/** Returns the first candidate with the fewest edits, whatever its case and Unicode form; undefined if none is near. */
export function nearest(word: string, candidates: Iterable<string>, most = 6): string | undefined {
  let best: string | undefined
  let limit = Math.max(1, Math.min(most, Math.floor(word.length * TOLERANCE)))
  const typed = folded(word)
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) > limit) continue
    const edits = editsBetween(typed, folded(candidate))
    if (edits > limit) continue
    best = candidate
    // The next candidate must be nearer.
    limit = edits - 1
  }
  return best
}

const folded = (name: string) => name.normalize('NFC').toLowerCase()

const sorted = (name: string) => Array.from(name).toSorted().join('')

/** Counts the edits between two names; a transposition is one edit. */
function editsBetween(a: string, b: string): number {
  const edits = distance(a, b)
  return edits === 2 && sorted(a) === sorted(b) ? 1 : edits
}

/** Prefers the path with the longest common tail that differs only in leading folders to one spelled similarly. */
export function nearestPath(path: string, candidates: readonly string[]): string | undefined {
  const alike = candidates.filter(each => each.endsWith(`/${path}`) || path.endsWith(`/${each}`))
  const lengthOf = (each: string) => Math.min(each.length, path.length)
  const [longest] = alike.toSorted((a, b) => lengthOf(b) - lengthOf(a))
  // The first folder of a path is not part of the name.
  const within = path.replace(/^[^/]+\//, '')
  return longest ?? nearest(path, candidates) ?? nearest(within, candidates)
}
