// Names and values of fields, nonces, and media types.
import { extname } from 'node:path'
import mime from 'mime-types'

/** Fields, directives and parameters have a token as their name (RFC 9110 section 5.6.2). */
export const TOKEN = /^[!#$%&'*+\-.^_`|~\w]+$/
// A value contains no control characters except tabs; obs-text has one byte per character (section 5.5).
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

export function isFieldValue(value: unknown): value is string {
  return typeof value === 'string' && VALUE.test(value)
}

/** Marks a failure that koaHttpCache made `no-store`: a response that replaces it has its own lifetime. */
export const UNSTORED = Symbol.for('koa-fresh-assets.unstored')

const POLICIES = ['Content-Security-Policy', 'Content-Security-Policy-Report-Only']

/** Returns the names of policies with a nonce, which is made for this response only. */
export function policiesWithNonce(response: { getHeader(name: string): unknown }) {
  return POLICIES.filter(name => /'nonce-/i.test(String(response.getHeader(name))))
}

/** Gives `.cjs`, as used by UMD builds, a script's type: browsers do not run application/node, as mime-types has it. */
function lookUp(path: string): string {
  return /\.cjs$/i.test(path) ? 'text/javascript' : mime.lookup(path) || ''
}

/** Returns `image/png` for the path of one; undefined for an unknown extension. */
export function mediaTypeOf(path: string): string | undefined {
  return (extname(path) && lookUp(path)) || undefined
}

/** Returns the value of Content-Type: text is UTF-8, and an unknown type is `application/octet-stream`. */
export function contentType(path: string): string {
  const type = lookUp(path) || 'application/octet-stream'
  return type.startsWith('text/') ? `${type}; charset=utf-8` : type
}

// These types compress well; images and woff2 are compressed already.
const COMPRESSIBLE =
  /^text\/|[/+](?:json|xml|javascript|wasm|svg)$|\+(?:json|xml)$|^font\/(?:ttf|otf)$|^application\/(?:vnd\.ms-fontobject|x-font-ttf)$/

export const isCompressibleType = (path: string): boolean => COMPRESSIBLE.test(lookUp(path))
