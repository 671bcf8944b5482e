// The optional peers, loaded when the first source needs them.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { AssetError } from '../../errors.ts'
import { errorCode, statOf } from '../../files/disk.ts'

/** The packages that compile one language; the first that is installed is taken. */
export const SASS = ['sass-embedded', 'sass'] as const
export const LESS = ['less'] as const
export const ESBUILD = ['esbuild'] as const
export const PEERS: readonly string[] = [...SASS, ...LESS, ...ESBUILD]

/**
 * Loads the first of several peers that is installed.
 * @param from the directory from which the project would import it; default: this package's own
 * @throws AssetError with the install command when none is
 */
export type Load = (names: readonly string[], source: string, from?: string) => Promise<unknown>

interface Peer {
  /** Its package.json; undefined where packages do not lie in `node_modules`. */
  readonly file: string | undefined
  readonly load: () => unknown
}

export const loadPeer: Load = async (names, source, from) => {
  for (const name of names) {
    const peer = await findPeer(name, from)
    if (peer) return asModule(peer.load())
  }
  throw new AssetError(
    'compiler-missing',
    `${source} needs ${names.at(-1)}, which is not installed: npm install --save-dev ${names.at(-1)}`
  )
}

/**
 * Looked for from the project first, then from this package, which may be linked in from elsewhere.
 * Node remembers a package that it found without package.json as broken for as long as the process
 * lives, so it is asked only once that file is there; and `require` forgets a failure, which `import`
 * does not: a peer that is being installed works as soon as it is complete.
 */
export async function findPeer(name: string, from?: string): Promise<Peer | undefined> {
  // A bundle in CommonJS does not know where this package was.
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

/** Yarn's Plug'n'Play knows of packages that lie in no `node_modules`. */
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

function asModule(loaded: unknown): unknown {
  const { default: whole } = loaded as { default?: unknown }
  return whole ?? loaded
}
