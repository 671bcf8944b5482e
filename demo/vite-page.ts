/** The page /vite: React, bundled by Vite, beside the assets of the other pages. */
import { randomBytes } from 'node:crypto'
import { Router } from '@koa/router'
import { render } from './views.ts'

export const vitePage = new Router()

vitePage.get('/vite', async ctx => {
  const nonce = randomBytes(16).toString('base64')
  const [script] = ctx.assets.entryFiles('src/main.tsx').scripts
  ctx.set('Content-Security-Policy', policy(nonce, new URL(script?.href ?? '', ctx.href).origin))
  await render(ctx, 'web/vite', { nonce })
})

/** Vite's server on another port is a different origin, also for images and its WebSocket. */
function policy(nonce: string, origin: string): string {
  return [
    `default-src 'self' ${origin}`,
    `connect-src 'self' ${origin.replace('http', 'ws')}`,
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "base-uri 'none'",
    "object-src 'none'"
  ].join('; ')
}
