import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import test from 'ava'
import type { Middleware } from 'koa'
import type { DiagnosticMessages } from '../../../lib/koa-assets.ts'
import { makeSite } from '../../support/site.ts'

test.serial('a response of ctx.sendFile is reported, with the status of the route', async t => {
  const served: DiagnosticMessages['served'][] = []
  const listener = (message: unknown) => void served.push(message as DiagnosticMessages['served'])
  subscribe('koa-fresh-assets:served', listener)
  t.teardown(() => unsubscribe('koa-fresh-assets:served', listener))
  const routes: Middleware = ctx => {
    if (ctx.path === '/gone') ctx.status = 410
    return ctx.sendFile('a.txt', { root: 'data' })
  }
  const site = await makeSite(t, { '/data/a.txt': 'x'.repeat(3000) }, { routes })
  for (const path of ['/file', '/gone']) await site.ask(path)
  t.deepEqual(
    served.map(({ path, status, reason, bytes }) => [path, status, reason, bytes]),
    [
      ['/file', 200, 'the request has no condition', 3000],
      ['/gone', 410, 'the route set the status', 3000]
    ]
  )
})
