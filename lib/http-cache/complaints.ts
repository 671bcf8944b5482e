// Complaints about what a person wrote: the option, what was expected, what was given.
import { inspect } from 'node:util'

import { nearest } from '../nearest.ts'

/** `autoEtag must be true or false, got 42` */
export function mismatch(name: string, expected: string, given: unknown): TypeError {
  return new TypeError(`${name} must be ${expected}, got ${inspect(given, { depth: 1 })}`)
}

/** @throws TypeError that names the first key which is not known, and the nearest one that is, or a remedy */
export function checkKeys(
  what: string,
  given: object,
  known: readonly string[],
  remedy = `known are ${known.join(', ')}`
): void {
  for (const key of Object.keys(given)) {
    if (known.includes(key)) continue
    const near = nearest(key, known)
    const hint = near === undefined ? remedy : `did you mean ${near}?`
    throw new TypeError(`unknown ${what} ${key}; ${hint}`)
  }
}

/** An object with keys: neither null nor a list. */
export function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An object literal, of any realm, or one without a prototype: all that it is lies in its keys. */
export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === null || prototype === Object.prototype) return true
  // Another realm's Object.prototype.
  return (
    Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, 'isPrototypeOf')
  )
}

/** `a Book`, `an object` */
export function kindOf(value: object): string {
  const { name } = (value.constructor ?? Object) as { readonly name?: unknown }
  if (typeof name !== 'string' || name === '' || name === 'Object') return 'an object'
  return `${/^[AEIO]/.test(name) ? 'an' : 'a'} ${name}`
}
