// Ways out of public, and other spellings of a path: S1 to S26, S33, S34, S39.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { isNotOurs, makeFront, makeFronts } from '../support/front.ts'
import { ask, signature } from '../support/raw.ts'
import { notOurs } from './not-ours.ts'
import { PLACES, targetAt } from './places.ts'
import { makeStronghold, SECRET } from './stronghold.ts'

for (const place of PLACES) {
  const { where, at, options } = place

  for (const [title, targets] of Object.entries(notOurs)) {
    test(`${title}${where}`, async t => {
      const root = makeStronghold(t)
      const before = readdirSync(join(root, 'public'), { recursive: true })
      const fronts = await makeFronts(t, root, options)
      for (const target of targets) await isNotOurs(t, fronts, targetAt(place, target))
      t.deepEqual(readdirSync(join(root, 'public'), { recursive: true }), before)
    })
  }

  test(`S5 no answer redirects, a directory without its slash neither${where}`, async t => {
    const fronts = await makeFronts(t, makeStronghold(t), options)
    for (const { alone } of fronts) {
      for (const target of ['/css', '/admin', '/assets', '/', '/assets/', '//css', '/css?x=/..']) {
        const answer = await ask(alone.port, 'GET', at + target)
        t.is(answer.status, 404, target)
        t.is(answer.headers.location, undefined, target)
        t.is(answer.text, 'Not Found', target)
      }
    }
  })

  test(`S26 the well-known folder is served where a root of URLs is${where}`, async t => {
    for (const { front } of await makeFronts(t, makeStronghold(t), options)) {
      const answer = await ask(front.port, 'GET', `${at}/.well-known/x`)
      // RFC 8615: it is at the root of a host alone.
      t.deepEqual([answer.status, answer.text], at === '' ? [200, 'known'] : [404, 'Not Found'])
    }
  })

  test(`S34 names beyond ASCII are counted in bytes, and served when they exist${where}`, async t => {
    const name = 'größe 😀.css'
    const body = 'content: "äöü€😀"'
    const root = makeStronghold(t, {
      [`apps/web/assets/stylesheets/${name}`]: body,
      [`public/assets/${name}`]: body
    })
    for (const { front, alone } of await makeFronts(t, root, options)) {
      const answer = await ask(front.port, 'GET', `${at}/assets/${encodeURIComponent(name)}`)
      t.is(answer.status, 200)
      t.is(answer.headers['content-length'], String(Buffer.byteLength(body)))
      t.is(answer.text, body)
      // Node refuses a byte beyond ASCII, before any middleware hears of it.
      const raw = await ask(alone.port, 'GET', `${at}/assets/gr\u00f6\u00dfe%20%F0%9F%98%80.css`)
      t.is(raw.status, 400)
      t.deepEqual(alone.errors, [])
    }
  })
}

test('S14 the prefix ends at a segment', async t => {
  const root = makeStronghold(t, { 'apps/web/assets/other/secret': SECRET })
  const fronts = await makeFronts(t, root)
  for (const target of [
    '/assets-backup.sql',
    '/assetssecret',
    '/assetsapp.css',
    '/asset/app.css'
  ]) {
    await isNotOurs(t, fronts, target)
  }
  t.false(existsSync(join(root, 'public/assets/secret')))
  const mounted = await makeFronts(t, root, { mounts: { '/files': 'public' } })
  for (const target of ['/files-backup.sql', '/filesx', '/filesrobots.txt', '/files', '/file']) {
    await isNotOurs(t, mounted, target)
  }
})

