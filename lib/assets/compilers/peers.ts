// Where packages are, and the optional peer dependencies: each is loaded when the first source needs it.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { AssetError } from '../../errors.ts'
import { errorCode, statOf } from '../../files/disk.ts'

/** Where packages are, as Node looks for them from a directory: the nearest first. */
export function nodeModulesFrom(directory: string): string[] {
  const above = dirname(directory)
  return [join(directory, 'node_modules'), ...(above === directory ? [] : nodeModulesFrom(above))]
}

/**
 * Loads the first installed package of several.
 * @param purpose what needs it: the path of a source
 * @param from the project directory, searched before this package's own
 * @throws AssetError with the install command when none is installed
 */
export type Load = (names: readonly string[], purpose: string, from?: string) => Promise<unknown>

export const loadPeer: Load = async (names, purpose, from) => {
  const key = JSON.stringify([from, ...names])
  const known = loaded.get(key)
  if (known) return known
  for (const name of names) {
    const require = await requireFinding(name, from)
    if (!require) continue
    const peer = require(name) as { readonly default?: object }
    loaded.set(key, peer.default ?? peer)
    return loaded.get(key)
  }
  throw new AssetError(
    'compiler-missing',
    `${purpose} needs ${names.at(-1)}, which is not installed: npm install --save-dev ${names.at(-1)}`
  )
}

/** By project and names: a compiler is searched for until it is found. One that is replaced needs a restart. */
const loaded = new Map<string, object>()

/**
 * The `require` of the project, or of this package, which may be linked into the project, that finds a
 * package.
 *
 * A package that is being installed works as soon as it is complete: `require` is called only once its
 * package.json exists, because Node caches a package found without one as broken; and `require`, unlike
 * `import`, does not cache a failure.
 */
async function requireFinding(name: string, from?: string): Promise<NodeRequire | undefined> {
  // Undefined in a CommonJS bundle.
  const here = import.meta.dirname as string | undefined
  for (const base of new Set([from, here ?? process.cwd()])) {
    if (base === undefined) continue
    const require = createRequire(join(base, 'peer.js'))
    for (const folder of require.resolve.paths(name) ?? []) {
      if (await statOf(join(folder, name, 'package.json'))) return require
    }
  }
  return process.versions['pnp'] === undefined ? undefined : plugAndPlay(name, from)
}

/** Yarn's Plug'n'Play resolves packages without `node_modules`. */
function plugAndPlay(name: string, from = process.cwd()): NodeRequire | undefined {
  const require = createRequire(join(from, 'peer.js'))
  try {
    require.resolve(name)
    return require
  } catch (error) {
    if (errorCode(error) === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
}
