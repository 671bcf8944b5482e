// Complaints about options: which one, what was expected, what was given, and what was meant perhaps.
import { inspect } from 'node:util'
import { nearest } from '../../nearest.ts'

interface Expectation {
  readonly expected: string
  readonly holds: (value: unknown) => boolean
}

const isString = (value: unknown) =>
  typeof value === 'string' && value !== '' && !value.includes('\0')
const isBoolean = (value: unknown) => typeof value === 'boolean'
const isRecord = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isStrings = (value: unknown) => Array.isArray(value) && value.every(isString)
const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0
const oneOf = (...words: string[]): Expectation => ({
  expected: words.map(word => `'${word}'`).join(' or '),
  holds: value => words.includes(value as string)
})

const ALGORITHMS = ['sha256', 'sha384', 'sha512']
const text: Expectation = { expected: 'a string', holds: isString }
const flag: Expectation = { expected: 'true or false', holds: isBoolean }
const table: Expectation = { expected: 'an object', holds: isRecord }
const bytes: Expectation = { expected: 'a whole number of bytes', holds: isCount }

export const LAYERED = {
  compile: flag,
  fingerprint: flag,
  sources: {
    expected: 'a list of directories',
    holds: (value: unknown) => isString(value) || isStrings(value)
  },
  integrity: {
    expected: "false, 'sha256', 'sha384', 'sha512' or a list of these",
    holds: (value: unknown) =>
      value === false ||
      (Array.isArray(value) ? value : [value]).every(name => ALGORITHMS.includes(name as string))
  },
  compilers: {
    expected: 'a list of { extensions, target, compile }',
    holds: (value: unknown) => Array.isArray(value) && value.every(isCompiler)
  },
  missing: oneOf('ignore', 'warn', 'error'),
  minify: flag
} satisfies Record<string, Expectation>

export const APP = { ...LAYERED, dir: text, path: text, configure: table }

export const TOP = {
  ...LAYERED,
  root: text,
  env: text,
  serve: flag,
  public: text,
  prefix: text,
  host: {
    expected: "scheme and host such as 'https://cdn.example'",
    holds: (value: unknown) =>
      isString(value) && /^(https?:)?\/\/[^/?#\s"'<>\\]+\/?$/.test(String(value))
  },
  earlyHints: flag,
  apps: {
    expected: 'an object with at least one app',
    holds: (value: unknown) =>
      isRecord(value) && entriesGiven(value as Record<string, unknown>).length > 0
  },
  memory: table,
  index: table,
  revalidate: {
    expected: 'a number of seconds, 0 or more',
    holds: (value: unknown) => Number.isFinite(value) && (value as number) >= 0
  },
  symlinks: oneOf('inside', 'follow', 'deny'),
  tails: flag,
  configure: table
}

export const MEMORY = { maxBytes: bytes, maxFileBytes: bytes }
export const INDEX = {
  max: {
    expected: 'a whole number of entries, 1 or more',
    holds: (value: unknown) => isCount(value) && value !== 0
  }
}

function isCompiler(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { extensions, target, compile } = value as Record<string, unknown>
  const named = [extensions].flat()
  const isNamed = named.length > 0 && named.every(isExtension)
  return isNamed && isString(target) && typeof compile === 'function'
}

/** The last extension decides, so one of two parts would never be met. */
function isExtension(value: unknown): boolean {
  return isString(value) && /^\.?[^./\\]+$/.test(value as string)
}

/**
 * Checks one object of options against its table.
 * @param place where it stands, such as `apps.web.`
 * @throws TypeError that names the option, the expectation and the value
 */
export function check(
  options: unknown,
  expectations: Record<string, Expectation>,
  place = ''
): void {
  if (!isRecord(options)) complain(place.slice(0, -1) || 'options', table.expected, options)
  for (const [key, value] of Object.entries(options as object)) {
    const expectation = Object.hasOwn(expectations, key) ? expectations[key] : undefined
    if (!expectation) throw new TypeError(unknownKey(key, Object.keys(expectations), place))
    if (value !== undefined && !expectation.holds(value)) {
      complain(key, expectation.expected, value, place)
    }
  }
}

/** `undefined` is "not given", in a table of apps or environments as well. */
export function entriesGiven<T>(
  table: Readonly<Record<string, T | undefined>> | undefined
): [string, T][] {
  const entries = Object.entries(table ?? {})
  return entries.filter((entry): entry is [string, T] => entry[1] !== undefined)
}

/** @throws TypeError always: ``sources must be a list of directories, got 42 (apps.web.sources)`` */
export function complain(key: string, expected: string, value: unknown, place = ''): never {
  const where = place === '' ? '' : ` (${place}${key})`
  const given = inspect(value, { depth: 1, breakLength: Infinity, maxStringLength: 200 })
  throw new TypeError(`${key} must be ${expected}, got ${given}${where}`)
}

function unknownKey(key: string, known: string[], place: string): string {
  const meant = nearest(key, known)
  const advice = meant ? `did you mean '${meant}'?` : `known options: ${known.join(', ')}`
  return `unknown option '${place}${key}': ${advice}`
}
