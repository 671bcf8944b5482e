// Checks of what a manifest contains. Each reason completes "… is not a bundler's manifest: ".
import { isRecord } from '../../options.ts'

export type Json = Readonly<Record<string, unknown>>

/** An absent list is empty. */
export function texts(value: unknown, what: string): readonly string[] {
  if (value === undefined) return []
  if (Array.isArray(value) && value.every(each => typeof each === 'string')) return value
  throw new TypeError(`${what} is not a list of strings`)
}

export function records(value: Json, what: string): [string, Json][] {
  return Object.entries(value).map(([key, each]) => {
    if (isRecord(each)) return [key, each]
    throw new TypeError(`${what} ${key} is not an object`)
  })
}

/** A path below the mount's directory: nothing else can be served. */
export function fileBelow(path: unknown): string {
  if (isBelow(path)) return path
  throw new TypeError(`${JSON.stringify(path)} is not a path below the mount's directory`)
}

export function isBelow(path: unknown): path is string {
  return (
    typeof path === 'string' &&
    !/[\\\0\p{Cs}]|^[a-z][a-z\d+.-]*:/iu.test(path) &&
    path.split('/').every(segment => !['', '.', '..'].includes(segment))
  )
}
