// The code that built-in compilers share.
import { basename, dirname, isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { firstAnswer } from '../../runtime/concurrency.ts'
import { statOf } from '../../runtime/files/disk.ts'
import { pathFrom } from '../../runtime/files/paths.ts'
import type { CompilerInput, CompilerOutput } from '../../runtime/settings/compiler.ts'

/** A built-in compiler that reads settings beside the source returns these as well. */
export interface ConfiguredOutput extends CompilerOutput {
  /** The absolute paths of the files with these settings, existing or not. Nothing in the text comes from them. */
  readonly configuration?: readonly string[] | undefined
  readonly warnings?: readonly string[] | undefined
}

export function foldersFrom(directory: string): string[] {
  const above = dirname(directory)
  return [directory, ...(above === directory ? [] : foldersFrom(above))]
}

export const nodeModulesFrom = (directory: string) =>
  foldersFrom(directory).map(folder => join(folder, 'node_modules'))

export const firstFile = (paths: readonly string[]) =>
  firstAnswer(paths, async path => ((await statOf(path))?.isFile() ? path : undefined))

export function rootFor({ loadPaths }: CompilerInput): string {
  const nodeModules = loadPaths.find(path => basename(path) === 'node_modules')
  return nodeModules ? dirname(nodeModules) : process.cwd()
}

/** Makes the paths of a source map relative to its file: absolute ones would publish the layout of a machine. */
export function withRelativeSources(json: string, file: string): string {
  const map = JSON.parse(json) as { sources: string[] }
  const sources = map.sources.map(given => {
    const path = given.startsWith('file:///') ? fileURLToPath(given) : given
    return isAbsolute(path) ? pathFrom(dirname(file), path) : given
  })
  return JSON.stringify({ ...map, sources })
}

/** Returns the comment with the source map that ends a text. @param json the map */
export function inlineMap(json: string, type: 'css' | 'js' = 'js'): string {
  const data = Buffer.from(json).toString('base64')
  const comment = `# sourceMappingURL=data:application/json;base64,${data}`
  return type === 'css' ? `\n/*${comment} */\n` : `\n//${comment}\n`
}

/** The absolute paths of one search, in the order in which the compiler tries them. */
export type Search = readonly string[]

/** Returns the paths of each search up to the first file, or all: a file that appears there changes the result. */
export async function searchedPaths(searches: readonly Search[]): Promise<string[]> {
  const upToFirstFile = async (search: Search) => {
    // The last path is a dependency either way.
    const found = await firstFile(search.slice(0, -1))
    return found === undefined ? search : search.slice(0, search.indexOf(found) + 1)
  }
  return [...new Set((await Promise.all(searches.map(upToFirstFile))).flat())]
}
