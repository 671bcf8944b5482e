// A mount is served as public is, on every way of serving: MNT-01, MNT-02, MNT-07, MNT-08, UPL-02; MOV-03.
import { renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import * as zlib from 'node:zlib'
import test from 'ava'
import type { Context } from 'koa'
import { COPIES } from '../../../support/copies.ts'
import { makeProject, makeSite, type Files } from '../../../support/site.ts'
import { until, untilSettled } from '../../../support/until.ts'
import { ENVIRONMENTS } from '../../../support/ways.ts'
import { cases } from '../../../support/soak.ts'

const SCRIPT = 'console.log("a mount is served as public is")\n'.repeat(50)
const THEN = 1_700_000_000
const LAST_MODIFIED = 'Tue, 14 Nov 2023 22:13:20 GMT'
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255, 254, 13, 10])

const { zstdCompressSync } = zlib as typeof zlib & { zstdCompressSync?: (bytes: string) => Buffer }

const compress: Readonly<Record<string, ((bytes: string) => Buffer) | undefined>> = {
  '.br': zlib.brotliCompressSync,
  '.gz': zlib.gzipSync,
  '.zst': zstdCompressSync
}
const FILES: Files = {
  '/build/app/logo.png': PNG,
  '/build/app/js/deep/a b@2x.js': 'deep',
  '/build/app/empty.txt': '',
  '/build/app-secret/app.js': 'secret',
  '/public/static/only-public.txt': 'only public',
  '/public/static/logo.png': 'hidden by the mount'
}
const MOUNTS = { mounts: { '/static': 'build/app' } }

