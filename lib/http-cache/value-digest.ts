// One digest for one content, however it was put together.
import { types } from 'node:util'

import { digestOf } from '../files/digest.ts'
import { isPlainObject, kindOf } from './complaints.ts'

/**
 * The digest of a value and its parts, the same whatever the order of the keys: plain objects, arrays,
 * texts, numbers, booleans, null, undefined, dates, typed arrays and buffers (by their bytes), and what
 * has a `toJSON` method.
 *
 * @throws TypeError for everything else, whose content cannot be known: it would have one digest for
 *   two states
 */
export function digestOfValue(value: unknown): string {
  return digestOf(canonical(value, []))
}

function canonical(value: unknown, within: readonly object[]): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'object' && value !== null) return canonicalObject(value, within)
  if (typeof value === 'function' || typeof value === 'symbol') {
    throw new TypeError(`a ${typeof value} has no content to digest`)
  }
  return typeof value === 'bigint' ? `${value}n` : String(value)
}

function canonicalObject(value: object, within: readonly object[]): string {
  // Not `instanceof`, which does not know what comes from another realm.
  if (types.isDate(value)) return `Date(${validTime(value)})`
  if (ArrayBuffer.isView(value)) return `Bytes(${digestOf(asBytes(value))})`
  if (within.includes(value)) {
    throw new TypeError('an object that contains itself has no content to digest')
  }
  const inner = [...within, value]
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return canonical(value.toJSON(), inner)
  }
  if (Array.isArray(value)) {
    return `[${Array.from(value, item => canonical(item, inner)).join(',')}]`
  }
  if (isPlainObject(value)) return canonicalRecord(value, inner)
  throw new TypeError(`${kindOf(value)} has no content to digest: ${remedyFor(value)}`)
}

function canonicalRecord(value: object, within: readonly object[]): string {
  if (Object.getOwnPropertySymbols(value).length > 0) {
    throw new TypeError('an object with symbols as keys has no content to digest: use texts')
  }
  return `{${Object.entries(value)
    .filter(([, part]) => part !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, part]) => `${JSON.stringify(key)}:${canonical(part, within)}`)
    .join(',')}}`
}

function remedyFor(value: object): string {
  if ('then' in value) return 'await it'
  if (types.isMap(value) || types.isSet(value)) return 'write [...value]'
  if (types.isAnyArrayBuffer(value)) return 'write new Uint8Array(value)'
  if (types.isBoxedPrimitive(value)) return 'write value.valueOf()'
  return 'name the parts that matter, for example { etag: [book.id, book.updatedAt] }'
}

function asBytes({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

function validTime(date: Date): number {
  const time = Date.prototype.getTime.call(date)
  if (Number.isNaN(time)) throw new TypeError('an invalid Date has no content to digest')
  return time
}
