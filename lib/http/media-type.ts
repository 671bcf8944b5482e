// Media types by file extension (RFC 9110 section 8.3), from the IANA registry by way of mime-db.
import { extname } from 'node:path'
import mime from 'mime-types'

/** `image/png`; undefined for an unknown extension, and without one. */
export function mediaTypeOf(path: string): string | undefined {
  return (extname(path) && mime.lookup(path)) || undefined
}

/** The value of Content-Type: text is UTF-8, and what is unknown is `application/octet-stream`. */
export function contentType(path: string): string {
  const type = mime.lookup(path) || 'application/octet-stream'
  return type.startsWith('text/') ? `${type}; charset=utf-8` : type
}

// Types beside text/* whose bytes compress; images and woff2 are compressed already.
const COMPRESSIBLE =
  /^text\/|[/+](?:json|xml|javascript|wasm|svg)$|\+(?:json|xml)$|^font\/(?:ttf|otf)$|^application\/(?:vnd\.ms-fontobject|x-font-ttf)$/

/** Whether files of this type are worth compressing. */
export function isCompressibleType(path: string): boolean {
  return COMPRESSIBLE.test(mime.lookup(path) || '')
}