for (const [where, options] of ENVIRONMENTS) {
  const makeBuild = async (t: Parameters<typeof makeSite>[0]) => {
    const site = await makeSite(t, FILES, { ...options, ...MOUNTS })
    site.write('/build/app/app.js', SCRIPT, THEN)
    for (const extension of COPIES) {
      site.write(`/build/app/app.js${extension}`, compress[extension]?.(SCRIPT) ?? '', THEN)
    }
    return site
  }

  test(`MNT-01 MNT-07 a file of a mount is served as one of public, with the copies beside it, ${where}`, async t => {
    const site = await makeBuild(t)
    for (const extension of COPIES) {
      const coding = { '.br': 'br', '.gz': 'gzip' }[extension] ?? 'zstd'
      const headers = { 'accept-encoding': coding }
      const answer = await site.ask('/static/app.js?v=1', { headers })
      t.deepEqual([answer.status, answer.headers['content-encoding']], [200, coding])
      t.deepEqual(answer.bytes, compress[extension]?.(SCRIPT))
      t.is(answer.headers.vary, 'Accept-Encoding')
    }
    const { text, headers } = await site.ask('/static/app.js')
    t.deepEqual([text, headers['last-modified']], [SCRIPT, LAST_MODIFIED])
    t.deepEqual((await site.ask('/static/logo.png')).bytes, PNG)
    t.is((await site.ask('/static/js/deep/a%20b@2x.js')).text, 'deep')
    t.deepEqual((await site.ask('/static/empty.txt')).headers['content-length'], '0')
    t.deepEqual(site.errors, [])
  })

  test(`MNT-01 nothing beside or above the mount is reached, ${where}`, async t => {
    const site = await makeBuild(t)
    for (const path of [
      ...['/static/../app-secret/app.js', '/static%2f..%2fapp-secret%2fapp.js', '/static'],
      ...['/static/%2e%2e/app-secret/app.js', '/static-secret/app.js', '/static/', '/static/js'],
      ...['/statica/app.js', '/build/app/app.js', '//static/app.js', '/static//app.js', '/app.js'],
      ...['/static/js/../app.js', '/static/app%2ejs', '/st%61tic/app.js', '/STATIC/app.js']
    ]) {
      t.is((await site.ask(path)).status, 404, path)
    }
    t.deepEqual(site.errors, [])
  })

  test(`MNT-02 what a mount lacks is looked for in the shorter one, in public, in the stack, ${where}`, async t => {
    const files = {
      '/long/a.txt': 'long a',
      '/short/x/a.txt': 'short a',
      '/short/x/b.txt': 'short b',
      '/public/x/a.txt': 'public a',
      '/public/x/b.txt': 'public b',
      '/public/x/c.txt': 'public c'
    }
    const routes = (ctx: Context) => void (ctx.body = 'stack')
    const paths = { '/x': 'long', '/': 'short', '/other': 'long' }
    const orders = [Object.entries(paths), Object.entries(paths).toReversed()]
    for (const order of orders) {
      const site = await makeSite(t, files, {
        ...options,
        mounts: Object.fromEntries(order),
        routes
      })
      const texts = ['/x/a.txt', '/x/b.txt', '/x/c.txt', '/x/d.txt', '/other/a.txt', '/other/b.txt']
      for (let times = 0; times < 2; times++) {
        const answers = await Promise.all(texts.map(path => site.ask(path)))
        t.deepEqual(
          answers.map(({ text }) => text),
          ['long a', 'short b', 'public c', 'stack', 'long a', 'stack']
        )
      }
      t.is((await site.ask('/x/a.txt', { method: 'POST' })).text, 'stack')
    }
  })

  test(`MNT-08 a file that is added, replaced or deleted is seen by the next request, ${where}`, async t => {
    const site = await makeSite(t, FILES, { ...options, ...MOUNTS })
    const textOf = async (path: string) => {
      const { status, text } = await site.ask(path)
      return status === 200 ? text : status
    }
    t.is(await textOf('/static/new.js'), 404)
    site.write('/build/app/new.js', 'one')
    t.is(await textOf('/static/new.js'), 'one')
    site.write('/build/app/new.js', 'two')
    t.is(await textOf('/static/new.js'), 'two')
    site.write('/build/next.js', 'older', THEN)
    renameSync(site.at('/build/next.js'), site.at('/build/app/new.js'))
    t.is(await textOf('/static/new.js'), 'older')
    rmSync(site.at('/build/app/new.js'))
    t.is(await textOf('/static/new.js'), 404)
    t.is(await textOf('/static/logo.png'), PNG.toString())
    rmSync(site.at('/build/app/logo.png'))
    t.is(await textOf('/static/logo.png'), 'hidden by the mount')
    t.deepEqual(site.errors, [])
  })

  test(`MNT-08 a directory that is replaced as a whole is served with its new files, ${where}`, async t => {
    const site = await makeSite(t, FILES, { ...options, ...MOUNTS })
    const statuses = async () =>
      Promise.all(
        ['/static/logo.png', '/static/v2/app.js'].map(async p => (await site.ask(p)).text)
      )
    site.write('/public/static/v2/app.js', 'public')
    t.deepEqual(await statuses(), [PNG.toString(), 'public'])
    for (let deploy = 1; deploy < 4; deploy++) {
      site.write('/build/next/v2/app.js', `deploy ${deploy}`)
      renameSync(site.at('/build/app'), site.at(`/build/old-${deploy}`))
      t.deepEqual(await statuses(), ['hidden by the mount', 'public'], 'while there is none')
      renameSync(site.at('/build/next'), site.at('/build/app'))
      t.deepEqual(await statuses(), ['hidden by the mount', `deploy ${deploy}`])
    }
    t.deepEqual(site.errors, [])
  })

  test(`MNT-08 a mount whose link is switched is served from where it leads, if that may be mounted, ${where}`, async t => {
    const elsewhere = makeProject(t, { 'app.js': 'outside' })
    const root = makeProject(t, {
      'builds/1/app.js': 'build 1',
      'builds/2/app.js': 'build 2',
      'library/package.json': '{}',
      'library/app.js': 'a package',
      'app.js': 'the project',
      'apps/web/assets/javascripts/app.js': 'a source'
    })
    const leadTo = (place: string) => {
      symlinkSync(place, join(root, 'next'))
      renameSync(join(root, 'next'), join(root, 'dist'))
    }
    leadTo('builds/1')
    const site = await makeSite(t, {}, { ...options, root, mounts: { '/m': 'dist' } })
    const refused = ['.', 'library', 'apps/web/assets/javascripts', 'apps/web', elsewhere]
    const places = [
      ['builds/1', 'build 1'],
      ['builds/2', 'build 2'],
      ...refused.map(place => [place, undefined] as const),
      ['builds/1', 'build 1']
    ] as const
    for (const [place, text] of places) {
      leadTo(place)
      const answer = await site.ask('/m/app.js')
      t.is(answer.status, text === undefined ? 404 : 200, place)
      if (text !== undefined) t.is(answer.text, text)
    }
    t.deepEqual(site.errors, [])
  })
}

