// Reads the nearest tsconfig.json or jsconfig.json, with those that it extends.
import { basename, dirname, join, sep } from 'node:path'
import { CompileError, reasonOf } from '../../runtime/errors.ts'
import { statOf } from '../../runtime/files/disk.ts'
import { isInside } from '../../runtime/files/paths.ts'
import { foldersFrom } from './compiler.ts'

interface Tsconfig {
  /** The settings that change the output. */
  readonly compilerOptions: Readonly<Record<string, unknown>>
  /** The absolute paths of the files that were read, and of those that would come first if they existed. */
  readonly files: readonly string[]
  readonly texts: readonly (readonly [path: string, text: string])[]
  /** Returns the absolute paths that `paths` give to a specifier, and the setting, for messages. */
  readonly pathsFor?: ((specifier: string) => { paths: readonly string[]; by: string }) | undefined
}

const OPTION =
  /^(?:experimentalDecorators|jsx\w*|target|useDefineForClassFields|verbatimModuleSyntax)$/
export const NONE: Tsconfig = { compilerOptions: {}, files: [], texts: [] }
export const PACKAGES = `${sep}node_modules${sep}`

export const loadReader = () => import('get-tsconfig')

/** Reads no file above the project. @throws CompileError for one that extends a missing file, or has wrong types */
export async function tsconfigFor(source: string, root: string): Promise<Tsconfig> {
  // A file of a package is already compiled: its tsconfig.json is for its authors.
  if (source.includes(PACKAGES)) return NONE
  // A folder around both the project and a source outside of it has no settings of either.
  const isMeant = (folder: string, at: number) =>
    at === 0 || folder === root || !isInside(folder, root)
  const looked = foldersFrom(dirname(source))
    .filter(isMeant)
    .flatMap(folder => ['tsconfig.json', 'jsconfig.json'].map(name => join(folder, name)))
  const found = await Promise.all(looked.map(statOf))
  const path = looked.find((_, at) => found[at]?.isFile())
  if (path === undefined) return { ...NONE, files: looked }
  const { createPathsMatcher, parseTsconfig } = await loadReader()
  const cache = new Map<string, string>()
  try {
    const config = parseTsconfig(path, cache)
    const given: Readonly<Record<string, unknown>> = config.compilerOptions ?? {}
    const known = Object.entries(given).filter(([name]) => OPTION.test(name))
    const compilerOptions = { ...Object.fromEntries(known), ...jsxOf(given) }
    const match = createPathsMatcher({ path, config })
    const by = `paths of ${basename(path)}`
    const pathsFor = match ? (specifier: string) => ({ paths: match(specifier), by }) : undefined
    // A key has the name of a function, the path that it got, and the encoding if it was a read.
    const seen = Array.from(cache, ([key, text]) => {
      const [, at = path, encoding] = /^\w+:(.+?)(:utf8)?$/.exec(key) ?? []
      return [at, encoding ? text : ''] as const
    })
    const files = [...looked.slice(0, looked.indexOf(path) + 1), ...seen.map(([at]) => at)]
    return { compilerOptions, files, texts: seen.filter(([, text]) => text), pathsFor }
  } catch (error) {
    throw new CompileError(reasonOf(error), { file: path }, { cause: error })
  }
}

/** Replaces settings that keep JSX, which browsers cannot run, and `react-jsxdev`, whose runtime production lacks. */
function jsxOf({ jsx, jsxImportSource }: Readonly<Record<string, unknown>>) {
  if (jsx === 'react-jsxdev') return { jsx: 'react-jsx' }
  const isLeft = jsx === undefined || jsx === 'preserve' || jsx === 'react-native'
  return isLeft ? { jsx: jsxImportSource === undefined ? undefined : 'react-jsx' } : {}
}
