import test from 'ava'
import { isNavigation } from '../../lib/http/navigation.ts'
import { growsInProportion } from '../support/cost.ts'

const CHROMIUM =
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'

for (const [title, isExpected, headers] of [
  ['a browser that opens a page', true, { 'sec-fetch-mode': 'navigate', accept: CHROMIUM }],
  ['a browser that says so alone', true, { 'sec-fetch-mode': 'navigate', accept: '*/*' }],
  ['fetch() of a page', false, { 'sec-fetch-mode': 'cors', accept: 'text/html' }],
  ['a script or an image of a page', false, { 'sec-fetch-mode': 'no-cors', accept: CHROMIUM }],
  ['a web socket', false, { 'sec-fetch-mode': 'websocket', accept: 'text/html' }],
  ['an older browser', true, { accept: CHROMIUM }],
  ['text/html as the last of a list, with parameters', true, { accept: 'a/b , Text/HTML ;q=0.1' }],
  ['text/html;level=1', true, { accept: 'text/html;level=1' }],
  ['a page in a frame', true, { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }],
  ['a browser that names the destination alone', true, { 'sec-fetch-dest': 'document' }],
  ['an <object> or <embed>', false, { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'object' }],
  [
    'fetch() of which only the destination is known',
    false,
    { 'sec-fetch-dest': 'empty', accept: CHROMIUM }
  ],
  ['curl', 'without a dot', { accept: '*/*' }],
  ['curl, with parameters', 'without a dot', { accept: ' */* ; q=0.8' }],
  ['a client that takes anything after something else', false, { accept: 'application/json, */*' }],
  ['a client that takes nothing', false, { accept: '*/*;q=0' }],
  ['a request without Accept', false, {}],
  ['an empty Accept', false, { accept: '' }],
  ['any text', false, { accept: 'text/*' }],
  ['text/html;q=0', false, { accept: 'text/html;q=0' }],
  ['text/html; Q=0.000', false, { accept: '*/*, text/html ; Q=0.000' }],
  ['text/html;level=1;q=0', false, { accept: 'text/html;level=1;q=0' }],
  ['text/html;q=0.001', true, { accept: 'text/html;q=0.001' }],
  ['text/htmlx', false, { accept: 'text/htmlx, xtext/html' }]
] as const) {
  const where = isExpected === 'without a dot' ? ' to a path whose last segment has no dot' : ''
  test(`MNT-06 ${title} ${isExpected ? 'navigates' : 'does not navigate'}${where}`, t => {
    for (const method of ['GET', 'HEAD']) {
      for (const path of ['/', '/orders/7', '/v1.2/users', '/v1.2/users/']) {
        t.is(isNavigation({ method, headers }, path), isExpected !== false, path)
      }
      for (const path of ['/docs/v1.2', '/docs/v1.2/', '/.']) {
        t.is(isNavigation({ method, headers }, path), isExpected === true, path)
      }
    }
    for (const method of ['POST', 'PUT', 'OPTIONS', undefined]) {
      t.false(isNavigation({ method, headers }, '/'), method)
    }
  })
}

test('S29 reading Accept takes time in proportion to its length', t => {
  for (const piece of ['text/html;q=0,', ' ', ';', ',', 'text/html;', 'q=0;']) {
    t.true(
      growsInProportion(16_000, bytes =>
        isNavigation(
          { method: 'GET', headers: { accept: `text/html${piece.repeat(bytes / piece.length)}x` } },
          '/'
        )
      ),
      piece
    )
  }
})
