/** The tag of the live channel. */

import test from 'ava'
import { helpersOf } from '../../../lib/extras/live/tag.ts'
import { makeHelpers } from '../../assets/views/view-helpers-site.ts'

const helpers = makeHelpers({ host: 'https://cdn.example' }, undefined, [
  helpersOf('/assets/-/live.js')
])

test('live() writes a script of this server with the nonce, in every app of a live page, and nothing in any other; an unknown option is an error', t => {
  const { live, app } = helpers('web', true)
  t.is(live(), '<script src="/assets/-/live.js" type="module" async="async"></script>')
  const tag =
    '<script src="/assets/-/live.js" type="module" async="async" nonce="&quot;&gt;"></script>'
  t.is(live({ nonce: '">' }), tag)
  t.is(app('admin').live({ nonce: '">' }), tag)
  t.is(helpers('web').live({ nonce: 'n' }), '')
  t.is(helpers('web', false).app('admin').live(), '')
  for (const isLive of [true, false]) {
    const { live } = helpers('web', isLive)
    t.throws(() => live({ nonse: 'n' } as object), { instanceOf: TypeError, message: /nonce/ })
    t.throws(() => live({ q: 1, __keywords: true } as object), {
      message: "unknown option 'live.q': known options: nonce"
    })
  }
})
