// Gives each page a digest of its text: by it a page that is open learns whether a server that was restarted would still
// send the same.
import type { Context } from 'koa'
import { digestOf } from '../../runtime/files/digest.ts'

/** Server-Timing is the one field whose value a script can read of the page that it is in. */
export function addDigest(ctx: Context): void {
  const { body, method, response, status } = ctx
  if (method !== 'GET' || !response.is('html')) return
  if (typeof body !== 'string' && !Buffer.isBuffer(body)) return
  const digest = digestOf(Buffer.from(`${status} ${lasting(body.toString())}`))
  ctx.append('Server-Timing', `page;desc="${digest}"`)
}

const NONCE = /\bnonce=(["'])([^"']{8,})\1/g
const TOKENS =
  /<(?:input|meta)\b[^>]*(?:csrf|xsrf|token)[^>]*>|(?:csrf|xsrf|token)\w*["']?\s*[:=]\s*(["']).*?\1/gi
/** Pages are told about assets by their own versions. */
const VERSIONS = /-[\da-f]{32}\b|\bsha(?:256|384|512)-[\w+/=-]+|[?&]t=[\d.]+/g

/** Removes what differs in every response, and the versions of assets. */
function lasting(html: string): string {
  const nonces = new Set(Array.from(html.matchAll(NONCE), ([, , nonce = '']) => nonce))
  const rest = [...nonces].reduce((text, nonce) => text.replaceAll(nonce, ''), html)
  return rest.replace(TOKENS, '').replace(VERSIONS, '')
}
