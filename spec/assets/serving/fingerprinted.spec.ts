// Requests for fingerprinted names.
import test from 'ava'
import { appendFileSync, statSync, unlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { clean, verify } from '../../../lib/index.ts'
import {
  digestOf,
  isPublic,
  makeFingerprinted,
  MODES,
  placed,
  readPublic,
  run
} from '../../support/fingerprinted.ts'
import { makeProject, makeSite, writeFiles } from '../../support/site.ts'
import { until } from '../../support/until.ts'

const IMMUTABLE = 'public, max-age=31536000, immutable'
const other = '0123456789abcdef'.repeat(2)

for (const mode of MODES) {
  const revalidated = mode === 'live' ? 'no-cache' : 'public, max-age=0, must-revalidate'

  test(`ANS-09 a verified fingerprint is cached for a year, and nothing else is (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, {
      'app.js': 'go()',
      'film.bin': Buffer.alloc(1024 * 1024 + 1, 'film'),
      '/public/robots.txt': 'all',
      '/public/assets/own.txt': 'mine'
    })
    for (const name of ['app.js', 'film.bin']) {
      const path = await site.path(name)
      for (const headers of [{}, { Range: 'bytes=0-1' }, { 'If-None-Match': '*' }]) {
        t.is((await site.ask(path, { headers })).headers['cache-control'], IMMUTABLE, path)
      }
      t.is((await site.ask(path, { method: 'HEAD' })).headers['cache-control'], IMMUTABLE)
      t.is((await site.ask(`/assets/${name}`)).headers['cache-control'], revalidated)
    }
    for (const path of ['/robots.txt', '/assets/own.txt']) {
      t.is((await site.ask(path)).headers['cache-control'], revalidated)
    }
  })

  test(`S44 another digest is 404 with no-store (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, { 'app.css': 'a{}' })
    const path = `/assets/app-${other}.css`
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await site.ask(path, { method })
      t.is(status, 404)
      t.is(headers['cache-control'], 'no-store')
    }
    t.false(isPublic(site.root, path))
  })

  for (const size of [10, 1024 * 1024 + 1]) {
    test(`S44 bytes that do not match the fingerprint are never sent: ${size} bytes (${mode})`, async t => {
      const site = await makeFingerprinted(t, mode, { 'app.js': 'go()' })
      const path = `/assets/bad-${other}.js`
      writeFiles(site.root, {
        'public/assets/bad.js': 'bad()',
        [`public${path}`]: Buffer.alloc(size, 'x')
      })
      const { status, headers } = await site.ask(path)
      t.is(status, 404)
      t.is(headers['cache-control'], 'no-store')
    })
  }

  test(`S11 a name that becomes another path without its fingerprint is passed on (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, { 'app.css': 'a{}', '.x/passwd': 'secret' })
    const prints = [digestOf('a{}'), other]
    const paths = prints.flatMap(print => [
      `/assets/.-${print}./etc/passwd`,
      `/assets/..-${print}/passwd`,
      `/assets/-${print}`,
      `/assets/-${print}.css`,
      `/assets/.-${print}.x/passwd`,
      `/assets/.-${print}`,
      `/assets/..-${print}.`,
      `/assets/a/..-${print}`,
      `/assets/-${print}../app.css`,
      `/assets/%2e-${print}.%2fpasswd`,
      `/assets/app.css-${print}`,
      `/assets/app-${print}.css/`,
      `/assets/app-${print}.css/-${print}`,
      `/assets/app-${print}-${print}.css`,
      `/assets/app-${print.toUpperCase()}.css`,
      `/assets/app-${print.slice(1)}.css`,
      `/assets/app${print}.css`
    ])
    for (const path of paths) {
      const { status, headers, text } = await site.ask(path)
      t.is(status, 404, path)
      t.is(headers['cache-control'], 'no-store', path)
      t.is(text, 'Not Found', path)
    }
    t.is((await site.ask(`/assets/app-${digestOf('a{}')}.css`)).status, 200)
  })

  test(`a name that already has its own digest is left alone (${mode})`, async t => {
    const name = `vendor-${digestOf('vendor()')}.js`
    const site = await makeFingerprinted(t, mode, { [name]: 'vendor()' })
    t.is(await site.path(name), `/assets/${name}`)
    const { headers, text } = await site.ask(`/assets/${name}`)
    t.is(text, 'vendor()')
    t.is(headers['cache-control'], IMMUTABLE)
  })

  test(`a name that has another digest gets its own as well (${mode})`, async t => {
    const name = `vendor-${other}.js`
    const site = await makeFingerprinted(t, mode, { [name]: 'vendor()' })
    const path = `/assets/vendor-${other}-${digestOf('vendor()')}.js`
    t.is(await site.path(name), path)
    t.is((await site.ask(path)).text, 'vendor()')
  })

  test(`a name that ends in 32 other hex characters is an ordinary name (${mode})`, async t => {
    const [logo, twin] = [`logo-${other}.png`, `app-${other}.css`]
    const site = await makeFingerprinted(t, mode, {
      [logo]: 'logo',
      'app.css': 'a{}',
      [twin]: `b { background: url(${logo}) }`,
      [`/public/assets/upload-${other}.jpg`]: 'upload',
      [`/public/uploads/photo-${other}.jpg`]: 'photo'
    })
    const fingerprinted = `/assets/logo-${other}-${digestOf('logo')}.png`
    t.is(await site.path(logo), fingerprinted)
    t.is((await site.ask(fingerprinted)).headers['cache-control'], IMMUTABLE)
    for (const [path, text] of [
      [`/assets/${logo}`, 'logo'],
      [`/assets/${twin}`, `b { background: url(${fingerprinted}) }`],
      [`/assets/upload-${other}.jpg`, 'upload'],
      [`/uploads/photo-${other}.jpg`, 'photo']
    ] as const) {
      for (let asked = 0; asked < 2; asked++) {
        const response = await site.ask(path)
        t.deepEqual([response.status, response.text], [200, text], path)
        t.is(response.headers['cache-control'], revalidated, path)
      }
    }
    await site.edit({ [logo]: 'newer' })
    await until(async () => (await site.ask(`/assets/${logo}`)).text === 'newer', 'the new logo')
    t.is((await site.ask(fingerprinted)).text, 'logo', 'what an open page asks for')
  })

  test(`names with blanks, Unicode, no extension and no bytes are published like any other (${mode})`, async t => {
    const names = [
      'a b.css',
      'Übersicht 😀.svg',
      "it's (1)+@2x,.png",
      'LICENSE',
      'a.tar.gz',
      'e.js'
    ]
    const site = await makeFingerprinted(
      t,
      mode,
      Object.fromEntries(names.map(name => [`things/${name}`, name === 'e.js' ? '' : name]))
    )
    for (const name of names) {
      const content = name === 'e.js' ? '' : name
      const path = await site.path(name)
      t.true(decodeURIComponent(path).includes(digestOf(content)), path)
      const { status, text, headers } = await site.ask(path)
      t.deepEqual([status, text], [200, content], path)
      t.is(headers['content-length'], String(Buffer.byteLength(content)))
      t.is(headers['cache-control'], IMMUTABLE)
    }
  })

  for (const size of [100, 2 * 1024 * 1024]) {
    test(`a fingerprinted file that is only touched is sent as before: ${size} bytes (${mode})`, async t => {
      const site = await makeFingerprinted(t, mode, { 'film.bin': Buffer.alloc(size, 'x') })
      const path = await site.path('film.bin')
      t.is((await site.ask(path)).bytes.length, size)
      utimesSync(join(site.root, 'public', path), 1e9, 1e9)
      const { status, bytes, headers } = await site.ask(path)
      t.deepEqual([status, bytes.length], [200, size])
      t.is(headers['cache-control'], IMMUTABLE)
    })
  }

  test(`a big fingerprinted file that changes after it was verified is not sent (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, { 'film.bin': Buffer.alloc(2 ** 21, 'x') })
    const path = await site.path('film.bin')
    t.is((await site.ask(path)).status, 200)
    appendFileSync(join(site.root, 'public', path), 'y')
    const { status, bytes } = await site.ask(path)
    if (mode === 'live') t.is(digestOf(bytes), digestOf(Buffer.alloc(2 ** 21, 'x')))
    else t.is(status, 404)
  })
}

