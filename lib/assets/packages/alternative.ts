// A file that a browser could import, in a package whose own entry is none.
import { isBuiltin } from 'node:module'
import { basename, join, relative, sep } from 'node:path'
import { isText } from '../../check-options.ts'
import { entriesBelow, isInside } from '../../files/disk.ts'
import { readSnapshot } from '../../files/open-file.ts'
import { loadModuleLexer } from '../references/module-references.ts'

interface Installed {
  /** Real path. */
  readonly directory: string
  /** What is in its package.json. */
  readonly json: Readonly<Record<string, unknown>>
}

/** As packages name their modules: `leaflet-src.esm.js`, `x.mjs`, `esm/index.js`. */
const MODULE = /\.mjs$|(?:^|[./-])(?:esm?|module)[./-](?:[^/]*\.)?js$/
const DEPTH = 2
const MAX_READ = 20

/** Its path in the package, with slashes: by the fields that bundlers read, then by its name. */
export async function moduleIn({ directory, json }: Installed): Promise<string | undefined> {
  const fields = ['module', 'jsnext:main', 'browser'].map(field => json[field]).filter(isText)
  const pathOf = (file: string) => relative(directory, file).replaceAll('\\', '/')
  const entries = await entriesBelow(
    directory,
    folder =>
      basename(folder) !== 'node_modules' && relative(directory, folder).split(sep).length <= DEPTH
  )
  const named = entries
    .filter(entry => entry.isFile())
    .map(entry => pathOf(join(entry.parentPath, entry.name)))
    .filter(path => MODULE.test(path))
    .toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1))
  const files = [...fields, ...named].map(path => join(directory, path))
  for (const file of files.slice(0, MAX_READ)) {
    if (isInside(directory, file) && (await isForBrowsers(file))) return pathOf(file)
  }
  return undefined
}

async function isForBrowsers(file: string): Promise<boolean> {
  const read = await readSnapshot(file)
  if (!read) return false
  const { find, isModule } = await loadModuleLexer()
  const code = read.bytes.toString()
  return isModule(code) === true && !find(code).some(({ path }) => isBuiltin(path))
}
