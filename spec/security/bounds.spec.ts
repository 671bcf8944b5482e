// What a visitor can make a server remember or write: S30, S40.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { MtimeIndex } from '../../lib/assets/building/on-request/mtime-index.ts'
import { publicFilesOf } from '../support/served.ts'
import { wantedAt } from '../../lib/assets/serving/request-path.ts'
import { settle } from '../../lib/assets/settings/settings.ts'
import { ENVIRONMENTS, makeFront } from '../support/front.ts'
import { drive, heldBytes } from '../support/in-process.ts'
import { ask } from '../support/raw.ts'
import { makeProject, type Files } from '../support/site.ts'
import { cases } from '../support/soak.ts'
import { until } from '../support/until.ts'
import { PLACES } from './places.ts'
import { makeStronghold } from './stronghold.ts'

const MIB = 1024 * 1024
const EIGHT_KIB = 'x'.repeat(8 * 1024)
const PADDING = 'x'.repeat(200)

function* numbered(count: number, url: (at: number) => string): Generator<string> {
  for (let at = 0; at < count; at++) yield url(at)
}

/** Every file below a directory, with its content. */
function contentsOf(directory: string): Record<string, string> {
  const paths = readdirSync(directory, { recursive: true }) as string[]
  const files = paths.filter(path => statSync(join(directory, path)).isFile()).toSorted()
  return Object.fromEntries(files.map(path => [path, readFileSync(join(directory, path), 'utf8')]))
}

const FLOOD = cases(2500, 100_000)
const SMALL_FLOOD = cases(2500, 20_000)
const WARM_UP = cases(500, 5000)
const SPARE = cases(MIB / 2, MIB)

const ways: Readonly<Record<string, readonly [count: number, url: (at: number) => string]>> = {
  'missing names': [FLOOD, at => `/assets/${at}-${PADDING}.css`],
  '?v=': [FLOOD, at => `/assets/app.css?v=${at}-${PADDING}`],
  'missing folders': [SMALL_FLOOD, at => `/assets/${at}-${PADDING}/app.css`],
  'missing fingerprints': [
    SMALL_FLOOD,
    at => `/assets/app-${at.toString(16).padStart(32, '0')}.css`
  ],
  'missing files of public': [SMALL_FLOOD, at => `/${at}-${PADDING}/x.html`]
}

const environments = PLACES.filter(({ at }) => at === '').flatMap(({ where, options }) =>
  Object.entries(ENVIRONMENTS)
    .slice(where === '' ? 0 : cases(1, 0))
    .map(([name, environment]) => [name + where, { ...environment, ...options }] as const)
)

for (const [name, environment] of environments) {
  for (const [what, [count, url]] of Object.entries(ways)) {
    test.serial(`S30 ${count} different ${what} leave nothing behind, in ${name}`, async t => {
      const root = makeStronghold(t)
      const { app, port, errors } = await makeFront(t, { root, ...environment, alone: true })
      await ask(port, 'GET', '/assets/app.css')
      await drive(app, numbered(WARM_UP, url))
      const files = contentsOf(join(root, 'public'))
      const before = await heldBytes()
      const statuses = await drive(app, numbered(count, url))
      t.deepEqual([...statuses], [what === '?v=' ? 200 : 404])
      // Every name of them would be more than 200 bytes, and an entry for it as much again.
      await until(async () => (await heldBytes()) - before < SPARE, 'little more is held')
      t.deepEqual(contentsOf(join(root, 'public')), files)
      t.deepEqual(errors, [])
    })
  }
}

test.serial('S30 long names cost no more memory than short ones', async t => {
  const root = makeStronghold(t)
  const production = { root, env: 'production', fingerprint: false, alone: true }
  const { app } = await makeFront(t, production)
  await drive(
    app,
    numbered(WARM_UP, at => `/assets/${at}.css`)
  )
  const before = await heldBytes()
  const long = 'x'.repeat(15_000)
  t.deepEqual(
    [
      ...(await drive(
        app,
        numbered(WARM_UP, at => `/assets/${at}-${long}.css`)
      ))
    ],
    [404]
  )
  await until(async () => (await heldBytes()) - before < MIB, 'less than 1 MiB more is held')
})

test.serial('S30 the index and the memory hold what they may, and no more', async t => {
  const files = Object.fromEntries(
    Array.from({ length: 250 }, (_, at) => [
      `apps/web/assets/images/${at}.bin`,
      Buffer.alloc(64 * 1024, at)
    ])
  ) satisfies Files
  const root = makeProject(t, files)
  const options = { root, env: 'development', index: { max: 20 }, memory: { maxBytes: 2 * MIB } }
  const { app } = await makeFront(t, options)
  const urls = [...numbered(250, at => `/assets/${at}.bin`)]
  const before = await heldBytes()
  t.deepEqual([...(await drive(app, urls, 20))], [200])
  t.deepEqual([...(await drive(app, urls, 20))], [200])
  await until(async () => (await heldBytes()) - before < 8 * MIB, '8 of 16 MiB are held')
  const index = new MtimeIndex(20)
  const entry = { source: '', inputs: [], targets: [], generation: 0 }
  for (let at = 0; at < 1000; at++) index.set(String(at), entry)
  t.is(index.size, 20)
})