test('a built site restores a file that was removed', async t => {
  const site = await makeFingerprinted(t, 'live', { 'film.bin': Buffer.alloc(2 ** 21, 'x') })
  const path = await site.path('film.bin')
  t.is((await site.ask(path)).status, 200)
  unlinkSync(join(site.root, 'public', path))
  const { status, bytes } = await site.ask(path)
  t.deepEqual([status, bytes.length], [200, 2 ** 21])
})

test('a deploy from another checkout leaves big files and compressed copies served', async t => {
  const files = { 'film.bin': Buffer.alloc(2 ** 21, 'x'), 'app.js': '/* go */'.repeat(100) }
  const site = await makeFingerprinted(t, 'precompiled', files)
  const [film, app] = [await site.path('film.bin'), await site.path('app.js')]
  const compressed = { headers: { 'Accept-Encoding': 'br' } }
  const first = await site.ask(app, compressed)
  t.is(first.headers['content-encoding'], 'br')
  t.is((await site.ask(film)).status, 200)
  for (const name of Object.keys(files)) {
    utimesSync(join(site.root, 'apps/web/assets', name), 2e9, 2e9)
  }
  await run({ root: site.root, env: 'production' })
  t.is(statSync(join(site.root, 'public', app)).mtimeMs, 2e12)
  t.is((await site.ask(film)).bytes.length, 2 ** 21)
  const next = await makeFingerprinted(t, 'precompiled', {}, { root: site.root })
  for (const path of [app, '/assets/app.js']) {
    const { headers } = await next.ask(path, compressed)
    t.is(headers['content-encoding'], 'br', path)
  }
})

test('a name that ends in 32 other hex characters is published on request', async t => {
  const site = await makeSite(t, { [`images/logo-${other}.png`]: 'logo', 'images/logo.png': 'x' })
  await site.ask('/assets/logo.png')
  for (const text of ['logo', 'newer']) {
    site.write(`images/logo-${other}.png`, text)
    const response = await site.ask(`/assets/logo-${other}.png`)
    t.deepEqual([response.status, response.text], [200, text])
    t.is(response.headers['cache-control'], 'no-cache')
  }
})

test('a name that ends in 32 other hex characters is verified and cleaned like any other', async t => {
  const name = `logo-${other}.png`
  const root = makeProject(t, placed({ [name]: 'logo', 'logo.png': 'another' }))
  await run({ root })
  t.deepEqual((await verify({ root })).problems, [])
  t.deepEqual((await clean({ root }, { keep: 0, age: 0 })).removed, [])
  t.is(String(readPublic(root, `/assets/${name}`)), 'logo')
})
