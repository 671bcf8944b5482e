import { flag, withDefault, type Expectation } from '../../runtime/check-options.ts'

export interface RouteOptions {
  /**
   * `ctx.preload` also sends 103 Early Hints (RFC 8297). Default: `false`.
   *
   * Set it only if everything in front of this process forwards 103 responses: with nginx before 1.29
   * and `proxy_http_version 1.1` the page hangs.
   */
  earlyHints?: boolean | undefined
}

export const ROUTES = {
  earlyHints: withDefault(flag, false)
} satisfies Record<keyof RouteOptions, Expectation>
