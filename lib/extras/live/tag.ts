// The helper `live`: the script tag of the live channel.
import type { Helpers } from '../../runtime/views/asset-url.ts'
import { openTag, withoutKeywords } from '../../runtime/views/html.ts'
import { check, text, type Expectation } from '../../runtime/check-options.ts'

export interface LiveTagOptions {
  /** The nonce of a Content-Security-Policy without `unsafe-inline`. */
  readonly nonce?: string | undefined
}

const LIVE_OPTIONS = { nonce: text } satisfies Record<keyof LiveTagOptions, Expectation>

export interface LiveHelpers extends ReturnType<typeof liveHelpers> {}

/** @param scripts the URL paths of the live scripts, the first of which may run at any time */
export function helpersOf(scripts: readonly string[]): Helpers {
  const [live, none] = [liveHelpers(scripts), liveHelpers([])]
  return { of: () => (_, isLive) => (isLive ? live : none) }
}

/** @param scripts none for a page that must not have them */
function liveHelpers(scripts: readonly string[]) {
  return {
    /**
     * Returns the script of the live channel: an edited stylesheet is replaced in the page, an edit of anything else
     * that the page uses reloads it, and an error is shown. Empty unless the environment is `development` and the
     * request comes from this machine (the option `live`).
     * @example
     * live({ nonce })
     * // <script src="/assets/-/live.js" type="module" async="async" nonce="…"></script>
     * @throws {TypeError} for an unknown option
     */
    live: (options: LiveTagOptions = {}): string => {
      check(withoutKeywords(options), LIVE_OPTIONS, 'live.')
      const tags = scripts.map((src, at) => {
        // The first one starts early to see what the page requests: browsers list only 250 requests.
        const attributes = { src, type: 'module', async: at === 0 || null, nonce: options.nonce }
        return `${openTag('script', attributes)}</script>`
      })
      return tags.join('')
    }
  } as const
}