test('MNT-08 a new file is seen at once, and a changed one after `revalidate`', async t => {
  const trusting = (revalidate: number) =>
    makeSite(t, FILES, {
      mounts: { '/static': { dir: 'build/app', revalidate } },
      env: 'production',
      fingerprint: false
    })
  for (const revalidate of [3600, 0.05]) {
    const site = await trusting(revalidate)
    t.is((await site.ask('/static/js/new.js')).status, 404)
    site.write('/build/app/js/new.js', 'new')
    t.is((await site.ask('/static/js/new.js')).text, 'new')
    site.write('/build/app/js/new.js', 'newer')
    const text = async () => (await site.ask('/static/js/new.js')).text
    if (revalidate > 1) t.is(await text(), 'new')
    else await until(async () => (await text()) === 'newer', 'it is seen')
  }
})

test('UPL-01 by default a file of a mount that was overwritten is served with its new bytes at once', async t => {
  const site = await makeSite(
    t,
    { '/data/uploads/avatar.png': '0', '/data/uploads/avatar.png.gz': 'not of it' },
    {
      mounts: { '/up': { dir: 'data/uploads', cacheControl: 'public, max-age=604800' } },
      env: 'production',
      fingerprint: false,
      revalidate: 3600
    }
  )
  for (let round = 1; round <= cases(40, 200); round++) {
    const text = String(round)
    if (round % 2) site.write('/data/uploads/avatar.png', text)
    else {
      site.write('/data/uploads/next', text)
      renameSync(site.at('/data/uploads/next'), site.at('/data/uploads/avatar.png'))
    }
    t.is((await site.ask(`/up/avatar.png?v=${round}`)).text, text)
    t.is((await site.ask(`/up/${round}.png`)).status, 404)
    site.write(`/data/uploads/${round}.png`, text)
    t.is((await site.ask(`/up/${round}.png`)).text, text)
  }
})

test('a copy that appears beside a file of a mount is sent within the `revalidate` of koaAssets', async t => {
  const text = 'a { color: red }\n'.repeat(100)
  const site = await makeSite(
    t,
    { '/data/a.css': text },
    { mounts: { '/up': 'data' }, env: 'production', fingerprint: false }
  )
  await untilSettled()
  const coding = async () => {
    const headers = { 'accept-encoding': 'gzip' }
    return (await site.ask('/up/a.css', { headers })).headers['content-encoding']
  }
  t.is(await coding(), undefined)
  site.write('/data/a.css.gz', zlib.gzipSync(text))
  await until(async () => (await coding()) === 'gzip', 'it is sent')
})

test('a link `current` above the root that is retargeted leads to the mount of the new release', async t => {
  const site = await makeSite(t, {
    '/releases/1/site/dist/app.js': 'one',
    '/releases/2/site/dist/app.js': 'two'
  })
  symlinkSync('releases/1', site.at('/current'))
  const options = { env: 'production', fingerprint: false, revalidate: 0 }
  const root = site.at('/current/site')
  const running = await makeSite(t, {}, { ...options, root, mounts: { '/': 'dist' } })
  t.is((await running.ask('/app.js')).text, 'one')
  symlinkSync('releases/2', site.at('/next'))
  renameSync(site.at('/next'), site.at('/current'))
  t.is((await running.ask('/app.js')).text, 'two')
  t.deepEqual(running.errors, [])
})

test('a mount that is a link is served from outside the root only with `follow`', async t => {
  const outside = makeProject(t, { 'a.txt': 'two' })
  const site = await makeSite(t, { '/r1/a.txt': 'one' }, { serve: false })
  symlinkSync('r1', site.at('/current'))
  const options = { root: site.root, env: 'production', fingerprint: false, revalidate: 0 }
  const mounts = { '/in': 'current', '/any': { dir: 'current', symlinks: 'follow' as const } }
  const running = await makeSite(t, {}, { ...options, mounts })
  const textsOf = async () =>
    Promise.all(['/in/a.txt', '/any/a.txt'].map(async path => (await running.ask(path)).text))
  t.deepEqual(await textsOf(), ['one', 'one'])
  symlinkSync(outside, site.at('/next'))
  renameSync(site.at('/next'), site.at('/current'))
  t.deepEqual(await textsOf(), ['Not Found', 'two'])
  t.deepEqual(running.errors, [])
})

