// Finds a file that a browser could import, in a package whose own entry is none.
import { isBuiltin } from 'node:module'
import { basename, join } from 'node:path'
import { isText } from '../../check-options.ts'
import { entriesBelow } from '../../files/disk.ts'
import { readSnapshot } from '../../files/open-file.ts'
import { loadModuleLexer } from '../../assets/references/module-references.ts'
import { isInside, pathFrom } from '../../files/paths.ts'

interface Installed {
  readonly name: string
  /** The real path. */
  readonly directory: string
  /** The content of its package.json. */
  readonly json: Readonly<Record<string, unknown>>
}

/** Packages name their modules like this: `leaflet-src.esm.js`, `x.mjs`, `esm/index.js`. */
const MODULE = /\.mjs$|(?:^|[./-])(?:esm?|module)[./-](?:[^/]*\.)?js$/
const DEPTH = 2
const MAX_READ = 20

/**
 * Returns the path in the package, with slashes: by the fields that bundlers read, then by the name of the package. A
 * module that imports others may be a part, or a wrapper of what no browser can import.
 */
export async function moduleIn({ name, directory, json }: Installed): Promise<string | undefined> {
  const fields = ['module', 'jsnext:main', 'browser'].map(field => json[field]).filter(isText)
  const pathOf = (file: string) => pathFrom(directory, file)
  const entries = await entriesBelow(
    directory,
    folder =>
      basename(folder) !== 'node_modules' && pathFrom(directory, folder).split('/').length <= DEPTH
  )
  const named = entries
    .filter(entry => entry.isFile())
    .map(entry => pathOf(join(entry.parentPath, entry.name)))
    .filter(path => MODULE.test(path) && isMain(basename(path), basename(name)))
    .toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1))
  for (const path of [...fields, ...named].slice(0, MAX_READ)) {
    const file = join(directory, path)
    const isUsable = (specifier: string) => fields.includes(path) && !isBuiltin(specifier)
    if (isInside(directory, file) && (await isModule(file, isUsable))) return pathOf(file)
  }
  return undefined
}

function isMain(file: string, name: string): boolean {
  return file.startsWith(name) || file.startsWith('index.')
}

/** @param isUsable is true if the module may import what the specifier means */
async function isModule(file: string, isUsable: (specifier: string) => boolean): Promise<boolean> {
  const read = await readSnapshot(file)
  if (!read) return false
  const lexer = await loadModuleLexer()
  const code = read.bytes.toString()
  const { references } = lexer.find(code)
  return lexer.isModule(code) === true && references.every(({ path }) => isUsable(path))
}
