// Gives each page a digest of its text, by which an open page learns whether a restarted server would still send the
// same.
import type { Context } from 'koa'
import { digestOf } from '../../runtime/files/digest.ts'

/** Adds the digest as Server-Timing, the only field of its own page that a script can read. */
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

/** Removes the parts that differ in every response, and the versions of assets. */
function lasting(html: string): string {
  const nonces = new Set(Array.from(html.matchAll(NONCE), ([, , nonce = '']) => nonce))
  const rest = [...nonces].reduce((text, nonce) => text.replaceAll(nonce, ''), html)
  return rest.replace(TOKENS, '').replace(VERSIONS, '')
}
