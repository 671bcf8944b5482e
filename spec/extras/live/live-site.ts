// Serves a project in development, with one page, on the port that is its second argument. Tells the port, then
// each request for the page. It closes its server when it is told to; nothing may keep it alive then.
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import { koaAssets } from '../../../lib/koa-assets.ts'

const [root, port] = process.argv.slice(2).map(given => JSON.parse(given) as string | number)
// A view in the server's code, which shows an edit after a restart.
const view = `${root}/view.html`
const text = existsSync(view) ? readFileSync(view, 'utf8') : ''
const app = new Koa()
app.use(koaAssets({ root: String(root), env: 'development', serve: true }))
app.use(({ assets, path, response }) => {
  if (path !== '/' && path !== '/other') return
  process.send?.('page')
  response.type = 'html'
  const nonce = randomUUID()
  response.set('Content-Security-Policy', `script-src 'nonce-${nonce}'`)
  response.body = `<!doctype html><title>${path}</title><link rel="icon" href="data:,">
    <form><input type="hidden" name="_csrf" value="${randomUUID()}"><input id="name"></form>${text}
    ${assets.stylesheet('app')}${assets.live({ nonce })}`
})
const answer = app.callback()
const server = createServer((req, res) => void answer(req, res))
server.listen(Number(port ?? 0), '127.0.0.1', () =>
  process.send?.((server.address() as AddressInfo).port)
)
process.once('message', () => {
  server.close()
  process.disconnect()
})
