/** The page /vite: React, bundled by Vite, beside the assets of the other pages. */
import { randomBytes } from 'node:crypto'
import { Router } from '@koa/router'
import { viteOrigin } from './assets.config.ts'
import { render } from './views.ts'

export const vitePage = new Router()

vitePage.get('/vite', async ctx => {
  const nonce = randomBytes(16).toString('base64')
  ctx.set('Content-Security-Policy', policy(nonce))
  await render(ctx, 'web/vite', { nonce })
})

/** Vite's server on another port is another origin, also for images and for its WebSocket. */
function policy(nonce: string): string {
  const vite = viteOrigin ? ` ${viteOrigin}` : ''
  return [
    `default-src 'self'${vite}`,
    `connect-src 'self'${vite.replace('http', 'ws')}`,
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "base-uri 'none'",
    "object-src 'none'"
  ].join('; ')
}
