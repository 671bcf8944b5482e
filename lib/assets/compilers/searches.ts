// Where a compiler looked for a file. A path without a file is a dependency as well: a file that
// appears there changes the result.
import { dirname, join } from 'node:path'
import { statOf } from '../../files/disk.ts'

/** Where packages are, as Node looks for them from a directory: the nearest first. */
export function nodeModulesFrom(directory: string): string[] {
  const above = dirname(directory)
  return [join(directory, 'node_modules'), ...(above === directory ? [] : nodeModulesFrom(above))]
}

/** The absolute paths of one search, in the order in which the compiler tries them. */
export type Search = readonly string[]

/** The paths of each search up to the first file that exists; the rest do not affect the result. */
export async function searchedPaths(searches: Iterable<Search>): Promise<string[]> {
  const searched = await Promise.all(Array.from(searches, upToFirstFile))
  return [...new Set(searched.flat())]
}

async function upToFirstFile(search: Search): Promise<readonly string[]> {
  for (const [at, path] of search.entries()) {
    if ((await statOf(path))?.isFile()) return search.slice(0, at + 1)
  }
  return search
}
