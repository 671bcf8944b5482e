import { hash } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { UploadPlan } from '../../../lib/extras/uploads/upload-plan.ts'
import { makeShop, run } from '../../publishing/cli/run.ts'
import { AS_WRITTEN, makeSite, serial as test, viteBuild, viteMount } from '../../support/index.ts'
import { writeFiles } from '../../support/index.ts'

async function planOf(root: string): Promise<UploadPlan> {
  await run(root, 'precompile --quiet')
  return JSON.parse((await run(root, 'upload-plan --json')).stdout) as UploadPlan
}

const mounts = { '/static': { ...viteMount(), exclude: ['*.map'] }, '/other': 'other' }
const OPTIONS = { host: 'https://cdn.example.com', mounts }
const configured = (options: object) => ({
  '/assets.config.json': JSON.stringify({ ...AS_WRITTEN, ...options })
})

const FILES = {
  'stylesheets/app.css': `a { background: url(icon.svg) } ${'p { color: black } '.repeat(100)}`,
  'images/icon.svg': '<svg/>',
  'images/größe 1.svg': '<svg/>',
  ...configured(OPTIONS),
  ...viteBuild('/dist', { 'main.js': 'main-CZTearZk.js', 'zoom.js': 'zoom-B1d8aKqw.js' }),
  '/dist/main-CZTearZk.js.map': '{}',
  '/dist/robots.txt': 'robots',
  '/other/page.html': 'other'
}

test('upload-plan lists files as a server sends them, those that never change first', async t => {
  const root = makeShop(t, FILES)
  await run(root, 'compress dist --quiet')
  const { files } = await planOf(root)
  const named = files.map(({ key }) => key.replace(/-[0-9a-f]{32}/, ''))
  const originals = named.filter(key => !/\.(?:br|gz|zst)$/.test(key))
  const own = ['assets/app.css', 'assets/größe 1.svg', 'assets/icon.svg']
  const built = ['static/main-CZTearZk.js', 'static/zoom-B1d8aKqw.js', 'static/robots.txt']
  t.deepEqual(originals, [...own, ...built])
  t.true(named.includes('assets/app.css.br'))
  const areEndless = files.map(({ cacheControl }) => cacheControl.includes('immutable'))
  t.is(areEndless.lastIndexOf(true) + 1, areEndless.indexOf(false))
  const site = await makeSite(t, {}, { ...OPTIONS, root, env: 'production' })
  for (const { key, file, type, encoding, cacheControl, size, sha256 } of files) {
    const path = encodeURI(`/${encoding ? key.replace(/\.\w+$/, '') : key}`)
    const asked = { 'accept-encoding': encoding ?? 'identity' }
    const { headers, bytes } = await site.ask(path, { headers: asked })
    t.is(headers['content-type'], type, key)
    t.is(headers['content-encoding'], encoding, key)
    t.is(headers['cache-control'], cacheControl, key)
    t.is(bytes.length, size, key)
    t.is(hash('sha256', bytes, 'base64'), sha256, key)
    t.deepEqual(readFileSync(join(root, file)), bytes, key)
  }
})

test('the release of an upload-plan changes only if a file does', async t => {
  const root = makeShop(t, { 'app.css': 'a{}' })
  const { release } = await planOf(root)
  t.is((await planOf(root)).release, release)
  writeFiles(root, { 'apps/web/assets/app.css': 'b { c: d }' })
  t.not((await planOf(root)).release, release)
})

const UNPRINTED = { configure: { production: { fingerprint: false } } }
for (const [what, options, key, cacheControl] of [
  ['plain names without fingerprints', UNPRINTED, /^assets\/app\.txt$/, /^public, max-age=0,/],
  [
    'keys that begin with base',
    { base: '/shop' },
    /^shop\/assets\/app-[0-9a-f]{32}\.txt$/,
    /immutable/
  ]
] as const)
  test(`upload-plan lists ${what}`, async t => {
    const { files } = await planOf(makeShop(t, { 'app.txt': 'a', ...configured(options) }))
    t.is(files.length, 1)
    t.regex(files[0]?.key ?? '', key)
    t.regex(files[0]?.cacheControl ?? '', cacheControl)
  })

test('upload-plan prints a table, or an error if nothing was precompiled', async t => {
  const root = makeShop(t, { 'app.css': 'a{}', ...configured({}) })
  await run(root, 'precompile --quiet')
  const { stdout } = await run(root, 'upload-plan')
  t.regex(stdout, /^key +size +type +encoding +cache-control\n/)
  const row =
    /\nassets\/app-\w{32}\.css +3 B +text\/css; charset=utf-8 +public, max-age=31536000, immutable\n$/
  t.regex(stdout, row)
  rmSync(join(root, 'public/assets.json'))
  const { status, stderr } = await run(root, 'upload-plan')
  t.is(status, 1)
  t.regex(stderr, /precompile/)
})

test('upload-plan fails with the name of each file that pages need and a server would not send', async t => {
  const manifest = {
    'main.js': { file: 'main-CZTearZk.js', isEntry: true, dynamicImports: ['lazy.js'] },
    'lazy.js': { file: 'lazy-B1d8aKqw.js', isDynamicEntry: true }
  }
  const built = {
    '/dist/lazy-B1d8aKqw.js': 'later',
    '/dist/.vite/manifest.json': JSON.stringify(manifest)
  }
  const root = makeShop(t, { ...FILES, ...built })
  await run(root, 'compress dist --quiet')
  const { files } = await planOf(root)
  const fileOf = (key: RegExp) => {
    const { file = '' } = files.find(each => key.test(each.key)) ?? {}
    const path = `/${file.replace(/^public\//, '').replace(/^dist/, 'static')}`
    return { path, file: join(root, file) }
  }
  const style = fileOf(/app-\w+\.css$/)
  const lazy = fileOf(/lazy-B1d8aKqw\.js$/)
  const plan = async () => {
    const { status, stdout, stderr } = await run(root, 'upload-plan --json')
    const { problems } = JSON.parse(stdout) as UploadPlan
    t.is(status, problems.length > 0 ? 1 : 0, stderr)
    return problems.map(({ path, message }) => `${path} ${message}`)
  }
  t.deepEqual(await plan(), [])
  for (const [{ path, file }, message] of [
    [lazy, 'is missing, and dist/.vite/manifest.json names it: build again'],
    [style, 'is missing: run npx koa-fresh-assets precompile']
  ] as const) {
    rmSync(file)
    t.true((await plan()).includes(`${path} ${message}`))
  }
  const { status, stdout, stderr } = await run(root, 'upload-plan')
  t.is(status, 1)
  t.regex(stderr, /^\/static\/lazy-\S+ is missing.*\n\/assets\/app-\S+ is missing/)
  t.regex(stdout, /^2 problems\n/)
})
