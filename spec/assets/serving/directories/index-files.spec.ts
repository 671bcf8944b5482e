// A folder's index file, and the only redirect there is: MNT-05, S5.
import { rmSync } from 'node:fs'
import test from 'ava'
import mount from 'koa-mount'
import type { Context } from 'koa'
import { makeFront } from '../../../support/front.ts'
import { ask } from '../../../support/raw.ts'
import { makeProject, makeSite, type Files } from '../../../support/site.ts'
import { ENVIRONMENTS } from '../../../support/ways.ts'

const FILES: Files = {
  '/html/index.html': 'home',
  '/html/docs/index.html': 'docs',
  '/html/docs/a b/index.html': 'a b',
  '/html/empty/other.html': 'other',
  '/html/docs/page.html': 'page',
  '/html/blog': 'a file'
}

for (const [environment, options] of ENVIRONMENTS) {
  for (const [at, mounts] of Object.entries({
    '': { '/': { dir: 'html', index: 'index.html' } },
    '/site': { '/site': { dir: 'html', index: 'index.html' } }
  })) {
    const where = `in a mount at ${at || '/'}, ${environment}`

    test(`MNT-05 a folder’s URL gets its index file, ${where}`, async t => {
      const site = await makeSite(t, FILES, { ...options, mounts })
      for (const [path, text] of [
        ['/', 'home'],
        ['/docs/', 'docs'],
        ['/docs/?q=1', 'docs'],
        ['/docs/a%20b/', 'a b']
      ] as const) {
        const { status, headers, ...answer } = await site.ask(at + path)
        t.deepEqual([path, status, answer.text], [path, 200, text])
        t.is(headers['content-type'], 'text/html; charset=utf-8')
        const again = await site.ask(at + path, { headers: { 'if-none-match': headers.etag } })
        t.is(again.status, 304)
        const part = await site.ask(at + path, { headers: { range: 'bytes=0-0' } })
        t.deepEqual([part.status, part.text], [206, text[0]])
        const head = await site.ask(at + path, { method: 'HEAD' })
        t.deepEqual([head.status, head.text], [200, ''])
        t.is((await site.ask(at + path, { method: 'POST' })).status, 405)
      }
      t.deepEqual(site.errors, [])
    })

    test(`MNT-05 a folder’s URL without its slash is redirected there, with its query, ${where}`, async t => {
      const site = await makeSite(t, FILES, { ...options, mounts })
      for (const [path, to] of [
        ['/docs', '/docs/'],
        ['/docs?', '/docs/?'],
        ['/docs?q=1&r=/../x', '/docs/?q=1&r=/../x'],
        ['/docs?q=//evil.example', '/docs/?q=//evil.example'],
        ['/docs/a%20b', '/docs/a%20b/']
      ] as const) {
        for (const method of ['GET', 'HEAD']) {
          const { status, headers } = await site.ask(at + path, { method })
          t.deepEqual([status, headers.location], [301, at + to])
          t.is(headers['cache-control'], 'no-cache', 'a file may take the place of the folder')
        }
      }
      if (at !== '') t.is((await site.ask(at)).headers.location, `${at}/`)
    })

    test(`MNT-05 a folder without an index file, and a file with a slash, are not ours, ${where}`, async t => {
      const site = await makeSite(t, FILES, { ...options, mounts })
      for (const path of ['/empty', '/empty/', '/none/', '/none', '/blog/', '/docs/page.html/']) {
        for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
          const { status, headers } = await site.ask(at + path, { method })
          t.deepEqual([path, status, headers.location], [path, 404, undefined])
        }
      }
      for (const method of ['POST', 'PUT', 'OPTIONS']) {
        const { status, headers } = await site.ask(`${at}/docs`, { method })
        t.deepEqual([status, headers.location], [404, undefined], `${method} /docs`)
      }
      site.write('/html/none/index.html', 'there now')
      t.is((await site.ask(`${at}/none/`)).text, 'there now')
      t.is((await site.ask(`${at}/none`)).status, 301)
      rmSync(site.at('/html/none'), { recursive: true })
      t.is((await site.ask(`${at}/none/`)).status, 404)
      t.is((await site.ask(`${at}/none`)).status, 404)
      t.deepEqual(site.errors, [])
    })
  }
}

