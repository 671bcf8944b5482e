// Requests for one range (RFC 9110 section 14). The response to several is the whole representation, as section
// 14.2 allows.
import { parseHttpDate } from './dates.ts'
import type { Validators } from './entity-tags.ts'

/** Both inclusive, from 0. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

type RangeChoice = ByteRange | 'whole' | 'unsatisfiable'

/**
 * The part of a representation of `size` bytes that a request selects. Ranges are defined for GET only
 * (section 14.2); an unknown unit and an invalid range are ignored.
 */
export function chooseRange(
  method: string,
  headers: { readonly range?: string | undefined; readonly 'if-range'?: string | undefined },
  validators: Validators,
  size: number,
  now?: number
): RangeChoice {
  const { range } = headers
  if (range === undefined || method !== 'GET') return 'whole'
  const choice = readRange(range, size)
  const ifRange = headers['if-range']
  if (choice === 'whole' || ifRange === undefined) return choice
  return isCurrent(ifRange, validators, now) ? choice : 'whole'
}

const ONE_RANGE = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i

function readRange(range: string, size: number): RangeChoice {
  const [, first, last] = ONE_RANGE.exec(range) ?? []
  if (first === undefined || last === undefined || first + last === '') return 'whole'
  // Section 14.1.2: a suffix longer than the representation selects all of it.
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? Infinity : Number(last)
  if (start > end) return 'whole'
  return start < size ? { start, end: Math.min(end, size - 1) } : 'unsatisfiable'
}

// Section 13.1.5: a single tag, compared strongly; a date must equal the last modification, which is strong
// only once a second has passed (section 8.8.2.2).
function isCurrent(ifRange: string, { etag, lastModified }: Validators, now = Date.now()): boolean {
  if (ifRange.includes('"')) return ifRange === etag && !etag.startsWith('W/')
  if (lastModified === undefined || now - lastModified < 1000) return false
  return parseHttpDate(ifRange, now) === lastModified
}