test('S30 a small file counts twice, since it may lie behind a kept head as well', async t => {
  const names = Array.from({ length: 40 }, (_, at) => `/assets/${at}.js`)
  const root = makeProject(t, Object.fromEntries(names.map(path => [`public${path}`, EIGHT_KIB])))
  const memory = { maxBytes: 10 * (12 + 2 * 8) * 1024 }
  // What is looked at again is not recalled, however slow this machine is.
  const settings = settle({ root, ...ENVIRONMENTS.production, memory, revalidate: 3600 })
  const files = publicFilesOf(settings)
  for (const path of names) await files.find(wantedAt(path, settings))
  t.is(names.filter(path => files.recall(path)).length, 10)
})

test('S30 a sample of it over the wire', async t => {
  const root = makeStronghold(t)
  const { port, errors } = await makeFront(t, { root, env: 'development' })
  const files = contentsOf(join(root, 'public'))
  for (let at = 0; at < cases(50, 200); at++) {
    t.is((await ask(port, 'GET', `/assets/missing-${at}.css`)).status, 404)
    t.is((await ask(port, 'GET', `/assets/app.css?v=${at}`)).status, 200)
  }
  t.deepEqual(contentsOf(join(root, 'public')), files)
  t.deepEqual(errors, [])
})

test('S40 only names that have a source are written, and only below the prefix', async t => {
  const root = makeProject(t, {
    'apps/web/assets/stylesheets/app.css.scss': '@use "part"; a { b: c }',
    'apps/web/assets/stylesheets/_part.scss': '.part { a: b }',
    'apps/web/assets/stylesheets/sub/_deep.scss': '.deep { a: b }',
    'apps/web/assets/stylesheets/sub/menu.css': 'm{}',
    'apps/web/assets/javascripts/main.js.ts': 'export const a: number = 1',
    'apps/web/assets/javascripts/types.d.ts': 'export type A = 1',
    'apps/web/assets/javascripts/main.js.ts~': 'old',
    'apps/web/assets/javascripts/.main.js.swp': 'swap',
    'apps/web/assets/javascripts/#main.js#': 'emacs',
    'apps/web/views/page.css': 'view',
    'README.css': 'readme'
  })
  const { port, errors } = await makeFront(t, { root, env: 'development' })
  const refused = [
    ...['_part.css', '_part.scss', 'part.css', 'app.css.scss', 'app.scss'],
    ...['stylesheets/_part.scss', 'stylesheets/_part.css', 'stylesheets/app.css.scss'],
    ...['sub/_deep.css', 'sub/_deep.scss', '_deep.scss', 'sub/deep.css', 'main.js.ts', 'main.ts'],
    ...['types.d.ts', 'types.d.js', 'types.js', 'main.js.ts~', 'main.js~', '.main.js.swp'],
    ...[
      '%23main.js%23',
      'page.css',
      'views/page.css',
      '../views/page.css',
      'README.css',
      'app.css.map'
    ],
    ...[
      'web/assets/stylesheets/app.css',
      'assets/app.css',
      'apps/web/assets/app.css',
      'app.css.css'
    ],
    ...['sub/menu.css.css', 'tylesheets/app.css', 'enu.css', 'ub/menu.css', 'app.css.tmp'],
    ...['app-0123456789abcdef0123456789abcdef.css', 'app.css.gz', 'app.css.br', 'app.cs', 'app']
  ]
  for (const name of refused) {
    for (const method of ['GET', 'HEAD', 'POST']) {
      t.is((await ask(port, method, `/assets/${name}`)).status, 404, `${method} ${name}`)
    }
  }
  t.deepEqual(readdirSync(root).toSorted(), ['README.css', 'apps'])
  for (const name of [
    'app.css',
    'sub/menu.css',
    'stylesheets/sub/menu.css',
    'menu.css',
    'main.js'
  ]) {
    t.is((await ask(port, 'POST', `/assets/${name}`)).status, 405)
  }
  t.deepEqual(readdirSync(root).toSorted(), ['README.css', 'apps'])
  for (const name of [
    'app.css',
    'sub/menu.css',
    'stylesheets/sub/menu.css',
    'menu.css',
    'main.js'
  ]) {
    t.is((await ask(port, 'GET', `/assets/${name}`)).status, 200, name)
  }
  t.deepEqual(Object.keys(contentsOf(join(root, 'public'))), [
    'assets/app.css',
    'assets/main.js',
    'assets/menu.css',
    'assets/stylesheets/sub/menu.css',
    'assets/sub/menu.css'
  ])
  t.deepEqual(errors, [])
})

test('S40 with compile off, and with serving off, nothing is written at all', async t => {
  const root = makeProject(t, { 'apps/web/assets/stylesheets/app.css': 'a{}' })
  const fixed = { root, env: 'production', fingerprint: false }
  const off = await makeFront(t, { root, env: 'development', serve: false })
  for (const { port } of [await makeFront(t, fixed), off]) {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE']) {
      t.is((await ask(port, method, '/assets/app.css')).status, 404)
    }
  }
  t.deepEqual(readdirSync(root), ['apps'])
})
