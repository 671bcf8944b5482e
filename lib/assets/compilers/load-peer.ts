// Loads a compiler that the project has installed.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { AssetError } from '../../errors.ts'
import { errorCode, statOf } from '../../files/disk.ts'
import { nodeModulesFrom } from './compiler.ts'

/** By project and names. One that is replaced needs a restart, as Node's own modules do. */
const loaded = new Map<string, object>()

/**
 * Loads the first installed package of several.
 * @param purpose what needs it: the path of a source
 * @param from the project directory, searched before this package's own, which may be linked into it
 * @throws AssetError with the install command when none is installed
 */
export async function loadPeer(
  names: readonly string[],
  purpose: string,
  from = process.cwd()
): Promise<unknown> {
  const key = JSON.stringify([from, ...names])
  const known = loaded.get(key)
  if (known) return known
  // Undefined in a CommonJS bundle.
  const here = import.meta.dirname as string | undefined
  for (const name of names) {
    for (const base of [from, here ?? from]) {
      const require = createRequire(join(base, 'peer.js'))
      if (!(await isInstalled(name, base, require))) continue
      const peer = require(name) as { readonly default?: object }
      loaded.set(key, peer.default ?? peer)
      return loaded.get(key)
    }
  }
  const last = names.at(-1)
  throw new AssetError(
    'compiler-missing',
    `${purpose} needs ${last}, which is not installed: npm install --save-dev ${last}`
  )
}

/**
 * A package that is being installed works as soon as it is complete: `require` is called only once its
 * package.json exists, because Node caches a package found without one as broken; and `require`, unlike
 * `import`, does not cache a failure.
 */
async function isInstalled(name: string, base: string, require: NodeRequire): Promise<boolean> {
  for (const folder of nodeModulesFrom(base)) {
    if (await statOf(join(folder, name, 'package.json'))) return true
  }
  // Yarn's Plug'n'Play resolves packages without `node_modules`.
  if (process.versions['pnp'] === undefined) return false
  try {
    return Boolean(require.resolve(name))
  } catch (error) {
    if (errorCode(error) === 'MODULE_NOT_FOUND') return false
    throw error
  }
}
