// Turns directives, as a route writes them, into header fields.
import { types } from 'node:util'

import {
  type DirectiveValue,
  FLAG_DIRECTIVES,
  REQUEST_DIRECTIVES,
  SECONDS_DIRECTIVES,
  checkSeconds,
  formatCacheControl,
  targetedField,
  wholeSeconds
} from '../http/cache-control.ts'
import { secondsOf } from '../duration.ts'
import { formatHttpDate } from '../http/dates.ts'
import { isRecord, optionError, unknownName } from '../options.ts'
import type {
  CacheDirective,
  CacheDirectiveOptions,
  HeaderField,
  Lifetime
} from './cache-directive.ts'

// Every spelling of a name, with the name in the header.
const FLAGS = spellings(FLAG_DIRECTIVES)
const SECONDS = spellings(SECONDS_DIRECTIVES)
const FIELD_LISTS = spellings(['no-cache-fields', 'private-fields'])
const REQUEST_ONLY = spellings(REQUEST_DIRECTIVES)
const STANDARD = new Set([...FLAGS.keys(), ...SECONDS.keys(), ...REQUEST_ONLY.keys()])
const NAMES = [...FLAG_DIRECTIVES, ...SECONDS_DIRECTIVES]
const OTHERS = ['extension', 'target', 'cookies']
const KNOWN = [...FLAGS.keys(), ...SECONDS.keys(), ...FIELD_LISTS.keys(), ...OTHERS]
// A comma with an even number of quotes after it is not between quotes.
const COMMA = /,(?=(?:[^"]*"[^"]*")*[^"]*$)/
const MEMBER = /^([^\s=",]+)(?:=(?:"([^"]*)"|([^\s=",]*)))?$/

type DirectiveValues = Map<string, DirectiveValue>

interface Directives {
  readonly values: DirectiveValues
  target?: string
}

/**
 * The header field of these directives. A directive that is given twice has its last value.
 *
 * @throws TypeError for an unknown directive, an invalid value, and directives that contradict each other
 */
export function cacheControlField(directives: readonly CacheDirective[]): HeaderField {
  return formatField(readDirectives(directives))
}

/**
 * The header fields of a lifetime or its end: Expires, and Cache-Control, whose `max-age` comes last
 * unless the directives contain one.
 *
 * @throws TypeError as `cacheControlField`, and for an invalid lifetime
 */
export function expiryFields(
  lifetime: Lifetime | Date,
  directives: readonly CacheDirective[],
  now: number
): readonly [HeaderField, HeaderField] {
  const end = endOf(lifetime, now)
  const { values, target } = readDirectives(directives)
  if (target !== undefined) throw new TypeError('ctx.expires() does not accept `target`')
  if (!values.has('max-age')) values.set('max-age', wholeSeconds(end - now))
  return [{ name: 'Expires', value: formatHttpDate(end) }, formatField({ values })]
}

/**
 * The directives of a field's value: `public, max-age=60`.
 *
 * @throws TypeError for text that is none
 */
export function parseDirectives(text: string): readonly CacheDirective[] {
  return text.split(COMMA).map(member => {
    const [, name, quoted, value = quoted] = MEMBER.exec(member.trim()) ?? []
    if (name === undefined) {
      throw optionError('cacheControl', "directives, such as 'public, max-age=60'", text)
    }
    const known = FLAGS.has(name) ? name : name.toLowerCase()
    if (value === undefined) return known as CacheDirective
    if (FIELD_LISTS.has(`${known}-fields`)) return { [`${known}-fields`]: value.split(/ *, */) }
    return { [known]: /^\d+$/.test(value) ? Number(value) : value }
  })
}

/** Whether directives, which are valid, allow shared caches to store the response's cookies. */
export function sharesCookies(directives: readonly CacheDirective[]): boolean {
  return directives.some(each => typeof each === 'object' && each.cookies === 'shared')
}

function endOf(lifetime: Lifetime | Date, now: number): number {
  if (!types.isDate(lifetime)) return now + readSeconds('the lifetime', lifetime) * 1000
  if (!Number.isNaN(lifetime.getTime())) return lifetime.getTime()
  throw optionError('the lifetime', 'a duration or a valid Date', lifetime)
}

function readDirectives(given: readonly CacheDirective[]): Directives {
  const directives: Directives = { values: new Map() }
  for (const directive of given) {
    if (typeof directive === 'string') readFlag(directives.values, directive, true)
    else if (isRecord(directive)) readOptions(directives, directive)
    else throw optionError('a directive', 'a name or an object', directive)
  }
  return directives
}

function readOptions(directives: Directives, options: CacheDirectiveOptions): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue
    if (name === 'extension') readExtensions(directives.values, value)
    else if (name === 'target') directives.target = value
    else if (name !== 'cookies') readOption(directives.values, name, value)
    else if (value !== 'shared') throw optionError('cookies', "'shared'", value)
  }
}

function readOption(values: DirectiveValues, name: string, value: unknown): void {
  const seconds = SECONDS.get(name)
  const fields = FIELD_LISTS.get(name)
  if (seconds !== undefined) values.set(seconds, readSeconds(seconds, value))
  else if (fields !== undefined) values.set(fields.replace('-fields', ''), fieldNames(name, value))
  else readFlag(values, name, value)
}

/** @throws TypeError for anything but whole seconds or a string with a unit */
export function readSeconds(name: string, given: unknown): number {
  const seconds = typeof given === 'string' ? secondsOf(given) : given
  if (seconds !== undefined) return checkSeconds(name, seconds)
  throw optionError(name, "whole seconds, or a string with a unit such as '10m' or '1y'", given)
}

function fieldNames(name: string, value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.map(String)
  throw optionError(name, 'a list of field names', value)
}

function readFlag(values: DirectiveValues, name: string, value: unknown): void {
  const flag = FLAGS.get(name)
  if (flag === undefined) throw unknownDirective(name)
  if (typeof value !== 'boolean') throw optionError(flag, 'true or false', value)
  if (value) values.set(flag, true)
}

function readExtensions(values: DirectiveValues, extensions: unknown): void {
  if (!isRecord(extensions)) throw optionError('extension', 'an object', extensions)
  for (const [name, value] of Object.entries(extensions)) {
    if (STANDARD.has(name.toLowerCase())) {
      throw new TypeError(`${name} is a standard directive: write it outside of extension`)
    }
    if (value !== true && typeof value !== 'string' && typeof value !== 'number') {
      throw optionError(name, 'a string, a number or true', value)
    }
    values.set(name, value)
  }
}

function formatField({ values, target }: Directives): HeaderField {
  return target === undefined
    ? { name: 'Cache-Control', value: formatCacheControl(values) }
    : { name: targetedField(target), value: formatCacheControl(values, 'dictionary') }
}

function unknownDirective(name: string): TypeError {
  const seconds = SECONDS.get(name)
  if (seconds !== undefined) return new TypeError(`${seconds} needs seconds: { ${name}: 60 }`)
  if (REQUEST_ONLY.has(name))
    return new TypeError(`${name} is a directive of requests, not of responses`)
  return unknownName('directive', name, KNOWN, { advice: `known directives: ${NAMES.join(', ')}` })
}

function spellings(names: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    names.flatMap(name => [
      [name, name],
      [name.replaceAll('-', '_'), name],
      [name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()), name]
    ])
  )
}
