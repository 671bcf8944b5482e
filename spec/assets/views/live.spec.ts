import test from 'ava'
import { makeViewHelpers } from '../../../lib/assets/views/view-helpers.ts'

const helpers = makeViewHelpers(
  {
    apps: [
      { name: 'web', path: '/' },
      { name: 'admin', path: '/admin' }
    ],
    host: 'https://cdn.example',
    liveScript: '/assets/-/live.js'
  },
  () => ({
    resolve: () => ({ path: '' }),
    modules: () => [],
    imports: new Map(),
    moduleAt: () => undefined,
    version: () => ''
  })
)

test('live() writes a script of this server with the nonce, in every app of a live page', t => {
  const { live, app } = helpers('web', true)
  t.is(live(), '<script src="/assets/-/live.js" type="module" async="async"></script>')
  const tag =
    '<script src="/assets/-/live.js" type="module" async="async" nonce="&quot;&gt;"></script>'
  t.is(live({ nonce: '">' }), tag)
  t.is(app('admin').live({ nonce: '">' }), tag)
})

test('live() writes nothing in any other page', t => {
  t.is(helpers('web').live({ nonce: 'n' }), '')
  t.is(helpers('web', false).app('admin').live(), '')
})

test('live() rejects an unknown option in every page', t => {
  for (const isLive of [true, false]) {
    const { live } = helpers('web', isLive)
    t.throws(() => live({ nonse: 'n' } as object), { instanceOf: TypeError, message: /nonce/ })
    t.throws(() => live({ q: 1, __keywords: true } as object), {
      message: "unknown option 'live.q': known options: nonce"
    })
  }
})
