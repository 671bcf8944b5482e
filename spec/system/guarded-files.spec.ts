// Files behind a guard, through Varnish with the VCL of demo/deploy.
import { test } from '../support/test.ts'
import type { Middleware } from 'koa'
import { withFingerprint } from '../../lib/runtime/urls/spelling.ts'
import { digestOf } from '../../lib/runtime/files/digest.ts'
import { ask } from '../support/ask.ts'
import { makeSite } from '../support/site.ts'
import { health, varnishInFront } from './in-front.ts'

const TEXT = 'a { color: red }'
const PRINTED = withFingerprint('/assets/a.css', digestOf(TEXT))

test('Varnish gives nobody without a password a file that a guard let through', async t => {
  const front: Middleware = (ctx, next) => {
    if (ctx.path !== '/health' && ctx.get('Authorization') === '') ctx.throw(401)
    return health(ctx, next)
  }
  const site = await makeSite(
    t,
    { [`/public${PRINTED}`]: TEXT, '/dist/a.css': TEXT, '/dist/b-12345678.css': TEXT },
    {
      env: 'production',
      apps: { web: { compile: false, fingerprint: false } },
      mounts: {
        '/m': { dir: 'dist', immutable: /-\w{8}\./, cacheControl: 'public, max-age=604800' }
      },
      front
    }
  )
  const port = await varnishInFront(t, site.port)
  const headers = { authorization: 'Basic YTpi' }
  for (const path of [PRINTED, '/m/a.css', '/m/b-12345678.css']) {
    t.is((await ask(port, path)).status, 401, path)
    t.is((await ask(port, path, { headers })).text, TEXT, path)
    t.is((await ask(port, path)).status, 401, path)
  }
})
