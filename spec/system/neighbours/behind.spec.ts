import { test } from '../../support/test.ts'
import Koa from 'koa'
import compose from 'koa-compose'
import compress from 'koa-compress'
import session from 'koa-session'
import { koaAssets } from '../../../lib/koa-assets.ts'
import { open } from '../../support/cached-site.ts'
import { openTab } from '../../extras/live/tab.ts'
import { makeProject, makeSite, type Site } from '../../support/site.ts'
import { until } from '../../support/until.ts'
import { warningsAbout } from '../../support/warnings.ts'

const TEXT = '0123456789'

const connectionsOf = ({ server }: Site) =>
  new Promise<number>(resolve => server.getConnections((_, count) => resolve(count)))

test('a koa-session in front that is read or changed is reported beside a file, as it may guard it', async t => {
  for (const [name, change, reports] of [
    ['session-unread', undefined, []],
    ['session-read', false, [/let it set Cache-Control to private/]],
    ['session-changed', true, [/let it set Cache-Control to private/, /with a Set-Cookie/]]
  ] as const) {
    const app = new Koa()
    app.keys = ['a key']
    app.use(session(app))
    app.use((ctx, next) => {
      if (change !== undefined && ctx.session && change) ctx.session.seen = Date.now()
      return next()
    })
    const root = makeProject(t, { [`files/${name}.txt`]: TEXT })
    const mounts = { '/f': { dir: 'files' } }
    app.use(koaAssets({ root, serve: true, env: 'development', apps: false, mounts }))
    const site = await open(t, app)
    const { headers } = await site.get({}, `/f/${name}.txt`)
    t.is(headers['set-cookie'] !== undefined, change === true)
    const said = warningsAbout(name)
    t.is(said.length, reports.length)
    for (const [at, report] of reports.entries()) t.regex(said[at] ?? '', report)
  }
})

test('what is in front may set fields and cookies, and compress, and a closed tab is not an error', async t => {
  const site = await makeSite(
    t,
    { 'css/app.css': 'a{}' },
    {
      front: compose([
        compress({ threshold: 0 }),
        async (ctx, next) => {
          await next()
          ctx.set('X-Request', 'seen')
          ctx.cookies.set('session', 'renewed')
        }
      ])
    }
  )
  const { status } = await site.ask('/assets/-/live', { method: 'HEAD' })
  t.is(status, 200)
  const tab = await openTab(t, site.port, 'use=app.css')
  await until(() => tab.told().length === 1, 'the first message')
  const { headers } = tab.answer
  t.is(headers['content-encoding'], undefined, 'events come at once')
  t.is(headers['x-request'], 'seen')
  t.regex(String(headers['set-cookie']), /^session=renewed/)
  tab.close()
  await until(async () => (await connectionsOf(site)) === 0, 'the connection is closed')
  t.deepEqual(site.errors, [])
})
