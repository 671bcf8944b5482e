// One digest for one content, however it was put together.
import { hash } from 'node:crypto'

/** SHA-256, the first 32 hex characters. */
export function digest(content: string | Uint8Array): string {
  return hash('sha256', content).slice(0, 32)
}

/**
 * The digest of a value and its parts, the same whatever the order of the keys.
 *
 * @throws TypeError for a function, a symbol, a promise and an invalid Date, whose content nobody
 *   knows
 */
export function digestOf(value: unknown): string {
  return digest(canonical(value))
}

function canonical(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'object' && value !== null) return canonicalObject(value)
  if (typeof value === 'function' || typeof value === 'symbol') {
    throw new TypeError(`a ${typeof value} has no content to digest`)
  }
  return String(value)
}

function canonicalObject(value: object): string {
  if (value instanceof Date) return `Date(${validTime(value)})`
  if ('toJSON' in value && typeof value.toJSON === 'function') return canonical(value.toJSON())
  if (isIterable(value)) return `[${Array.from(value, canonical).join(',')}]`
  if ('then' in value) throw new TypeError('a promise has no content to digest: await it')
  return `{${Object.entries(value)
    .filter(([, part]) => part !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, part]) => `${JSON.stringify(key)}:${canonical(part)}`)
    .join(',')}}`
}

function isIterable(value: object): value is Iterable<unknown> {
  return Symbol.iterator in value
}

function validTime(date: Date): number {
  if (Number.isNaN(date.getTime())) throw new TypeError('an invalid Date has no content to digest')
  return date.getTime()
}
