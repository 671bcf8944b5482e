// Options that are a value or a function of a file's path.
import { isFieldValue, TOKEN } from '../../http/fields.ts'
import { isRecord, optionError, type Expectation, type ExpectationOf } from '../../options.ts'

/** Response fields, by name. */
export type HeaderValues = Readonly<Record<string, string>>

/** The same value for every file, or chosen by its decoded URL path, such as `/static/app.js`. */
export type ByPath<Value> = Value | ((path: string) => Value | undefined)

/** By decoded URL path; undefined: the default. */
export type ValueByPath<Value> =
  | (((path: string) => Value | undefined) & { readonly isSameForAll?: true })
  | undefined

/**
 * @param check returns the value, or throws a TypeError: at start, or for a function when it is called
 */
export function valueByPath<Value>(
  given: ByPath<Value> | undefined,
  check: (value: unknown) => Value
): ValueByPath<Value> {
  if (given === undefined) return undefined
  if (typeof given === 'function') {
    const choose = given as (path: string) => unknown
    return path => {
      const value = choose(path)
      return value === undefined ? undefined : check(value)
    }
  }
  const value = check(given)
  return Object.assign(() => value, { isSameForAll: true } as const)
}

export function checkedBy<Value>(
  { expected, holds }: ExpectationOf<Value>,
  name: string,
  place: string
): (value: unknown) => Value {
  return value => {
    if (holds(value)) return value
    throw optionError(name, expected, value, place)
  }
}

export const cacheControl: ExpectationOf<string> = {
  expected: "a value such as 'public, max-age=3600'",
  holds: (value): value is string => value !== '' && isFieldValue(value)
}

export const headers: Expectation = {
  expected: "an object such as { 'X-Robots-Tag': 'noindex' }, or a function of the path",
  holds: value => typeof value === 'function' || isRecord(value)
}

// They are computed from the file, the request or the connection.
const COMPUTED = new Set([
  ...['content-length', 'content-encoding', 'content-range', 'accept-ranges', 'etag'],
  ...['last-modified', 'transfer-encoding', 'connection', 'date', 'trailer', 'keep-alive'],
  ...['upgrade', 'proxy-connection']
])

/**
 * The option `headers`; what is given is copied, so later changes have no effect.
 * @param place of the option, such as `mounts./static.`
 */
export function headersByPath(
  given: ByPath<HeaderValues> | undefined,
  place: string
): ValueByPath<HeaderValues> {
  return valueByPath(given, values => {
    if (!isPlain(values)) throw optionError('headers', headers.expected, values, place)
    for (const [name, value] of Object.entries(values)) {
      if (COMPUTED.has(name.toLowerCase())) {
        throw new TypeError(
          `${place}headers sets ${name}, which is computed for each response: remove it`
        )
      }
      if (!TOKEN.test(name)) throw optionError('headers', 'an object of fields', values, place)
      if (!isFieldValue(value))
        throw optionError(name, 'text without line breaks', value, `${place}headers.`)
    }
    return Object.freeze({ ...(values as HeaderValues) })
  })
}

/** Not a promise, a Map or an instance of Headers: their fields would be lost. Of any realm. */
function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isRecord(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
