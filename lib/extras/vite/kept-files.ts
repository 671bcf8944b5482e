// The list of files of earlier builds that `keep` has copied into a build: a dotfile in it, which is never served.
import { join } from 'node:path'
import { AssetError, reasonOf } from '../../runtime/errors.ts'
import { isRecord, isText } from '../../runtime/check-options.ts'
import { isCanonicalBelow } from '../../runtime/urls/spelling.ts'

export interface KeptFile {
  /** The time when the last build that named it was replaced, in milliseconds since 1970. */
  readonly replaced: number
  readonly isHashed: boolean
  /** The digest of its bytes; undefined in a list of release 1.1 and earlier ones. */
  readonly digest?: string | undefined
}

/** The kept files by their paths below the directory. */
export type KeptFiles = ReadonlyMap<string, KeptFile>

export const KEPT_LIST = '.koa-fresh-assets-kept.json'
export const keptListIn = (dir: string) => join(dir, KEPT_LIST)

/** @throws AssetError with the code `manifest-broken` for anything but a list */
export function readKept(bytes: Uint8Array | undefined, dir: string): KeptFiles {
  if (!bytes) return new Map()
  try {
    const json: unknown = JSON.parse(Buffer.from(bytes).toString())
    const builds = isRecord(json) ? json['builds'] : undefined
    if (!Array.isArray(builds)) throw new TypeError('builds is not a list')
    return new Map(builds.flatMap(filesOf))
  } catch (error) {
    const remedy = `restore it, or remove it and run 'npx koa-fresh-assets keep' with the earlier build again`
    const message = `${keptListIn(dir)} is not a list of kept files (${reasonOf(error)}): ${remedy}`
    throw new AssetError('manifest-broken', message, { cause: error })
  }
}

function filesOf(build: unknown): [string, KeptFile][] {
  const { replaced: at, hashed, others, digests } = isRecord(build) ? build : {}
  const replaced = typeof at === 'string' ? Date.parse(at) : NaN
  if (Number.isNaN(replaced)) throw new TypeError(`${JSON.stringify(at)} is not a time`)
  const entries = (files: unknown = [], isHashed: boolean) => {
    if (!Array.isArray(files) || !files.every(each => isText(each) && isCanonicalBelow(each)))
      throw new TypeError('it names something that is not a file below the directory')
    return files.map((file: string): [string, KeptFile] => {
      const digest = isRecord(digests) ? digests[file] : undefined
      return [file, { replaced, isHashed, ...(typeof digest === 'string' && { digest }) }]
    })
  }
  return [...entries(hashed, true), ...entries(others, false)]
}

export function hashedKept(bytes: Uint8Array | undefined, dir: string): ReadonlySet<string> {
  const kept = [...readKept(bytes, dir)]
  return new Set(kept.flatMap(([file, { isHashed }]) => (isHashed ? file : [])))
}

/** Writes the list so that people can read it, too: one build for each time, the latest first. */
export function writtenKept(kept: KeptFiles): Buffer {
  const all = [...kept].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const times = [...new Set(all.map(([, { replaced }]) => replaced))].toSorted((a, b) => b - a)
  const builds = times.map(time => {
    const files = all.filter(([, { replaced }]) => replaced === time)
    const names = (wanted: boolean) =>
      files.flatMap(([file, { isHashed }]) => (isHashed === wanted ? file : []))
    const digests = Object.fromEntries(files.map(([file, { digest }]) => [file, digest]))
    const replaced = new Date(time).toISOString()
    return { replaced, hashed: names(true), others: names(false), digests }
  })
  return Buffer.from(`${JSON.stringify({ builds }, undefined, 2)}\n`)
}
