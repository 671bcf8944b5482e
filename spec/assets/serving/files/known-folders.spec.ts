// What folders hold is remembered, and new files are served at once all the same.
import { linkSync, mkdirSync, renameSync, symlinkSync, unlinkSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import { makeSite, type Site } from '../../../support/site.ts'
import { digestOf } from '../../../../lib/files/digest.ts'
import { until } from '../../../support/until.ts'

const FILES = {
  '/public/assets/there.css': 'there',
  '/public/assets/vendor/there.css': 'there',
  '/public/images/there.png': 'there',
  '/elsewhere/new.css': 'new',
  '/elsewhere/folder/new.css': 'new'
}

/** Production, with an hour in which nothing but an event reports a change. */
function makeRemembering(t: ExecutionContext): Promise<Site> {
  return makeSite(t, FILES, { compile: false, fingerprint: false, revalidate: 3600 })
}

/** Often enough that it is remembered. */
async function miss(site: Site, path: string): Promise<number[]> {
  const statuses: number[] = []
  for (let times = 0; times < 4; times++) statuses.push((await site.ask(path)).status)
  return statuses
}

const PATHS = [
  '/new.css',
  '/assets/new.css',
  '/assets/vendor/new.css',
  '/assets/fresh/new.css',
  '/images/new.css',
  '/images/fresh/new.css',
  '/fresh/new.css',
  '/fresh/folder/new.css'
]

type Way = (site: Site, path: string) => void

const WAYS: Readonly<Record<string, Way>> = {
  written: (site, path) => site.write(`/public${path}`, 'new'),
  'moved there': (site, path) => renameSync(site.at('/elsewhere/new.css'), place(site, path)),
  'linked there': (site, path) => linkSync(site.at('/elsewhere/new.css'), place(site, path))
}

function place(site: Site, path: string): string {
  mkdirSync(site.at(`/public${path}`).replace(/\/[^/]+$/, ''), { recursive: true })
  return site.at(`/public${path}`)
}

for (const [way, put] of Object.entries(WAYS)) {
  test(`a file that is ${way} is served at once, however often it was missing before`, async t => {
    for (const path of PATHS) {
      const site = await makeRemembering(t)
      t.deepEqual([path, ...(await miss(site, path))], [path, 404, 404, 404, 404])
      put(site, path)
      const { status, text } = await site.ask(path)
      t.deepEqual([path, status, text], [path, 200, 'new'])
    }
  })
}

test('a folder that is moved into public brings its files', async t => {
  for (const folder of ['/assets/fresh', '/fresh', '/images/fresh']) {
    const site = await makeRemembering(t)
    t.is((await miss(site, `${folder}/new.css`)).at(-1), 404)
    renameSync(site.at('/elsewhere/folder'), site.at(`/public${folder}`))
    t.is((await site.ask(`${folder}/new.css`)).text, 'new')
  }
})

test('a folder that replaces another is watched again', async t => {
  const site = await makeRemembering(t)
  t.is((await miss(site, '/images/new.css')).at(-1), 404)
  renameSync(site.at('/public/images'), site.at('/public/old'))
  renameSync(site.at('/elsewhere/folder'), site.at('/public/images'))
  t.is((await site.ask('/images/new.css')).text, 'new')
  t.is((await miss(site, '/images/newer.css')).at(-1), 404)
  site.write('/public/images/newer.css', 'newer')
  t.is((await site.ask('/images/newer.css')).text, 'newer')
})

test('a new file behind a link to a folder is noticed', async t => {
  const site = await makeRemembering(t)
  symlinkSync(site.at('/public/images'), site.at('/public/assets/pictures'))
  t.is((await miss(site, '/assets/pictures/new.png')).at(-1), 404)
  site.write('/public/images/new.png', 'new')
  t.is((await site.ask('/assets/pictures/new.png')).text, 'new')
})

test('a remembered miss under the prefix gets the same response as the first', async t => {
  const site = await makeRemembering(t)
  const first = await site.ask('/assets/none.css')
  await miss(site, '/assets/none.css')
  const later = await site.ask('/assets/none.css')
  t.deepEqual([later.status, later.text], [first.status, first.text])
  t.is(later.headers['cache-control'], 'no-store')
  const post = await site.ask('/assets/none.css', { method: 'POST' })
  t.deepEqual([post.status, post.headers.allow], [404, undefined])
  site.write('/public/assets/none.css', 'x')
  t.is((await site.ask('/assets/none.css', { method: 'POST' })).status, 405)
})

test('a miss under the prefix that belongs to no app is no-store from the first on', async t => {
  const apps = { admin: { path: '/admin' }, shop: { path: '/shop' } }
  const site = await makeSite(t, FILES, {
    apps,
    compile: false,
    fingerprint: false,
    revalidate: 3600
  })
  for (let times = 0; times < 4; times++) {
    for (const method of ['GET', 'POST']) {
      const { status, headers } = await site.ask('/assets/none.css', { method })
      t.deepEqual([status, headers['cache-control']], [404, 'no-store'])
    }
  }
})

test('a doubly encoded path does not make another path missing', async t => {
  const site = await makeRemembering(t)
  site.write('/public/größe/a.png', 'a')
  const path = '/gr%C3%B6%C3%9Fe/a.png'
  t.is((await miss(site, path.replaceAll('%', '%25'))).at(-1), 404)
  t.is((await site.ask(path)).text, 'a')
  t.is((await miss(site, '/assets/%25zz')).at(-1), 404)
  t.is((await site.ask('/assets/%zz')).status, 400)
})

test('in development a new file is served at once as well', async t => {
  const site = await makeSite(t, FILES, { revalidate: 3600 })
  for (const path of PATHS) {
    t.is((await miss(site, path)).at(-1), 404)
    site.write(`/public${path}`, 'new')
    t.is((await site.ask(path)).text, 'new')
  }
  t.is((await miss(site, '/assets/newer.css')).at(-1), 404)
  site.write('newer.css', 'newer')
  t.is((await site.ask('/assets/newer.css')).text, 'newer')
})

test('a fingerprint that was requested too early is served as soon as its bytes are built', async t => {
  const site = await makeSite(t, { 'a.css': 'old' }, { fingerprint: true, revalidate: 3600 })
  t.is((await site.ask('/assets/a.css')).text, 'old')
  const early = `/assets/a-${digestOf(Buffer.from('new'))}.css`
  t.is((await miss(site, early)).at(-1), 404)
  site.write('a.css', 'new')
  t.is((await site.ask(early)).text, 'new')
})

for (const [way, appear] of Object.entries<(site: Site) => void>({
  'is written': site => site.write('/public/new.css', 'new'),
  'is moved there': site => renameSync(site.at('/elsewhere'), site.at('/public')),
  'is a link': site => symlinkSync('elsewhere', site.at('/public'))
})) {
  test(`a public directory that ${way} while the server runs is served, and before it a miss is remembered`, async t => {
    const site = await makeSite(
      t,
      { '/elsewhere/new.css': 'new' },
      { compile: false, fingerprint: false, revalidate: 3600 }
    )
    for (const path of ['/new.css', '/page', '/deep/page']) {
      t.is((await miss(site, path)).at(-1), 404)
    }
    appear(site)
    await until(async () => (await site.ask('/new.css')).text === 'new', 'it is served')
    t.is((await site.ask('/page')).status, 404)
  })
}

test('a compressed copy is sent as soon as it is beside its file, and no longer', async t => {
  const site = await makeSite(t, FILES, {
    // Nothing is kept in memory, so each request looks for copies.
    memory: { maxBytes: 0 },
    ...{ compile: false, fingerprint: false, revalidate: 3600 }
  })
  const headers = { 'accept-encoding': 'gzip' }
  const coding = async () =>
    (await site.ask('/assets/there.css', { headers })).headers['content-encoding']
  site.write('/public/assets/there.css', 'there { color: red }\n'.repeat(100))
  for (let times = 0; times < 2; times++) {
    t.deepEqual([await coding(), await coding()], [undefined, undefined])
    const bytes = gzipSync(site.read('/public/assets/there.css') ?? '')
    site.write('/public/assets/there.css.gz', bytes)
    t.deepEqual([await coding(), await coding()], ['gzip', 'gzip'])
    unlinkSync(site.at('/public/assets/there.css.gz'))
  }
})

test('a path with a slash too many, and a folder, are not found, however often', async t => {
  const site = await makeRemembering(t)
  for (const path of ['/assets/there.css/', '/assets/there.css/x', '/assets', '/assets/', '/']) {
    t.deepEqual([path, ...(await miss(site, path))], [path, 404, 404, 404, 404])
  }
  t.is((await site.ask('/assets/there.css')).text, 'there')
})

test('a file that takes the place of a folder is served, and the other way round', async t => {
  const site = await makeRemembering(t)
  t.is((await miss(site, '/assets/vendor')).at(-1), 404)
  t.is((await site.ask('/assets/vendor/there.css')).text, 'there')
  renameSync(site.at('/public/assets/vendor'), site.at('/public/assets/moved'))
  site.write('/public/assets/vendor', 'file')
  t.is((await site.ask('/assets/vendor')).text, 'file')
  t.is((await site.ask('/assets/moved/there.css')).text, 'there')
})
