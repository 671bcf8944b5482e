// The option of hot replacement.
import { flag, withDefault, type Expectation } from '../../runtime/check-options.ts'

export interface HotOptions {
  /**
   * An edit of a module replaces it in pages with `ctx.assets.live()`, if it or its importers accept that by
   * `import.meta.hot`. `false`: it reloads the page, and `import.meta.hot` is undefined. Default: `true`.
   */
  hot?: boolean | undefined
}

export const HOT = { hot: withDefault(flag, true) } satisfies Record<keyof HotOptions, Expectation>
