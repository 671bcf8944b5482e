// Loads optional peer dependencies when the first source needs them.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { AssetError } from '../../errors.ts'
import { errorCode, statOf } from '../../files/disk.ts'

/**
 * Loads the first installed package of several.
 * @param purpose what needs it: the path of a source
 * @param from the project directory, searched before this package's own
 * @throws AssetError with the install command when none is installed
 */
export type Load = (names: readonly string[], purpose: string, from?: string) => Promise<unknown>

interface Peer {
  /** Its package.json; undefined where packages are not in `node_modules`. */
  readonly file: string | undefined
  readonly load: () => unknown
}

export const loadPeer: Load = async (names, purpose, from) => {
  for (const name of names) {
    const peer = await findPeer(name, from)
    if (peer) return defaultExport(peer.load())
  }
  throw new AssetError(
    'compiler-missing',
    `${purpose} needs ${names.at(-1)}, which is not installed: npm install --save-dev ${names.at(-1)}`
  )
}

/**
 * Searches from the project, then from this package, which may be linked into the project.
 *
 * A package that is being installed works as soon as it is complete: `require` is called only once its
 * package.json exists, because Node caches a package found without one as broken; and `require`, unlike
 * `import`, does not cache a failure.
 */
export async function findPeer(name: string, from?: string): Promise<Peer | undefined> {
  // Undefined in a CommonJS bundle.
  const here = import.meta.dirname as string | undefined
  for (const base of new Set([from, here ?? process.cwd()])) {
    if (base === undefined) continue
    const require = createRequire(join(base, 'peer.js'))
    for (const folder of require.resolve.paths(name) ?? []) {
      const file = join(folder, name, 'package.json')
      if (await statOf(file)) return { file, load: () => require(name) as unknown }
    }
  }
  return process.versions['pnp'] === undefined ? undefined : findPlugAndPlay(name, from)
}

/** Yarn's Plug'n'Play resolves packages without `node_modules`. */
function findPlugAndPlay(name: string, from = process.cwd()): Peer | undefined {
  const require = createRequire(join(from, 'peer.js'))
  try {
    require.resolve(name)
  } catch (error) {
    if (errorCode(error) === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
  return { file: undefined, load: () => require(name) as unknown }
}

function defaultExport(loaded: unknown): unknown {
  return (loaded as { default?: unknown }).default ?? loaded
}
