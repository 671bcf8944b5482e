// Advises what to do about a bare specifier that nothing maps.
import { join } from 'node:path'
import { isBuiltin } from 'node:module'
import { statOf } from '../../runtime/files/disk.ts'
import { nearest } from '../../runtime/check-options.ts'
import { nodeModulesFrom } from '../../publishing/compilers/compiler.ts'
import type { AppSettings } from '../../runtime/settings/settings.ts'
import { isPackage } from './options.ts'
import { nearestInstalled, splitSpecifier } from './packages.ts'

/**
 * Returns undefined if the specifier is no package, such as `@/lib/dial.js`, `#dial` and, unless it is installed,
 * `fs`.
 */
export async function adviceOn(
  { packages }: AppSettings,
  specifier: string,
  root: string
): Promise<string | undefined> {
  if (!isPackage(specifier) || !/^[@\w]/.test(specifier)) return undefined
  const [name, subpath] = splitSpecifier(specifier)
  const publish = `set packages: ['${specifier}']`
  const folders = nodeModulesFrom(root)
  const found = await Promise.all(folders.map(each => statOf(join(each, name, 'package.json'))))
  if (found.some(Boolean)) return publish
  // `lib/dial.js` is more likely a path.
  if (isBuiltin(name) || /\/.*\.m?js$/.test(subpath)) return undefined
  const listed = packages.filter(each => typeof each === 'string')
  const near = nearest(specifier, listed) ?? (await nearestInstalled(name, folders))
  // The hint comes first, since a mistyped name may belong to somebody else's package.
  const hint = near === undefined ? '' : `did you mean '${near}'? If not, `
  return `${hint}run npm install ${name} and ${publish}`
}
