// The option `base`, of koaAssets and of the plugin for Vite.
import { isText } from '../../check-options.ts'
import { canonicalSegments } from '../urls/canonical-path.ts'

/** Such a path needs no escape, wherever a URL is written. */
const PLAIN = /^[\w\-.~@%/]+$/

export const BASE = {
  expected: "a path such as '/shop', percent-encoded, without a slash at its end",
  holds: (value: unknown): value is string =>
    value === '' || (isText(value) && PLAIN.test(value) && Array.isArray(canonicalSegments(value)))
}

/** The path with which the request for a URL arrives. */
export function withoutBase(path: string, base: string): string {
  return path.startsWith(`${base}/`) ? path.slice(base.length) : path
}