test('S22 a NUL is refused under the prefix and goes on elsewhere', async t => {
  const fronts = await makeFronts(t, makeStronghold(t))
  for (const target of ['/%00', '/robots.txt%00', '/%00/assets/app.js', '/robots.txt%00.png']) {
    await isNotOurs(t, fronts, target)
  }
  for (const { front } of fronts) {
    for (const target of ['/assets/app.js%00.png', '/assets/%00', '/assets/app.js%00']) {
      for (const method of ['GET', 'HEAD', 'POST']) {
        const answer = await ask(front.port, method, target)
        t.is(answer.status, 400, `${method} ${target}`)
        t.is(answer.text, method === 'HEAD' ? '' : 'Bad Request')
        t.is(answer.headers['cache-control'], 'no-store')
      }
    }
    t.deepEqual(front.errors, [])
  }
})

test('S22 S23 in a mount what cannot be decoded is refused, at / where it can only be a file', async t => {
  const root = makeStronghold(t)
  const mounts = { '/static': 'public', '/': 'public' }
  const fronts = await makeFronts(t, root, { public: 'public-unused', mounts })
  for (const { front } of fronts) {
    for (const path of [
      'a%00.png',
      '%00.css',
      '%zz.css',
      '%c0%ae%c0%ae/x.js',
      'app.js%',
      '%FF.a'
    ]) {
      for (const method of ['GET', 'HEAD', 'POST']) {
        for (const target of [`/static/${path}`, `/x/${path}`]) {
          const answer = await ask(front.port, method, target)
          const isFile = target.startsWith('/static/') || /\.[^./]+$/.test(path)
          t.is(answer.status, isFile ? 400 : 404, `${method} ${target}`)
          t.is(answer.headers['cache-control'], isFile ? 'no-store' : undefined)
        }
      }
    }
    t.deepEqual(front.errors, [])
  }
  for (const target of ['/%00', '/x%', '/%zz/x', '/%c0%ae%c0%ae/x', '/robots.txt%00/x']) {
    await isNotOurs(t, fronts, target)
  }
})

test('S22 a bare NUL never arrives', async t => {
  for (const { front } of await makeFronts(t, makeStronghold(t))) {
    t.is((await ask(front.port, 'GET', '/assets/app.js\0.png')).status, 400)
    t.deepEqual(front.passed, [])
  }
})

test('S23 what cannot be decoded is refused under the prefix, and never breaks anything', async t => {
  const fronts = await makeFronts(t, makeStronghold(t))
  const broken = [
    '%',
    '%zz',
    '%2',
    'x%',
    '%c0%ae%c0%ae/x',
    '%C0%AF',
    '%E0%80%AE%E0%80%AE/x',
    '%E0%A4%A',
    '%ED%A0%80',
    '%ED%BF%BF.css',
    '%F5%80%80%80',
    '%FF',
    '%u002e%u002e/x',
    'app.js%'
  ]
  for (const { front, alone } of fronts) {
    for (const name of broken) {
      for (const method of ['GET', 'HEAD', 'POST']) {
        const answer = await ask(alone.port, method, `/assets/${name}`)
        t.is(answer.status, 400, `${method} ${name}`)
        t.is(answer.headers['cache-control'], 'no-store')
        t.is(answer.text, method === 'HEAD' ? '' : 'Bad Request')
      }
    }
    t.deepEqual(front.errors.concat(alone.errors), [])
  }
  for (const name of broken) await isNotOurs(t, fronts, `/${name}`)
})

test('S23 a path of 64 KiB is too long for a file, and no more than that', async t => {
  const root = makeStronghold(t)
  for (const env of ['development', 'production']) {
    const options = { root, env, compile: env === 'development', fingerprint: false }
    const mounts = { '/static': { dir: 'public', index: 'index.html', fallback: 'index.html' } }
    const front = await makeFront(t, { ...options, mounts, maxHeaderSize: 200_000 })
    const missing = await ask(front.port, 'GET', '/assets/no-such-file')
    for (const name of ['a'.repeat(65_536), 'a/'.repeat(32_768) + 'x', '%20a'.repeat(16_384)]) {
      for (const at of ['/assets', '/static']) {
        const answer = await ask(front.port, 'GET', `${at}/${name}`)
        t.is(signature(answer), signature(missing))
      }
    }
    t.deepEqual(front.errors, [])
  }
})
