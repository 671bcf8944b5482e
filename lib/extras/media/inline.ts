/** `inline`: the element of an SVG file in the page itself, where stylesheets reach it. */

import type { OfName } from '../../runtime/views/asset-names.ts'
import { detailsOf, withoutQuery, type Helpers, type UrlOf } from '../../runtime/views/asset-url.ts'
import type { InlineSvg } from '../../runtime/urls/manifest.ts'
import { openTag, readAttributes, type Attributes } from '../../runtime/views/html.ts'
import { mediaHelpers } from './media.ts'

export interface MediaHelpers
  extends ReturnType<typeof mediaHelpers>, ReturnType<typeof inlineHelpers> {}

/** Makes the helpers of this extra: the same for every page, unless the icons in it are recorded. */
export function helpersOf(icons?: WrittenIcons): Helpers {
  return {
    isPerPage: icons !== undefined,
    shared: {},
    of({ urlOf, host }) {
      const helpers = { ...mediaHelpers(urlOf), ...inlineHelpers(urlOf) }
      const record = icons?.recorder(host, urlOf)
      if (!record) return () => helpers
      return page => ({
        ...helpers,
        ...inlineHelpers(urlOf, (name, html) => record(page, name, html))
      })
    }
  }
}

function inlineHelpers(urlOf: UrlOf, wrote?: (name: string, html: string) => void) {
  return {
    /**
     * Returns the `<svg>` of a file that the option `inline` names. Attributes replace those of the file, but for
     * `class`, which is added.
     *
     * @example
     * inline('icons/cart.svg', { class: 'icon', 'aria-hidden': 'true' })
     * // <svg viewBox="0 0 16 16" class="icon" aria-hidden="true"><path d="M0 0h16"></path></svg>
     * @throws {TypeError} for a file that the option `inline` does not name
     * @throws CompileError in development, for a file that a page may not contain
     */
    inline: ((name: string, attributes: Attributes = {}) => {
      const { svg } = detailsOf(urlOf(name))
      if (!svg) throw new TypeError(notInlined(name))
      const tag = openTag('svg', svg.attributes, merged(svg.attributes, readAttributes(attributes)))
      const html = `${tag}${svg.content}</svg>`
      wrote?.(name, html)
      return html
    }) as OfName<'image', Attributes>
  } as const
}

/** HTML compares the names of attributes case-insensitively, but SVG has some with capitals, such as viewBox. */
function merged(own: InlineSvg['attributes'], given: Attributes): Attributes {
  const spelled = new Map(Object.keys(own).map(name => [name.toLowerCase(), name]))
  const replaced = Object.entries(given).map(([name, value]) => {
    const isAdded = name === 'class' && own['class'] && typeof value === 'string'
    return [spelled.get(name) ?? name, isAdded ? `${own['class']} ${value}` : value] as const
  })
  return Object.fromEntries(replaced)
}

/** Returns the message for a name that no page may contain. */
export function notInlined(name: string): string {
  return (
    `inline() cannot write '${name}': it is no source, or the option inline does not name it, as ` +
    "inline: ['icons/**'] names .svg files that are not compiled; name a file of a third party by its whole name"
  )
}

interface WrittenIcon {
  /** The URL path of its file, without the base. */
  readonly path: string
  /** The size in bytes of the element that was written last, as a part of the page. */
  readonly size: number
  /** The number of them in the page that has the most. */
  readonly times: number
  /** Reads its file again. @throws AssetError for one that pages may not contain now */
  readonly read: () => InlineSvg | undefined
}

/** Records in development which icons pages contain: a browser does not request them, so that nothing else knows. */
export class WrittenIcons {
  readonly helpers = helpersOf(this)
  readonly #apps: Map<string, WrittenIcon>[] = []

  /** The icons that were written since the server started, in the order in which they first were. */
  get all(): readonly WrittenIcon[] {
    return this.#apps.flatMap(icons => [...icons.values()])
  }

  /** Returns a function that records the icons of one app. */
  recorder(host: string, urlOf: UrlOf) {
    const icons = new Map<string, WrittenIcon>()
    this.#apps.push(icons)
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
