// Cache-Control of a response (RFC 9111 section 5.2.2, RFC 5861, RFC 8246) and its targeted forms (RFC 9213).
import type { ServerResponse } from 'node:http'
import { isFieldValue, TOKEN } from './fields.ts'
import { nearest, optionError, type ExpectationOf } from '../check-options.ts'

export const FLAG_DIRECTIVES = [
  'public',
  'private',
  'no-cache',
  'no-store',
  'no-transform',
  'must-revalidate',
  'must-understand',
  'proxy-revalidate',
  'immutable'
] as const

export const SECONDS_DIRECTIVES = [
  'max-age',
  's-maxage',
  'stale-while-revalidate',
  'stale-if-error'
] as const

export const SECONDS: ReadonlySet<string> = new Set(SECONDS_DIRECTIVES)
export const NAMES = [...FLAG_DIRECTIVES, ...SECONDS]

/** `no-cache` and `private` may be limited to the fields that they name; an extension may have a string. */
export type DirectiveValue = true | number | string | readonly string[]

// Every cache must be able to express this lifetime (RFC 9111 section 1.2.2), about 68 years.
const MAX_SECONDS = 2 ** 31 - 1
// A quoted string may contain these characters, and a comma, at which careless caches split.
const QUOTABLE = /^[ !\x23-\x2b\x2d-\x5b\x5d-\x7e]*$/
// An integer, a decimal and a token need no quotes (RFC 9651 section 3.3). A token begins with a letter.
const DICTIONARY_KEY = /^[a-z*][a-z0-9_.*-]*$/
const BARE_ITEM = /^(?:-?\d{1,15}|-?\d{1,12}\.\d{1,3}|[a-z*][!#$%&'*+.^_`|~0-9a-z-]*)$/i

/** Targeted fields are dictionaries (RFC 9213 section 2.1); one invalid member makes caches ignore the whole field. */
type Syntax = 'list' | 'dictionary'
type Directives = ReadonlyMap<string, DirectiveValue>

/** @throws TypeError for no directive, an invalid value, and directives that contradict each other */
export function formatCacheControl(directives: Directives, syntax: Syntax = 'list'): string {
  if (directives.size === 0) throw new TypeError('Cache-Control needs at least one directive')
  checkContradictions(directives)
  return Array.from(directives, ([name, value]) => formatDirective(name, value, syntax)).join(', ')
}

/** Returns the name of a targeted field (RFC 9213), such as `CDN-Cache-Control`; `Surrogate-Control` is already one. */
export function targetedField(target: string): string {
  if (TOKEN.test(target)) return /-control$/i.test(target) ? target : `${target}-Cache-Control`
  throw optionError('target', "a token such as 'CDN'", target)
}

export function isCacheControl(field: string): boolean {
  return /(?:^|-)(?:cache|surrogate)-control$/i.test(field)
}

export const isLifetime = (field: string) => isCacheControl(field) || /^expires$/i.test(field)

/** Keeps caches from storing a response; a targeted field would win over `no-store` (RFC 9213 section 2.2). */
export function forbidStoring(res: ServerResponse): void {
  for (const name of res.getHeaderNames()) if (isLifetime(name)) res.removeHeader(name)
  res.setHeader('Cache-Control', 'no-store')
}

export function wholeSeconds(milliseconds: number): number {
  return Math.min(Math.max(Math.floor(milliseconds / 1000), 0), MAX_SECONDS)
}

// Commas in a quoted string do not separate directives (RFC 9110 section 5.6.1).
const DIRECTIVES = /(?:[^,"]|"(?:[^"\\]|\\.)*")+/g
const DIRECTIVE = /^[!#$%&'*+\-.^_`|~\w]+(?:=(?:[!#$%&'*+\-.^_`|~\w]+|"(?:[^"\\]|\\.)*"))?$/
const TO_SHARED_CACHES = /^(?:public|private|s-maxage|proxy-revalidate)(?:=|$)/i
const ABOUT_REUSE =
  /^(?:no-cache|max-age|immutable|must-revalidate|must-understand|stale-while-revalidate|stale-if-error)(?:=|$)/i

/** Accepts directives, known or not, but not `max-age: 60`, `max-age=ten` or `maxage=60`, which caches ignore. */
export const CACHE_CONTROL: ExpectationOf<string> = {
  expected: "directives, such as 'public, max-age=3600'",
  holds: (value): value is string => {
    const all = isFieldValue(value) ? directivesIn(value) : []
    return all.length > 0 && all.every(isDirective)
  }
}

function isDirective(text: string): boolean {
  const name = text.split('=', 1).join().toLowerCase()
  const isMeant = NAMES.includes(name) || nearest(name, NAMES, 1) === undefined
  return isMeant && DIRECTIVE.test(text) && (!SECONDS.has(name) || /=\d+$/.test(text))
}

/** Returns the value for a response to one visitor: `private`, without directives for shared caches. */
export function privateCacheControl(value: string): string {
  const directives = directivesIn(value)
  const names = new Set(directives.map(text => text.toLowerCase()))
  const kept = directives.filter(text => !TO_SHARED_CACHES.test(text))
  const isStored = !names.has('no-store') || names.has('must-understand')
  return (isStored ? ['private', ...kept] : kept).join(', ')
}

/** Returns the value for a response to one visitor that a browser must not use again without asking. */
export function personalCacheControl(value: string): string {
  const stored = privateCacheControl(value)
  const [first, ...others] = directivesIn(stored)
  // Otherwise it is `no-store`.
  if (first !== 'private') return stored
  return ['private', 'no-cache', ...others.filter(text => !ABOUT_REUSE.test(text))].join(', ')
}

function directivesIn(value: string): string[] {
  return (value.match(DIRECTIVES) ?? []).map(text => text.trim()).filter(Boolean)
}

function formatDirective(given: string, value: DirectiveValue, syntax: Syntax): string {
  const [name, key, bare] =
    syntax === 'list' ? [given, TOKEN, TOKEN] : [given.toLowerCase(), DICTIONARY_KEY, BARE_ITEM]
  if (!key.test(name)) {
    const place = syntax === 'list' ? 'Cache-Control' : 'a targeted field (RFC 9213 section 2.1)'
    throw new TypeError(`the directive ${JSON.stringify(name)} cannot be in ${place}`)
  }
  if (value === true) return name
  if (typeof value === 'object') {
    const isValid = value.length > 0 && value.every(field => TOKEN.test(field))
    if (isValid) return `${name}="${value.join(', ')}"`
    throw optionError(name, 'a list of field names', value)
  }
  const text = String(value)
  if (bare.test(text)) return `${name}=${text}`
  if (QUOTABLE.test(text)) return `${name}="${text}"`
  throw optionError(name, 'ASCII without quotes, commas and control characters', text)
}

function checkContradictions(directives: Directives): void {
  const contradictions: [string, string][] = []
  // Section 5.2.2.3: with must-understand, a cache that understands the status ignores `no-store`.
  if (directives.has('no-store') && !directives.has('must-understand')) {
    const lasting = SECONDS_DIRECTIVES.filter(name => Number(directives.get(name) ?? 0) > 0)
    for (const name of ['immutable', ...lasting]) contradictions.push(['no-store', name])
  }
  // `private` with field names keeps only these fields out of shared caches.
  if (directives.get('private') === true)
    contradictions.push(['public', 'private'], ['private', 's-maxage'])
  const found = contradictions.find(pair => pair.every(name => directives.has(name)))
  if (found) throw new TypeError(`${found.join(' and ')} contradict each other`)
}

// Every cache must support this many groups (RFC 9875 sections 2 and 3), and may ignore a longer field.
const MAX_GROUPS = 32
const GROUP = /^[ -~]{1,32}$/

/** Writes a list of strings (RFC 9651 sections 3.1 and 3.3.3): `"book-7", "books"`. @throws TypeError */
export function formatGroups(groups: readonly string[]): string {
  for (const group of groups) {
    if (typeof group === 'string' && GROUP.test(group)) continue
    throw optionError('a cache group', '1 to 32 printable ASCII characters', group)
  }
  const most = `${MAX_GROUPS} cache groups, which every cache supports`
  if (groups.length > MAX_GROUPS)
    throw new TypeError(`a response may have ${most}, got ${groups.length}`)
  return groups.map(group => `"${group.replace(/["\\]/g, '\\$&')}"`).join(', ')
}

/** Writes groups as a CDN reads them. @throws TypeError for a group with a space or a comma */
export function formatKeys(header: string, groups: readonly string[]): string {
  // Surrogate-Key and xkey are split at spaces, Cache-Tag at commas; Cloudflare forbids spaces in tags as well.
  const unfit = groups.find(group => /[ ,]/.test(group))
  if (unfit !== undefined)
    throw optionError('a cache group', `without blanks and commas, which separate ${header}`, unfit)
  return groups.join(/tag/i.test(header) ? ',' : ' ')
}
