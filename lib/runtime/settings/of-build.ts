// Compares the options of a server with those of its build, whose digests are in the manifest.
import { inspect } from 'node:util'
import { isRecord } from '../check-options.ts'
import { digestOf } from '../files/digest.ts'
import { BUILD_EXTRAS } from './extra-options.ts'

/** The options that a build must know, and on which pages depend even if a server does not set them. */
const OF_BOTH = ['base', 'imports']
const OF_BUILD =
  'compilers define dir fingerprint integrity path sourceMaps sources symlinks'.split(' ')
const NAMES = [...OF_BOTH, ...OF_BUILD, ...Object.keys(BUILD_EXTRAS)]

type Values = Readonly<Record<string, unknown>>

/** @param settled the values, independent of where the project is */
export function digestsForBuild(settled: Values): Readonly<Record<string, string>> {
  const textOf = (name: string) => JSON.stringify([settled[name]].flat(), sorted)
  return Object.fromEntries(NAMES.map(name => [name, digestOf(textOf(name)).slice(0, 8)]))
}

/** Compilers are compared only by file extensions: their other members, such as caches, are private. */
function sorted(_key: string, value: unknown): unknown {
  if (isRecord(value) && 'compile' in value) return [value['extensions'], value['target']]
  const record: unknown = value instanceof Map ? Object.fromEntries(value) : value
  if (!isRecord(record)) return record
  return Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1))
}

interface BuiltApp {
  readonly name: string
  readonly given: Values
  readonly forBuild: Readonly<Record<string, string>>
}

/** Returns a warning that names the options the build did not have. @param known the digests in the manifest, by app */
export function unknownToBuild(apps: readonly BuiltApp[], known: Values): string | undefined {
  const different = apps.flatMap(({ name: app, given, forBuild }) => {
    const built = known[app]
    if (!isRecord(built)) return `apps.${app}`
    return Object.entries(forBuild).flatMap(([name, digest]) => {
      const isGiven = given[name] !== undefined
      const isSame = (built[name] ?? digest) === digest
      if (isSame || !(isGiven || OF_BOTH.includes(name))) return []
      const value = inspect(given[name], { depth: 1, breakLength: Infinity, maxArrayLength: 5 })
      return `${name}: ${isGiven ? value : 'not set'} (apps.${app})`
    })
  })
  if (different.length === 0) return undefined
  return `the options of koaAssets() differ from those of precompile, so pages may fail: ${different.join(', ')}. Write them into assets.config.js, which precompile reads, pass its default export to koaAssets(), and run npx koa-fresh-assets precompile`
}
