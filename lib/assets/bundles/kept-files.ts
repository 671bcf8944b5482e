// The files of earlier builds that `keep` has brought into a build: listed beside them in a dotfile, which is
// never served.
import { join } from 'node:path'
import { AssetError, reasonOf } from '../../errors.ts'
import { isRecord } from '../../options.ts'
import { fileBelow, texts } from './bundle.ts'

/** By file, below the directory: when the last build that names it was replaced, in milliseconds since 1970. */
export type KeptFiles = ReadonlyMap<string, number>

/** @param dir the directory of the build */
export function keptListIn(dir: string): string {
  return join(dir, '.koa-fresh-assets-kept.json')
}

/**
 * @param bytes of the list; undefined where there is none
 * @throws AssetError with the code `manifest-broken` for anything else
 */
export function readKept(bytes: Uint8Array | undefined, dir: string): KeptFiles {
  if (!bytes) return new Map()
  try {
    const json: unknown = JSON.parse(Buffer.from(bytes).toString())
    const builds = isRecord(json) ? json['builds'] : undefined
    if (!Array.isArray(builds)) throw new TypeError('builds is not a list')
    return new Map(builds.flatMap(filesOf))
  } catch (error) {
    const remedy = "remove it, and run 'koa-fresh-assets keep' again"
    const message = `${keptListIn(dir)} is not a list of kept files (${reasonOf(error)}): ${remedy}`
    throw new AssetError('manifest-broken', message, { cause: error })
  }
}

function filesOf(build: unknown): [string, number][] {
  const { replaced, files } = isRecord(build) ? build : {}
  const at = typeof replaced === 'string' ? Date.parse(replaced) : NaN
  if (Number.isNaN(at)) throw new TypeError(`${JSON.stringify(replaced)} is not a time`)
  return texts(files, 'files').map(file => [fileBelow(file), at])
}

/** For people, too: a build for each time, the latest first. */
export function writtenKept(kept: KeptFiles): Buffer {
  const builds = [...new Set(kept.values())].toSorted((a, b) => b - a)
  const list = builds.map(at => ({
    replaced: new Date(at).toISOString(),
    files: [...kept.keys()].filter(file => kept.get(file) === at).toSorted()
  }))
  return Buffer.from(`${JSON.stringify({ builds: list }, undefined, 2)}\n`)
}
