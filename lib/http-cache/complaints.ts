// Complaints about what a person wrote: the option, what was expected, what was given.
import { inspect } from 'node:util'

import { nearest } from '../nearest.ts'

/** `autoEtag must be true or false, got 42` */
export function mismatch(name: string, expected: string, given: unknown): TypeError {
  return new TypeError(`${name} must be ${expected}, got ${inspect(given, { depth: 1 })}`)
}

/** @throws TypeError that names the first key which is not known, and the nearest one that is */
export function checkKeys(what: string, given: object, known: readonly string[]): void {
  for (const key of Object.keys(given)) {
    if (known.includes(key)) continue
    const near = nearest(key, known)
    const hint = near === undefined ? `known are ${known.join(', ')}` : `did you mean ${near}?`
    throw new TypeError(`unknown ${what} ${key}; ${hint}`)
  }
}

/** An object with keys: neither null nor a list. */
export function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
