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
  ['curl', false, { accept: '*/*' }],
  ['a request without Accept', false, {}],
  ['an empty Accept', false, { accept: '' }],
  ['any text', false, { accept: 'text/*' }],
  ['text/html;q=0', false, { accept: 'text/html;q=0' }],
  ['text/html; Q=0.000', false, { accept: '*/*, text/html ; Q=0.000' }],
  ['text/html;level=1;q=0', false, { accept: 'text/html;level=1;q=0' }],
  ['text/html;q=0.001', true, { accept: 'text/html;q=0.001' }],
  ['text/htmlx', false, { accept: 'text/htmlx, xtext/html' }]
] as const) {
  test(`MNT-06 ${title} ${isExpected ? 'navigates' : 'does not navigate'}`, t => {
    for (const method of ['GET', 'HEAD']) t.is(isNavigation({ method, headers }), isExpected)
    for (const method of ['POST', 'PUT', 'OPTIONS', undefined]) {
      t.false(isNavigation({ method, headers }), method)
    }
  })
}

test('S29 reading Accept takes time in proportion to its length', t => {
  for (const piece of ['text/html;q=0,', ' ', ';', ',', 'text/html;', 'q=0;']) {
    t.true(
      growsInProportion(16_000, bytes =>
        isNavigation({
          method: 'GET',
          headers: { accept: `text/html${piece.repeat(bytes / piece.length)}x` }
        })
      ),
      piece
    )
  }
})
