/** `inline`: the element of an SVG file in the page itself, where stylesheets reach it. */

import type { OfName } from '../../runtime/views/asset-names.ts'
import { detailsOf, type Helpers, type UrlOf } from '../../runtime/views/asset-url.ts'
import { openTag, readAttributes, type Attributes } from '../../runtime/views/html.ts'
import type { WrittenIcons } from './written.ts'

export interface InlineHelpers extends ReturnType<typeof inlineHelpers> {}

/** These helpers are the same for every page. */
export const HELPERS: Helpers = {
  isPerPage: false,
  shared: {},
  of({ urlOf }) {
    const helpers = inlineHelpers(urlOf)
    return () => helpers
  }
}

/** Makes helpers that record what they write, page by page. */
export function recording(icons: WrittenIcons): Helpers {
  return {
    isPerPage: true,
    shared: {},
    of({ urlOf, host }) {
      const record = icons.recorder(host, urlOf)
      return page => inlineHelpers(urlOf, (name, html) => record(page, name, html))
    }
  }
}

type Wrote = (name: string, html: string) => void

function inlineHelpers(urlOf: UrlOf, wrote?: Wrote) {
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
      const tag = openTag('svg', ...merged(svg.attributes, readAttributes(attributes)))
      const html = `${tag}${svg.content}</svg>`
      wrote?.(name, html)
      return html
    }) as OfName<'image', Attributes>
  } as const
}

/** HTML compares the names of attributes case-insensitively, but SVG has some with capitals, such as viewBox. */
function merged(
  own: Readonly<Record<string, string>>,
  given: Attributes
): [Attributes, Attributes] {
  const spelled = new Map(Object.keys(own).map(name => [name.toLowerCase(), name]))
  const replaced = Object.entries(given).map(([name, value]) => {
    const isAdded = name === 'class' && own['class'] && typeof value === 'string'
    return [spelled.get(name) ?? name, isAdded ? `${own['class']} ${value}` : value] as const
  })
  return [own, Object.fromEntries(replaced)]
}

/** Returns the message for a name that no page may contain. */
export function notInlined(name: string): string {
  return (
    `inline() cannot write '${name}': it is no source, or the option inline does not name it, as ` +
    "inline: ['icons/**'] names .svg files that are not compiled; name a file of a third party by its whole name"
  )
}
