// A mount is served as public is, on every way of serving: MNT-01, MNT-02, MNT-07, MNT-08, UPL-02; MOV-03.
import { renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import type { Context } from 'koa'
import { leadLink, makeProject, makeSite, type Files, type Site } from '../../../support/site.ts'
import { until } from '../../../support/until.ts'
import { ENVIRONMENTS } from '../../../support/ways.ts'
import { cases } from '../../../support/soak.ts'
const THEN = 1_700_000_000
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255, 254, 13, 10])
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

  test(`MNT-01 MNT-08 a file that is added, replaced or deleted is seen by the next request, ${where}`, async t => {
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
