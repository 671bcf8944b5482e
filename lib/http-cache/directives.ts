// From directives as a route writes them to header fields.
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
import { nearest } from '../nearest.ts'
import type {
  CacheDirective,
  CacheDirectiveOptions,
  HeaderField,
  Lifetime
} from './cache-directive.ts'
import { isRecord, mismatch } from './complaints.ts'

// Every spelling of every name, with the name that goes into the header.
const FLAGS = spellings(FLAG_DIRECTIVES)
const SECONDS = spellings(SECONDS_DIRECTIVES)
const FIELD_LISTS = spellings(['no-cache-fields', 'private-fields'])
const REQUEST_ONLY = spellings(REQUEST_DIRECTIVES)
const NAMES = [...FLAG_DIRECTIVES, ...SECONDS_DIRECTIVES]
const OTHERS = ['extension', 'target', 'cookies']
const KNOWN = [...FLAGS.keys(), ...SECONDS.keys(), ...FIELD_LISTS.keys(), ...OTHERS]
// What makes shared caches keep a response. `private` with field names keeps only these fields from them.
const SHARING = new Set(['public', 's-maxage', 'proxy-revalidate', 'private'])

interface Directives {
  readonly values: Map<string, DirectiveValue>
  target?: string
}

/**
 * The header that these directives come to. Of two words on one directive the last counts.
 *
 * @throws TypeError for an unknown directive, a value that it cannot have, and a contradiction
 */
export function cacheControlField(directives: readonly CacheDirective[]): HeaderField {
  return write(read(directives))
}

/**
 * The two headers of a lifetime, or until a moment: Expires, and Cache-Control with the
 * `max-age` last, unless the directives hold one.
 *
 * @throws TypeError as `cacheControlField`, and for a lifetime that is none
 */
export function expiryFields(
  lifetime: Lifetime | Date,
  directives: readonly CacheDirective[],
  now: number
): readonly [HeaderField, HeaderField] {
  const end = endOf(lifetime, now)
  const said = read(directives)
  if (said.target !== undefined)
    throw new TypeError('Expires speaks to every cache, without target')
  if (!said.values.has('max-age')) said.values.set('max-age', wholeSeconds(end - now))
  return [{ name: 'Expires', value: formatHttpDate(end) }, write(said)]
}

/**
 * What these directives come to in a response for one visitor: `private`, and no directive to shared
 * caches. Without Expires, since a cache of HTTP/1.0 reads it and knows no `private`.
 */
export function personalField(
  directives: readonly CacheDirective[],
  lifetime: Lifetime | undefined
): HeaderField {
  const { values, target } = read(directives)
  // Directives for one kind of shared cache say nothing to the visitor's own.
  if (target !== undefined) return write({ values: new Map([['private', true]]) })
  if (lifetime !== undefined && !values.has('max-age')) {
    values.set('max-age', readSeconds('the lifetime', lifetime))
  }
  if (values.has('no-store') && !values.has('must-understand')) return write({ values })
  const kept = [...values].filter(([name]) => !SHARING.has(name))
  return write({ values: new Map([['private', true], ...kept]) })
}

/** Whether directives that were read say that the cookies of the response are for everybody. */
export function sharesCookies(directives: readonly CacheDirective[]): boolean {
  return directives.some(said => typeof said === 'object' && said.cookies === 'shared')
}

function endOf(lifetime: Lifetime | Date, now: number): number {
  if (!types.isDate(lifetime)) return now + readSeconds('the lifetime', lifetime) * 1000
  if (!Number.isNaN(lifetime.getTime())) return lifetime.getTime()
  throw mismatch('the lifetime', 'a duration or a valid Date', lifetime)
}

function read(directives: readonly CacheDirective[]): Directives {
  const said: Directives = { values: new Map() }
  for (const directive of directives) {
    if (typeof directive === 'string') readFlag(said, directive, true)
    else if (isRecord(directive)) readOptions(said, directive)
    else throw mismatch('a directive', 'a name or an object', directive)
  }
  return said
}

function readOptions(said: Directives, options: CacheDirectiveOptions): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue
    if (name === 'extension') readExtensions(said, value)
    else if (name === 'target') said.target = value
    else if (name === 'cookies') checkCookies(value)
    else readOption(said, name, value)
  }
}

function readOption({ values }: Directives, name: string, value: unknown): void {
  const seconds = SECONDS.get(name)
  const fields = FIELD_LISTS.get(name)
  if (seconds !== undefined) values.set(seconds, readSeconds(seconds, value))
  else if (fields !== undefined) values.set(fields.replace('-fields', ''), fieldNames(name, value))
  else readFlag({ values }, name, value)
}

/** @throws TypeError for what is neither whole seconds from 0 to 2^31-1 nor a text with a unit */
export function readSeconds(name: string, given: unknown): number {
  const seconds = typeof given === 'string' ? secondsOf(given) : given
  if (seconds !== undefined) return checkSeconds(name, seconds)
  throw mismatch(name, "whole seconds, or a text with a unit such as '10m' or '1y'", given)
}

function fieldNames(name: string, value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.map(String)
  throw mismatch(name, 'a list of header names', value)
}

function readFlag({ values }: Directives, name: string, value: unknown): void {
  const flag = FLAGS.get(name)
  if (flag === undefined) throw unknown(name)
  if (typeof value !== 'boolean') throw mismatch(flag, 'true or false', value)
  if (value) values.set(flag, true)
}

function checkCookies(value: unknown): void {
  if (value !== 'shared') throw mismatch('cookies', "'shared'", value)
}

function extensionValue(name: string, value: unknown): DirectiveValue {
  if (value === true || typeof value === 'string' || typeof value === 'number') return value
  throw mismatch(name, 'a text, a number or true', value)
}

function readExtensions({ values }: Directives, extensions: unknown): void {
  if (!isRecord(extensions)) throw mismatch('extension', 'an object', extensions)
  for (const [name, value] of Object.entries(extensions)) {
    if (isKnown(name.toLowerCase())) throw new TypeError(`${name} is no extension, say it directly`)
    values.set(name, extensionValue(name, value))
  }
}

function write({ values, target }: Directives): HeaderField {
  const name = target === undefined ? 'Cache-Control' : targetedField(target)
  return { name, value: formatCacheControl(values) }
}

function unknown(name: string): TypeError {
  const seconds = SECONDS.get(name)
  if (seconds !== undefined) return new TypeError(`${seconds} needs seconds: { ${name}: 60 }`)
  const request = REQUEST_ONLY.has(name) ? ', which only a request may use' : ''
  const near = nearest(name, KNOWN)
  const hint = near === undefined ? `known are ${NAMES.join(', ')}` : `did you mean ${near}?`
  return new TypeError(`unknown directive ${JSON.stringify(name)}${request}; ${hint}`)
}

function isKnown(name: string): boolean {
  return FLAGS.has(name) || SECONDS.has(name) || REQUEST_ONLY.has(name)
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
