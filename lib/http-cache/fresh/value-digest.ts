// The digest of a value: equal content has an equal digest.
import { types } from 'node:util'
import { digestOf } from '../../files/digest.ts'

/**
 * The digest of a value and its parts, whatever the order of the keys: plain objects, arrays, strings, numbers,
 * booleans, null, undefined, dates, typed arrays and buffers (by their bytes), and objects with a `toJSON` method.
 *
 * @throws TypeError for everything else. Its content is not accessible, so two states would have one digest.
 */
export function digestOfValue(value: unknown): string {
  return digestOf(canonical(value, []))
}

function canonical(value: unknown, within: readonly object[]): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'object' && value !== null) return canonicalObject(value, within)
  if (typeof value === 'function' || typeof value === 'symbol') throw noContent(`a ${typeof value}`)
  return typeof value === 'bigint' ? `${value}n` : String(value)
}

function canonicalObject(value: object, within: readonly object[]): string {
  // Not `instanceof`: the value may be of another realm.
  if (types.isDate(value)) {
    if (Number.isNaN(value.getTime())) throw noContent('an invalid Date')
    return `Date(${value.getTime()})`
  }
  if (ArrayBuffer.isView(value)) {
    const { buffer, byteOffset, byteLength } = value
    return `Bytes(${digestOf(new Uint8Array(buffer, byteOffset, byteLength))})`
  }
  if (within.includes(value)) throw noContent('an object that contains itself')
  const inner = [...within, value]
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return canonical(value.toJSON(), inner)
  }
  if (Array.isArray(value)) {
    return `[${Array.from(value, item => canonical(item, inner)).join(',')}]`
  }
  if (!isPlainObject(value)) throw noContent(kindOf(value))
  if (Object.getOwnPropertySymbols(value).length > 0) throw noContent('an object with symbol keys')
  const parts = Object.entries(value)
    .filter(([, part]) => part !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, part]) => `${JSON.stringify(key)}:${canonical(part, inner)}`)
  return `{${parts.join(',')}}`
}

function noContent(what: string): TypeError {
  const advice = 'await it, or name its relevant parts, as in { etag: [book.id, book.updatedAt] }'
  return new TypeError(`${what} has no content to digest: ${advice}`)
}

/** Whether the own keys are all of the content: an object literal of any realm, or one without a prototype. */
export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === null || prototype === Object.prototype) return true
  const isRoot = Object.getPrototypeOf(prototype) === null
  return isRoot && Object.hasOwn(prototype as object, 'isPrototypeOf')
}

/** `a Book`, `an object` */
export function kindOf(value: object): string {
  const { name } = (value.constructor ?? Object) as { readonly name?: unknown }
  if (typeof name !== 'string' || name === '' || name === 'Object') return 'an object'
  return `${/^[AEIO]/.test(name) ? 'an' : 'a'} ${name}`
}