test('MNT-05 of two mounts the longer one that has the index file responds', async t => {
  const site = await makeSite(
    t,
    {
      '/short/x/a/index.html': 'short',
      '/short/x/b/index.html': 'short',
      '/long/a/index.htm': 'long'
    },
    {
      mounts: {
        '/x': { dir: 'long', index: 'index.htm' },
        '/': { dir: 'short', index: 'index.html' }
      }
    }
  )
  t.is((await site.ask('/x/a/')).text, 'long')
  t.is((await site.ask('/x/b/')).text, 'short')
  t.is((await site.ask('/x/b')).headers.location, '/x/b/')
})

test('MNT-05 folders are redirected where misses are remembered as well, that of the mount itself too', async t => {
  const mounts = { '/site': { dir: 'html', index: 'index.html' } }
  const site = await makeSite(t, FILES, {
    mounts,
    env: 'production',
    fingerprint: false,
    revalidate: 3600
  })
  for (let times = 0; times < 4; times++) {
    for (const path of ['/site/none', '/site/docs/none', '/site/none/']) {
      t.is((await site.ask(path)).status, 404)
    }
    t.is((await site.ask('/site')).headers.location, '/site/')
    t.is((await site.ask('/site/docs')).headers.location, '/site/docs/')
    t.is((await site.ask('/site/')).text, 'home')
  }
})

test('MNT-05 without `index` nothing is redirected, and a route has the path', async t => {
  const routes = (ctx: Context) => void (ctx.body = ctx.path)
  const site = await makeSite(t, FILES, { mounts: { '/': 'html' }, routes })
  for (const path of ['/', '/docs', '/docs/']) t.is((await site.ask(path)).text, path)
})

test('S5 no spelling of a folder is redirected to another host, or anywhere but to itself', async t => {
  const root = makeProject(t, {
    'html/docs/index.html': 'docs',
    'html/evil.example/index.html': 'evil',
    'html/docs/evil.example/index.html': 'evil'
  })
  const targets = [
    ...[
      '//evil.example',
      '//evil.example/',
      '///evil.example',
      '/\\evil.example',
      '\\\\evil.example'
    ],
    ...[
      '/%5Cevil.example',
      '/%5cevil.example',
      '/%2F%2Fevil.example',
      '/%2fevil.example',
      '/%09/docs'
    ],
    ...[
      '//docs',
      '/./docs',
      '/docs/..',
      '/docs/.',
      '/x/../docs',
      '/%2e/docs',
      '/%64ocs',
      '/docs%2F'
    ],
    ...['//evil.example/docs', '/docs//evil.example', '/docs/%2Fevil.example', '/docs%0d%0aX:y'],
    ...['/;@evil.example', '/@evil.example', '/:80', '/http://evil.example', '/evil.example:80']
  ]
  for (const env of ['development', 'production']) {
    for (const wrap of [undefined, (assets: Parameters<typeof mount>[1]) => mount('/in', assets)]) {
      const at = wrap ? '/in' : ''
      const { port } = await makeFront(t, {
        root,
        env,
        fingerprint: false,
        ...(wrap && { wrap }),
        mounts: { '/': { dir: 'html', index: 'index.html' } }
      })
      for (const target of targets) {
        for (const sent of [target, at + target, target.replace(/^[/\\]/, '$&in/')]) {
          const { status, headers } = await ask(port, 'GET', sent)
          t.not(status, 301, sent)
          t.is(headers.location, undefined, sent)
        }
      }
      for (const folder of ['/docs', '/evil.example', '/docs/evil.example']) {
        for (const authority of ['', 'http://evil.example', 'https://evil.example:8080']) {
          const { status, headers } = await ask(port, 'GET', `${authority}${at}${folder}?q=1`)
          t.deepEqual([status, headers.location], [301, `${at}${folder}/?q=1`])
        }
      }
    }
  }
})

test('S5 a rewritten URL is redirected to where the browser is', async t => {
  const files = { '/html/docs/index.html': 'docs' }
  const mounts = { '/': { dir: 'html', index: 'index.html' } }
  const rewrite = (from: RegExp, to: string) => (ctx: Context, next: () => Promise<unknown>) => {
    ctx.url = ctx.url.replace(from, to)
    return next()
  }
  const prefixed = await makeSite(t, files, { mounts, front: rewrite(/^\/en/, '') })
  t.is((await prefixed.ask('/en/docs?q=1')).headers.location, '/en/docs/?q=1')
  const renamed = await makeSite(t, files, { mounts, front: rewrite(/^\/manual/, '/docs') })
  t.is((await renamed.ask('/manual')).headers.location, '/docs/')
  const stripped = await makeSite(t, files, { mounts, front: rewrite(/^\/\/evil\.example/, '') })
  t.is((await stripped.ask('//evil.example/docs')).headers.location, '/docs/')
})
