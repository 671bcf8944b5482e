// Which host, protocol and address an application with `app.proxy = true` believes behind nginx and Varnish.
import Koa from 'koa'
import { freePort } from '../../demo/deploy/stack.ts'
import { ask, listen, makeProject, test, type ExecutionContext } from '../support/index.ts'
import { nginxInFront, proxyInFront, runVarnish, varnishInFront } from './in-front.ts'

const EVIL = {
  'X-Forwarded-Host': 'evil.example',
  'X-Forwarded-Proto': 'https',
  'X-Forwarded-For': '6.6.6.6'
}

/** An application whose only page says what it believes; its port. */
function believer(t: ExecutionContext): Promise<number> {
  const app = new Koa()
  app.proxy = true
  app.use(ctx => {
    if (ctx.path !== '/health') ctx.set('Cache-Control', 'public, max-age=60')
    ctx.body = `${ctx.ip} ${ctx.href}`
  })
  return listen(t, app.callback())
}

type InFront = (t: ExecutionContext, port: number) => Promise<number>

const SERVERS: Readonly<Record<string, InFront>> = {
  'nginx as a proxy': proxyInFront,
  'nginx with the files': (t, port) =>
    nginxInFront(t, makeProject(t, { 'public/app.js': '' }), port),
  Varnish: varnishInFront
}

for (const [name, inFront] of Object.entries(SERVERS)) {
  test(`${name} overwrites the host, protocol and address that a client claims`, async t => {
    const port = await inFront(t, await believer(t))
    const expected = '127.0.0.1 http://shop.example:8080/page'
    for (const headers of [EVIL, {}]) {
      const asked = { headers: { Host: 'shop.example:8080', ...headers } }
      t.is((await ask(port, '/page', asked)).text, expected)
    }
  })
}

test('what a proxy in front of Varnish says is trusted only at the listener for that proxy', async t => {
  const app = await believer(t)
  const proxiedPort = await freePort()
  const { port } = await runVarnish(t, [app], { proxiedPort })
  const headers = { ...EVIL, Host: 'shop.example' }
  const page = async (port: number) => (await ask(port, '/page', { headers })).text
  t.is(await page(proxiedPort), '6.6.6.6 https://shop.example/page')
  t.is(await page(port), '127.0.0.1 http://shop.example/page', 'not the copy for https')
  const nginx = await proxyInFront(t, proxiedPort)
  t.is(await page(nginx), '127.0.0.1 http://shop.example/page')
})
