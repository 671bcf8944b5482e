// Records in development which icons pages contain: a browser does not request them, so that nothing else knows.
import {
  detailsOf,
  withoutQuery,
  type Helpers,
  type InlineSvg,
  type UrlOf
} from '../../runtime/views/asset-url.ts'

export interface WrittenIcon {
  /** The URL path of its file, without the base. */
  readonly path: string
  /** The size in bytes of the element that was written last, as a part of the page. */
  readonly size: number
  /** The number of them in the page that has the most. */
  readonly times: number
  /** Reads its file again. @throws AssetError for one that pages may not contain now */
  readonly read: () => InlineSvg | undefined
}

export class WrittenIcons {
  readonly helpers: Helpers
  readonly #views: Map<string, WrittenIcon>[] = []

  constructor(helpersOf: (icons: WrittenIcons) => Helpers) {
    this.helpers = helpersOf(this)
  }

  /** The icons that were written since the server started, in the order in which they first were. */
  get all(): readonly WrittenIcon[] {
    return this.#views.flatMap(icons => [...icons.values()])
  }

  /** Returns a function that records the icons of one app. */
  recorder(host: string, urlOf: UrlOf) {
    const icons = new Map<string, WrittenIcon>()
    this.#views.push(icons)
    const pages = new WeakMap<object, Map<string, number>>()
    return (page: object, given: string, html: string): void => {
      const name = withoutQuery(given)
      const counts = pages.get(page) ?? new Map<string, number>()
      const times = (counts.get(name) ?? 0) + 1
      pages.set(page, counts.set(name, times))
      icons.set(name, {
        path: urlOf(name).url.slice(host.length),
        size: Buffer.byteLength(html),
        times: Math.max(times, icons.get(name)?.times ?? 0),
        read: () => detailsOf(urlOf(name)).svg
      })
    }
  }
}

/** Returns the icons in the pages of a process, from the running parts of its extras; none in production. */
export function iconsIn(running: readonly object[]): readonly WrittenIcon[] {
  return running.find(each => each instanceof WrittenIcons)?.all ?? []
}
