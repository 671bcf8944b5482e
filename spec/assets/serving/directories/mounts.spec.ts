// A mount is served as public is, on every way of serving: MNT-01, MNT-02, MNT-07, MNT-08, UPL-02; MOV-03.
import { renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import * as zlib from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import type { Context } from 'koa'
import { COPIES } from '../../../support/copies.ts'
import { leadLink, makeProject, makeSite, type Files, type Site } from '../../../support/site.ts'
import { until, untilSettled } from '../../../support/until.ts'
import { ENVIRONMENTS } from '../../../support/ways.ts'
import { cases } from '../../../support/soak.ts'
import { isWindows } from '../../../support/windows.ts'

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

/** The text, or the status of what is not found. */
const read = async (site: Site, path: string) => {
  const { status, text } = await site.ask(path)
  return status === 200 ? text : status
}

for (const [where, options] of ENVIRONMENTS) {
  const makeBuild = async (t: ExecutionContext) => {
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
    const expect = async (path: string, expected: string | number) =>
      t.is(await read(site, `/static/${path}`), expected)
    await expect('new.js', 404)
    for (const text of ['one', 'two']) {
      site.write('/build/app/new.js', text)
      await expect('new.js', text)
    }
    site.write('/build/next.js', 'older', THEN)
    renameSync(site.at('/build/next.js'), site.at('/build/app/new.js'))
    await expect('new.js', 'older')
    rmSync(site.at('/build/app/new.js'))
    await expect('new.js', 404)
    await expect('logo.png', PNG.toString())
    rmSync(site.at('/build/app/logo.png'))
    await expect('logo.png', 'hidden by the mount')
    t.deepEqual(site.errors, [])
  })

  test(`MNT-08 a directory that is replaced as a whole is served with its new files, ${where}`, async t => {
    const site = await makeSite(t, FILES, { ...options, ...MOUNTS })
    const statuses = () =>
      Promise.all(['/static/logo.png', '/static/v2/app.js'].map(path => read(site, path)))
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
    const leadTo = (place: string) => leadLink(join(root, 'dist'), place)
    leadTo('builds/1')
    const site = await makeSite(t, {}, { ...options, root, mounts: { '/m': 'dist' } })
    const refused = ['.', 'library', 'apps/web/assets/javascripts', 'apps/web', elsewhere]
    for (const [place, text] of [
      ['builds/1', 'build 1'],
      ['builds/2', 'build 2'],
      ...refused.map(place => [place, 404] as const),
      ['builds/1', 'build 1']
    ] as const) {
      leadTo(place)
      t.is(await read(site, '/m/app.js'), text, place)
    }
    t.deepEqual(site.errors, [])
  })
}

const PRODUCTION = { env: 'production', fingerprint: false } as const

test('MNT-08 a new file is seen at once, and a changed one after `revalidate`', async t => {
  for (const revalidate of [3600, 0.05]) {
    const mounts = { '/static': { dir: 'build/app', revalidate } }
    const site = await makeSite(t, FILES, { ...PRODUCTION, mounts })
    const text = () => read(site, '/static/js/new.js')
    t.is(await text(), 404)
    site.write('/build/app/js/new.js', 'new')
    t.is(await text(), 'new')
    site.write('/build/app/js/new.js', 'newer')
    if (revalidate > 1) t.is(await text(), 'new')
    else await until(async () => (await text()) === 'newer', 'it is seen')
  }
})

test('UPL-01 by default a file of a mount that was overwritten is served with its new bytes at once', async t => {
  const files = { '/data/uploads/avatar.png': '0', '/data/uploads/avatar.png.gz': 'not of it' }
  const site = await makeSite(t, files, {
    ...PRODUCTION,
    mounts: { '/up': { dir: 'data/uploads', cacheControl: 'public, max-age=604800' } },
    revalidate: 3600
  })
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
    { ...PRODUCTION, mounts: { '/up': 'data' } }
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

test('a link that is retargeted leads to the mount of the new release, outside of the root only with `follow`', async t => {
  const outside = makeProject(t, { 'a.txt': 'two' })
  const releases = { '/releases/1/site/dist/app.js': 'one', '/releases/2/site/dist/app.js': 'two' }
  const site = await makeSite(t, { '/r1/a.txt': 'one', ...releases }, { serve: false })
  leadLink(site.at('/current'), 'r1')
  const mounts = { '/in': 'current', '/any': { dir: 'current', symlinks: 'follow' as const } }
  const options = { ...PRODUCTION, revalidate: 0, root: site.root, mounts }
  const running = await makeSite(t, {}, options)
  const textsOf = () => Promise.all(['/in/a.txt', '/any/a.txt'].map(path => read(running, path)))
  t.deepEqual(await textsOf(), ['one', 'one'])
  leadLink(site.at('/current'), outside)
  t.deepEqual(await textsOf(), [404, 'two'])
  t.deepEqual(running.errors, [])
  // The root may itself be behind the link.
  leadLink(site.at('/current'), 'releases/1')
  const root = site.at('/current/site')
  const above = await makeSite(t, {}, { ...options, root, mounts: { '/': 'dist' } })
  t.is(await read(above, '/app.js'), 'one')
  leadLink(site.at('/current'), 'releases/2')
  t.is(await read(above, '/app.js'), 'two')
  t.deepEqual(above.errors, [])
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
    const statuses = ['inside.png', 'out.js'].map(
      async name => (await served.ask(`/static/${name}`)).status
    )
    t.deepEqual(await Promise.all(statuses), [inside, out], `${top} ${own}`)
  }
})

test('a mount whose path is not ASCII is found under its encoded path', async t => {
  const site = await makeSite(t, { '/dist/ü.js': 'ü' }, { mounts: { '/größe (1)': 'dist' } })
  const path = '/gr%C3%B6%C3%9Fe%20(1)'
  t.is((await site.ask(`${path}/%C3%BC.js`)).text, 'ü')
  t.is((await site.ask(`${path}/none.js`)).headers['cache-control'], 'no-store')
  t.is((await site.ask(`${path}/%zz`)).status, 400)
})

for (const [where, options] of ENVIRONMENTS) {
  test(`UPL-02 a directory that does not exist yet is a 404, and then served, ${where}`, async t => {
    const site = await makeSite(t, {}, { ...options, mounts: { '/up': 'data/uploads' } })
    const ask = (path: string) => read(site, path)
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
    if (!isWindows) symlinkSync('README.md', site.at('/dist/link.txt'))
    const linked = isWindows ? [] : ['link.txt']
    const excluded = ['README.md', 'README.md.gz', ...linked, 'docs/', 'vendor/b.js']
    for (const path of excluded.map(each => `/x/${each}`)) {
      const { status, headers } = await site.ask(path)
      t.deepEqual([path, status, headers['cache-control']], [path, 404, 'no-store'])
    }
    const served = [
      'x/a.js',
      'y/README.md',
      'y/docs/',
      'README.md',
      ...linked.map(each => `y/${each}`)
    ]
    for (const path of served.map(each => `/${each}`))
      t.is((await site.ask(path)).status, 200, path)
    t.deepEqual(site.errors, [])
  }
})
