// A single-page application in a browser: every page of its router can be reloaded, shared and framed.
import { test } from '../support/test.ts'
import { makeSite } from '../support/site.ts'
import { launch } from './chromium.ts'

const SHELL = `<!doctype html><title>shell</title><link rel="icon" href="data:,">
  <body><script src="/admin/app.js"></script>`
const ROUTER = 'document.body.append(decodeURIComponent(location.pathname))'

const PAGES = [
  '/admin/types/api::article.article',
  '/admin/@user@host.tld',
  `/admin/profile/${encodeURIComponent('a@b.com')}`,
  '/admin/docs/v1.2',
  `/admin/firms/${encodeURIComponent('Größe & Söhne Inc.')}`,
  '/admin/orders/7?tab=items#top'
]
const FILES = ['missing.js', 'missing.css', 'missing.png', 'app.js.map', 'missing.woff2', 'a.json']

test('every page of an application in a browser can be reloaded, and no file that is missing', async t => {
  const site = await makeSite(
    t,
    { '/dist/index.html': SHELL, '/dist/app.js': ROUTER },
    {
      env: 'production',
      fingerprint: false,
      mounts: {
        '/admin': { dir: 'dist', fallback: { file: 'index.html', except: /^\/admin\/api\// } }
      }
    }
  )
  const origin = `http://127.0.0.1:${site.port}`
  const page = await launch(t).open(`${origin}/admin/`)
  for (const path of PAGES) {
    await page.follow(origin + path)
    t.is(await page.evaluate('document.title'), 'shell', path)
    const shown = decodeURIComponent(path.replace(/[?#].*/, ''))
    t.is(await page.evaluate('document.body.innerText.trim()'), shown)
  }
  t.deepEqual(page.complaints, [])
  for (const name of [...FILES, 'api/orders']) {
    await page.follow(`${origin}/admin/${name}`)
    t.is(await page.evaluate('document.body.innerText'), 'Not Found', name)
    t.is(page.answers.get(`${origin}/admin/${name}`), 404)
  }
  await page.follow(`${origin}/admin/`)
  t.is(await page.evaluate("fetch('/admin/orders/7').then(({ status }) => status)"), 404)
  const framed = `new Promise(resolve => {
    const frame = document.createElement('iframe')
    frame.onload = () => resolve(frame.contentDocument.title)
    frame.src = '/admin/docs/v1.2'
    document.body.append(frame)
  })`
  t.is(await page.evaluate(framed), 'shell')
})
