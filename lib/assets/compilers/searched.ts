// What a compiler looked for. A file that it passed by because it was not there changes the result as
// soon as it is; so it is a dependency as much as one that was read.
import { statOf } from '../../files/disk.ts'

/** The places of one search, absolute, in the order in which the compiler tries them. */
export type Search = readonly string[]

/** Of each search what was not there, and the first that was; what comes later decides nothing. */
export async function searched(searches: Iterable<Search>): Promise<string[]> {
  const found = await Promise.all(Array.from(searches, upToFirst))
  return [...new Set(found.flat())]
}

async function upToFirst(places: Search): Promise<readonly string[]> {
  for (const [at, place] of places.entries()) {
    if ((await statOf(place))?.isFile()) return places.slice(0, at + 1)
  }
  return places
}
