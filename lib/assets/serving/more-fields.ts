// Fields that the application adds to the responses of files.
import type { HeaderValues } from '../settings/values-by-path.ts'
import { mergeVary, type Fields } from './fields.ts'

export function moreFields(values: HeaderValues | undefined): Fields {
  return values ? Object.entries(values).flat() : NONE
}

const NONE: Fields = []

/** Fields with others in place of those of the same name; `Vary` has the members of both. */
export function withMore(fields: Fields, more: Fields): Fields {
  if (more.length === 0) return fields
  const byName = new Map<string, readonly [name: string, value: string]>()
  for (const [name, value] of pairs([...fields, ...more])) {
    const key = name.toLowerCase()
    const earlier = byName.get(key)
    const merged = key === 'vary' && earlier ? mergeVary(earlier[1], value) : value
    byName.set(key, [earlier?.[0] ?? name, merged])
  }
  return [...byName.values()].flat()
}

/** The last value of a field. */
export function valueOf(fields: Fields, name: string): string | undefined {
  if (fields.length === 0) return undefined
  return pairs(fields).findLast(([each]) => each.toLowerCase() === name.toLowerCase())?.[1]
}

export function without(fields: Fields, name: string): Fields {
  if (fields.length === 0) return fields
  return pairs(fields)
    .filter(([each]) => each.toLowerCase() !== name.toLowerCase())
    .flat()
}

function pairs(fields: Fields): [name: string, value: string][] {
  return fields.flatMap((name, at) => (at % 2 === 0 ? [[name, fields[at + 1] ?? '']] : []))
}
