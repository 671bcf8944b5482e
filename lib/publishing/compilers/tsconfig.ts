// Reads tsconfig.json for sources that esbuild compiles: the nearest one, with what it extends.
import { dirname, extname, join, sep } from 'node:path'
import { CompileError, reasonOf } from '../../runtime/errors.ts'
import { statOf } from '../../runtime/files/disk.ts'
import { isInside } from '../../runtime/files/paths.ts'

export interface Tsconfig {
  /** The settings that change the output. */
  readonly compilerOptions: Readonly<Record<string, unknown>>
  /** The absolute paths of the files that were read, and of those that would have been. */
  readonly files: readonly string[]
  readonly lead?: ((specifier: string) => Promise<string | undefined>) | undefined
}

const OPTION =
  /^(?:experimentalDecorators|jsx\w*|target|useDefineForClassFields|verbatimModuleSyntax)$/
const NONE: Tsconfig = { compilerOptions: {}, files: [] }
const PACKAGES = `${sep}node_modules${sep}`

export const loadReader = () => import('get-tsconfig')

/**
 * @param root the project directory, above which none is looked for
 * @throws CompileError for one that extends a file which is not there, or has options of a wrong type
 */
export async function tsconfigFor(source: string, root: string): Promise<Tsconfig> {
  // A file of a package has been compiled: its tsconfig.json is for its authors.
  if (source.includes(PACKAGES)) return NONE
  const looked = foldersAbove(source, root).map(folder => join(folder, 'tsconfig.json'))
  const stats = await Promise.all(looked.map(statOf))
  const at = stats.findIndex(each => each?.isFile())
  const path = looked[at]
  if (path === undefined) return { ...NONE, files: looked }
  const { createPathsMatcher, parseTsconfig } = await loadReader()
  const cache = new Map<string, string>()
  try {
    const config = parseTsconfig(path, cache)
    const given: Readonly<Record<string, unknown>> = config.compilerOptions ?? {}
    const known = Object.entries(given).filter(([name]) => OPTION.test(name))
    const compilerOptions = { ...Object.fromEntries(known), ...jsxOf(given) }
    const match = createPathsMatcher({ path, config })
    const lead = match ? (specifier: string) => ledBy(match(specifier), specifier) : undefined
    return { compilerOptions, files: [...looked.slice(0, at + 1), ...filesIn(cache)], lead }
  } catch (error) {
    throw new CompileError(reasonOf(error), { file: path }, { cause: error })
  }
}

function foldersAbove(source: string, root: string): string[] {
  const folders = [dirname(source)]
  for (const folder of folders) {
    const above = dirname(folder)
    if (folder === root || above === folder) break
    // A folder around both the project and a source outside of it has no settings of either.
    if (above === root || !isInside(above, root)) folders.push(above)
  }
  return folders
}

/** Its keys have the name of a function, and the path that was given to it. */
function filesIn(cache: ReadonlyMap<string, string>): string[] {
  const paths = Array.from(cache.keys(), key => /^\w+:(.+?)(?::utf8)?$/.exec(key)?.[1] ?? '')
  return paths.filter(path => path !== '')
}

/** Browsers need calls in place of JSX, and `react-jsxdev` needs a runtime that production does not have. */
function jsxOf({ jsx, jsxImportSource }: Readonly<Record<string, unknown>>) {
  if (jsx === 'react-jsxdev') return { jsx: 'react-jsx' }
  const isLeft = jsx === undefined || jsx === 'preserve' || jsx === 'react-native'
  return isLeft ? { jsx: jsxImportSource === undefined ? 'react' : 'react-jsx' } : {}
}

/** Where there is no file, `@/dial.ts` is missing, and `dial` may be a package. */
async function ledBy(paths: readonly string[], specifier: string): Promise<string | undefined> {
  return (await firstFile(paths)) ?? (PACKAGE.test(specifier) ? undefined : paths[0])
}

const PACKAGE = /^(?:@[\w.~-]+\/)?\w/

const SCRIPTS = ['.ts', '.tsx', '.mts', '.cts', '.js', '.mjs', '.jsx']

/** Leaves out files of packages, which are found as the package is. */
async function firstFile(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths.filter(each => !`${each}${sep}`.includes(PACKAGES))) {
    const written = /\.[cm]?jsx?$/.test(path) ? [path.replace(/\.([cm]?)js(x?)$/, '.$1ts$2')] : []
    const beside = SCRIPTS.map(ending => path + ending)
    const inside = SCRIPTS.map(ending => join(path, `index${ending}`))
    for (const each of [path, ...written, ...beside, ...inside])
      if (extname(each) !== '' && (await statOf(each))?.isFile()) return each
  }
  return undefined
}
