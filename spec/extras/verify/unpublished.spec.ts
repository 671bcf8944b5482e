// What no precompile can publish is said by each of the modes.
import test from 'ava'
import { verify } from '../../../lib/koa-assets.ts'
import { run } from '../../support/fingerprinted.ts'
import { makeSite, writeFiles } from '../../support/site.ts'
import { until } from '../../support/until.ts'
import { warningsAbout } from '../../support/warnings.ts'

test('FPR-05 a source whose path is that of something else is refused by precompile and verify, and logged in development, with both places', async t => {
  const site = await makeSite(t, { 'app.css': 'a{}', '/apps/admin/assets/menu.css': 'b{}' })
  const { root } = site
  await run({ root })
  t.deepEqual((await verify({ root })).problems, [])
  writeFiles(root, {
    'apps/web/assets/images/admin/x.svg': '',
    'apps/web/assets/docs/admin': '',
    'apps/web/assets/docs/menu': '',
    'apps/web/assets/images/menu/x.svg': ''
  })
  const assets = "the assets of the app 'admin' (apps/admin)"
  const own = 'apps/web/assets'
  const expected = [
    [
      '/assets/admin',
      `${own}/docs/admin cannot be published as /assets/admin, a folder in the URL of ${assets}: rename one of them`
    ],
    [
      '/assets/admin/x.svg',
      `${own}/images/admin/x.svg cannot be published as /assets/admin/x.svg, where ${assets} are: rename or exclude it, or set apps.admin.path`
    ],
    [
      '/assets/menu',
      `${own}/docs/menu cannot be published as /assets/menu, a folder in the URL of ${own}/images/menu/x.svg: rename one of them`
    ]
  ] as const
  const messages = expected.map(([, message]) => message)
  await t.throwsAsync(run({ root }), {
    message: `Precompile failed with 3 errors; nothing was published\n- ${messages.join('\n- ')}`
  })
  t.deepEqual(
    (await verify({ root })).problems,
    expected.map(([path, message]) => ({ path, message: `has no file: ${message}` }))
  )
  for (const [path, message] of expected) {
    t.is((await site.ask(path)).status, 404, path)
    await until(() => warningsAbout(`asked for ${path}`).length > 0, `${path} is logged`)
    t.regex(warningsAbout(`asked for ${path}`).join('\n'), new RegExp(message.slice(0, 40)))
    t.true(warningsAbout(message).length > 1, 'when it is listed as well')
  }
})
