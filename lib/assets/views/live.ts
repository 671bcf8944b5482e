/** `live`: the script that shows edits in a page without reloading it. */

import { check, text, type Expectation } from '../../options.ts'
import { openTag, withoutKeywords } from './html.ts'

export interface LiveTagOptions {
  /** For a Content-Security-Policy without `unsafe-inline`. */
  readonly nonce?: string | undefined
}

const OPTIONS = { nonce: text } satisfies Record<keyof LiveTagOptions, Expectation>

/** @param src undefined for a page that must not have it */
export function liveHelpers(src: string | undefined) {
  return {
    /**
     * The script of the live channel: an edited stylesheet or image is replaced in the page, an edited script
     * reloads it, and an error is shown. Empty unless the environment is `development` and the request
     * comes from this machine (the option `live`).
     *
     * @example
     * live({ nonce })
     * // <script src="/assets/-/live.js" type="module" async="async" nonce="…"></script>
     * @throws {TypeError} for an unknown option
     */
    live: (options: LiveTagOptions = {}): string => {
      check(withoutKeywords(options), OPTIONS, 'live.')
      if (src === undefined) return ''
      // Early, so that it sees what the page requests: browsers keep a list of 250 requests alone.
      const attributes = { src, type: 'module', async: true, nonce: options.nonce }
      return `${openTag('script', attributes)}</script>`
    }
  } as const
}
