// The names and tails under which an app's pages find the entries of a manifest.
import { nearestPath } from '../../../nearest.ts'
import { tailsOf } from '../../sources/catalog.ts'
import { encodePath } from '../../urls/encode.ts'
import type { Entry, ManifestEntries } from './entries.ts'

/** A page waits while the nearest name is searched for. */
const MAX_COMPARED = 10_000
const MAX_REMEMBERED = 1000

export class NameIndex {
  readonly #names: string[] = []
  /** Undefined: several assets of one source directory have the tail. */
  readonly #tails = new Map<string, Entry | undefined>()
  /** The nearest name of each unknown one: a page that asks for it is likely to ask again. */
  readonly #nearest = new Map<string, string | undefined>()

  constructor(assets: ManifestEntries, urlPrefix: string) {
    const prefix = encodePath(`${urlPrefix}/`)
    const origins = new Map<string, number>()
    for (const entry of assets) {
      const [path] = entry
      if (path.startsWith(prefix)) {
        this.#add(decodeURIComponent(path.slice(prefix.length)), entry, origins)
      }
    }
  }

  /** As in development, the first source directory that has a tail wins. */
  #add(name: string, entry: Entry, origins: Map<string, number>): void {
    this.#names.push(name)
    const { source, from = 0 } = entry[1]
    // With its first folder, which is not part of the name.
    const path = source.slice(0, source.indexOf('/') + 1) + name
    for (const tail of tailsOf(path)) {
      const best = origins.get(tail) ?? Infinity
      if (tail === name || from > best) continue
      this.#tails.set(tail, from === best ? undefined : entry)
      origins.set(tail, from)
    }
  }

  findTail(tail: string): Entry | undefined {
    return this.#tails.get(tail)
  }

  nearest(name: string): string | undefined {
    if (this.#nearest.has(name)) return this.#nearest.get(name)
    const near = nearestPath(name, this.#names.slice(0, MAX_COMPARED))
    if (this.#nearest.size >= MAX_REMEMBERED) this.#nearest.clear()
    this.#nearest.set(name, near)
    return near
  }
}
