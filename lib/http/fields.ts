// What the name and the value of a field can contain, nonces, and media types.
import { extname } from 'node:path'
import mime from 'mime-types'

/** RFC 9110 section 5.6.2: the name of a field, of a directive, of a parameter. */
export const TOKEN = /^[!#$%&'*+\-.^_`|~\w]+$/
// Section 5.5: tabs, and characters that are one byte each (obs-text), but no other control characters.
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

export function isFieldValue(value: unknown): value is string {
  return typeof value === 'string' && VALUE.test(value)
}

const POLICIES = ['Content-Security-Policy', 'Content-Security-Policy-Report-Only']

/** The policies of a response that have a nonce, which is made for it alone. */
export function policiesWithNonce(response: {
  getHeader(name: string): number | string | readonly string[] | undefined
}): readonly string[] {
  return POLICIES.filter(name => /'nonce-/i.test(String(response.getHeader(name))))
}

/** `image/png`; undefined for an unknown extension, and without one. */
export function mediaTypeOf(path: string): string | undefined {
  return (extname(path) && mime.lookup(path)) || undefined
}

/** The value of Content-Type: text is UTF-8, and what is unknown is `application/octet-stream`. */
export function contentType(path: string): string {
  const type = mime.lookup(path) || 'application/octet-stream'
  return type.startsWith('text/') ? `${type}; charset=utf-8` : type
}

// Types other than text/* that compress well; images and woff2 are compressed already.
const COMPRESSIBLE =
  /^text\/|[/+](?:json|xml|javascript|wasm|svg)$|\+(?:json|xml)$|^font\/(?:ttf|otf)$|^application\/(?:vnd\.ms-fontobject|x-font-ttf)$/

/** Whether files of this type are worth compressing. */
export function isCompressibleType(path: string): boolean {
  return COMPRESSIBLE.test(mime.lookup(path) || '')
}
