// Fields that the application adds to the responses of files.
import { validateHeaderName, validateHeaderValue } from 'node:http'
import { isRecord, optionError } from '../../options.ts'
import type { HeaderValues } from '../settings/mount-options.ts'
import type { Fields } from './fields.ts'

// They are computed from the file, the request or the connection.
const OURS = new Set([
  ...['content-length', 'content-encoding', 'content-range', 'accept-ranges', 'etag'],
  ...['last-modified', 'transfer-encoding', 'connection', 'date', 'trailer', 'keep-alive']
])

/**
 * @param option that the values come from
 * @throws TypeError for a field that is not the application's, and for what a field cannot contain
 */
export function moreFields(values: HeaderValues | undefined, option: string): Fields {
  if (values === undefined) return []
  if (!isRecord(values)) throw optionError(option, 'an object of fields', values)
  return Object.entries(values).flatMap(([name, value]) => {
    if (OURS.has(name.toLowerCase())) {
      throw new TypeError(`${option} sets ${name}, which is computed for each response: remove it`)
    }
    validateHeaderName(name)
    if (typeof value !== 'string') throw optionError(name, 'a string', value, `${option}.`)
    validateHeaderValue(name, value)
    return [name, value]
  })
}

/** Fields with others in place of those of the same name; `Vary` has the members of both. */
export function withMore(fields: Fields, more: Fields): Fields {
  if (more.length === 0) return fields
  const byName = new Map<string, readonly [name: string, value: string]>()
  for (const [name, value] of pairs([...fields, ...more])) {
    const key = name.toLowerCase()
    const earlier = byName.get(key)
    const isMerged = key === 'vary' && earlier !== undefined
    byName.set(key, [earlier?.[0] ?? name, isMerged ? `${earlier[1]}, ${value}` : value])
  }
  return [...byName.values()].flat()
}

/** The last value of a field. */
export function valueOf(fields: Fields, name: string): string | undefined {
  return pairs(fields).findLast(([each]) => each.toLowerCase() === name.toLowerCase())?.[1]
}

export function without(fields: Fields, name: string): Fields {
  return pairs(fields)
    .filter(([each]) => each.toLowerCase() !== name.toLowerCase())
    .flat()
}

function pairs(fields: Fields): [name: string, value: string][] {
  return fields.flatMap((name, at) => (at % 2 === 0 ? [[name, fields[at + 1] ?? '']] : []))
}
