// What folders hold is remembered for `revalidate` seconds, and new files are served after that.
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

/** Production. @param revalidate by default so long that nothing is looked up again */
function makeRemembering(t: ExecutionContext, revalidate = 3600): Promise<Site> {
  return makeSite(t, FILES, { compile: false, fingerprint: false, revalidate })
}

/** In seconds. */
const SOON = 0.05

/** Often enough that it is remembered. */
async function miss(site: Site, path: string): Promise<number[]> {
  const statuses: number[] = []
  for (let times = 0; times < 4; times++) statuses.push((await site.ask(path)).status)
  return statuses
}

async function served(site: Site, path: string, text: string): Promise<void> {
  await until(async () => (await site.ask(path)).text === text, `${path} is served`)
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

const WAYS: Readonly<Record<string, (site: Site, path: string) => void>> = {
  written: (site, path) => site.write(`/public${path}`, 'new'),
  'moved there': (site, path) => renameSync(site.at('/elsewhere/new.css'), place(site, path)),
  'linked there': (site, path) => linkSync(site.at('/elsewhere/new.css'), place(site, path))
}

function place(site: Site, path: string): string {
  mkdirSync(site.at(`/public${path}`).replace(/\/[^/]+$/, ''), { recursive: true })
  return site.at(`/public${path}`)
}

for (const [way, put] of Object.entries(WAYS)) {
  test(`a file that is ${way} is served after \`revalidate\`, however often it was missing before`, async t => {
    for (const path of PATHS) {
      const site = await makeRemembering(t, SOON)
      t.deepEqual([path, ...(await miss(site, path))], [path, 404, 404, 404, 404])
      put(site, path)
      await served(site, path, 'new')
    }
  })
}

test('a new file is served at once where its folder is known, and a page or a new folder after `revalidate`', async t => {
  const site = await makeRemembering(t)
  for (const path of ['/new.css', '/assets/new.css', '/assets/vendor/new.css', '/images/new.css']) {
    t.is((await miss(site, path)).at(-1), 404)
    site.write(`/public${path}`, 'new')
    t.is((await site.ask(path)).text, 'new')
  }
  for (const path of ['/page', '/assets/page', '/fresh/new.css']) {
    await miss(site, path)
    site.write(`/public${path}`, 'new')
    t.deepEqual([path, ...(await miss(site, path))], [path, 404, 404, 404, 404])
  }
})

test('a folder that is moved into public brings its files, in place of another as well', async t => {
  for (const folder of ['/assets/fresh', '/fresh', '/images/fresh', '/images']) {
    const site = await makeRemembering(t, SOON)
    t.is((await miss(site, `${folder}/new.css`)).at(-1), 404)
    if (folder === '/images') renameSync(site.at('/public/images'), site.at('/public/old'))
    renameSync(site.at('/elsewhere/folder'), site.at(`/public${folder}`))
    await served(site, `${folder}/new.css`, 'new')
    t.is((await miss(site, `${folder}/newer.css`)).at(-1), 404)
    site.write(`/public${folder}/newer.css`, 'newer')
    await served(site, `${folder}/newer.css`, 'newer')
  }
})

test('a new file behind a link to a folder is noticed', async t => {
  const site = await makeRemembering(t, SOON)
  symlinkSync(site.at('/public/images'), site.at('/public/assets/pictures'))
  t.is((await miss(site, '/assets/pictures/new.png')).at(-1), 404)
  site.write('/public/images/new.png', 'new')
  await served(site, '/assets/pictures/new.png', 'new')
})

test('a folder of too many names to remember serves those that it has, and new ones', async t => {
  const site = await makeRemembering(t)
  for (let at = 0; at <= 5000; at++) site.write(`/public/many/${at}.css`, 'there')
  t.is((await site.ask('/many/7.css')).text, 'there')
  t.is((await miss(site, '/many/new.css')).at(-1), 404)
  site.write('/public/many/new.css', 'new')
  t.is((await site.ask('/many/new.css')).text, 'new')
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
      { compile: false, fingerprint: false, revalidate: SOON }
    )
    for (const path of ['/new.css', '/page', '/deep/page']) {
      t.is((await miss(site, path)).at(-1), 404)
    }
    appear(site)
    await served(site, '/new.css', 'new')
    t.is((await site.ask('/page')).status, 404)
  })
}

test('a compressed copy is sent once it is beside its file, and no longer', async t => {
  const site = await makeRemembering(t, SOON)
  const headers = { 'accept-encoding': 'gzip' }
  const coded = (coding: string | undefined) =>
    until(
      async () => {
        const response = await site.ask('/assets/there.css', { headers })
        return response.headers['content-encoding'] === coding
      },
      `it is sent ${coding ?? 'as it is'}`
    )
  site.write('/public/assets/there.css', 'there { color: red }\n'.repeat(100))
  for (let times = 0; times < 2; times++) {
    await coded(undefined)
    const bytes = gzipSync(site.read('/public/assets/there.css') ?? '')
    site.write('/public/assets/there.css.gz', bytes)
    await coded('gzip')
    unlinkSync(site.at('/public/assets/there.css.gz'))
  }
  t.pass()
})

test('a path with a slash too many, and a folder, are not found, however often', async t => {
  const site = await makeRemembering(t)
  for (const path of ['/assets/there.css/', '/assets/there.css/x', '/assets', '/assets/', '/']) {
    t.deepEqual([path, ...(await miss(site, path))], [path, 404, 404, 404, 404])
  }
  t.is((await site.ask('/assets/there.css')).text, 'there')
})

test('a file that takes the place of a folder is served, and the other way round', async t => {
  const site = await makeRemembering(t, SOON)
  t.is((await miss(site, '/assets/vendor')).at(-1), 404)
  t.is((await site.ask('/assets/vendor/there.css')).text, 'there')
  renameSync(site.at('/public/assets/vendor'), site.at('/public/assets/moved'))
  site.write('/public/assets/vendor', 'file')
  await served(site, '/assets/vendor', 'file')
  await served(site, '/assets/moved/there.css', 'there')
})