test('links in a mount follow its own `symlinks`, else that of the top level', async t => {
  const site = await makeSite(t, FILES, { serve: false })
  symlinkSync('logo.png', site.at('/build/app/inside.png'))
  symlinkSync('../app-secret/app.js', site.at('/build/app/out.js'))
  for (const [top, own, inside, out] of [
    [undefined, undefined, 200, 404],
    [undefined, 'deny', 404, 404],
    ['deny', undefined, 404, 404],
    ['deny', 'inside', 200, 404],
    ['deny', 'follow', 200, 200],
    ['follow', undefined, 200, 200]
  ] as const) {
    const mounts = { '/static': { dir: 'build/app', symlinks: own } }
    const served = await makeSite(t, {}, { root: site.root, symlinks: top, mounts })
    t.deepEqual(
      [
        (await served.ask('/static/inside.png')).status,
        (await served.ask('/static/out.js')).status
      ],
      [inside, out],
      `${top} ${own}`
    )
  }
})

test('a mount whose path is not ASCII is found under its encoded path', async t => {
  const site = await makeSite(t, { '/dist/ü.js': 'ü' }, { mounts: { '/größe (1)': 'dist' } })
  const path = '/gr%C3%B6%C3%9Fe%20(1)'
  t.is((await site.ask(`${path}/%C3%BC.js`)).text, 'ü')
  t.is((await site.ask(`${path}/none.js`)).headers['cache-control'], 'no-store')
  t.is((await site.ask(`${path}/%zz`)).status, 400)
})

test('a mount serves nothing while `serve` is off', async t => {
  const off = await makeSite(t, FILES, { ...MOUNTS, serve: false })
  t.is((await off.ask('/static/logo.png')).status, 404)
})

for (const [where, options] of ENVIRONMENTS) {
  test(`UPL-02 a directory that does not exist yet is a 404, and then served, ${where}`, async t => {
    const site = await makeSite(t, {}, { ...options, mounts: { '/up': 'data/uploads' } })
    const ask = async (path: string) => {
      const { status, text } = await site.ask(path)
      return status === 200 ? text : status
    }
    t.deepEqual([await ask('/up/a.txt'), await ask('/up/b/c.txt')], [404, 404])
    site.write('/data/uploads/a.txt', 'a')
    t.deepEqual([await ask('/up/a.txt'), await ask('/up/b/c.txt')], ['a', 404])
    site.write('/data/uploads/b/c.txt', 'c')
    t.deepEqual([await ask('/up/a.txt'), await ask('/up/b/c.txt')], ['a', 'c'])
    t.deepEqual(site.errors, [])
  })
}

test('UPL-02 S53 what a mount may not be at start, it cannot become later', async t => {
  const files: Files = { '/package.json': '{}', '/other/package.json': '{}', '/other/a.txt': 'a' }
  for (const to of ['.', 'other', 'apps/web/assets']) {
    const site = await makeSite(
      t,
      { 'a.txt': 'source', ...files, '/a.txt': 'root' },
      { mounts: { '/up': 'later' } }
    )
    t.is((await site.ask('/up/a.txt')).status, 404)
    symlinkSync(to, join(site.root, 'later'))
    t.is((await site.ask('/up/a.txt')).status, 404, to)
    t.is((await site.ask('/up/package.json')).status, 404, to)
  }
})

test('MOV-03 what exclude names is a 404, compressed, linked to and as an index too', async t => {
  const files = {
    '/dist/README.md': 'read me',
    '/dist/README.md.gz': 'copy',
    '/dist/docs/index.html': 'docs',
    '/dist/a.js': 'a',
    '/dist/vendor/b.js': 'b',
    '/other/README.md': 'of a shorter mount'
  }
  const dist = { dir: 'dist', index: 'index.html' }
  const exclude = ['*.md', 'vendor', 'docs/index.html']
  for (const env of ['development', 'production']) {
    const site = await makeSite(t, files, {
      env,
      apps: false,
      mounts: { '/x': { ...dist, exclude }, '/y': { ...dist, exclude: 'vendor/**' }, '/': 'other' }
    })
    symlinkSync('README.md', site.at('/dist/link.txt'))
    const paths = ['/x/README.md', '/x/README.md.gz', '/x/link.txt', '/x/docs/', '/x/vendor/b.js']
    for (const path of paths) {
      const { status, headers } = await site.ask(path)
      t.deepEqual([path, status, headers['cache-control']], [path, 404, 'no-store'])
    }
    const served = ['/x/a.js', '/y/README.md', '/y/link.txt', '/y/docs/', '/README.md']
    for (const path of served) t.is((await site.ask(path)).status, 200, path)
    t.deepEqual(site.errors, [])
  }
})
