// The command `upload-plan`.
import { hash } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import ava from 'ava'
import type { UploadPlan } from '../../../lib/extras/uploads/upload-plan.ts'
import { makeShop, run } from '../../cli/run.ts'
import { makeSite } from '../../support/site.ts'

const test = ava.serial

const OPTIONS = {
  minify: false,
  host: 'https://cdn.example.com',
  mounts: {
    '/static': { dir: 'dist', exclude: ['*.map'], manifest: 'dist/.vite/manifest.json' },
    '/other': 'other'
  }
}

const FILES = {
  'stylesheets/app.css': `a { background: url(icon.svg) } ${'p { color: black } '.repeat(100)}`,
  'images/icon.svg': '<svg/>',
  'images/größe 1.svg': '<svg/>',
  '/assets.config.mjs': `export default ${JSON.stringify(OPTIONS)}`,
  '/dist/.vite/manifest.json': JSON.stringify({
    'main.js': { file: 'main-CZTearZk.js', isEntry: true }
  }),
  '/dist/main-CZTearZk.js': 'main()',
  '/dist/main-CZTearZk.js.map': '{}',
  '/dist/robots.txt': 'robots',
  '/other/page.html': 'other'
}

test('UPL-01 upload-plan lists the files of URLs of the host as a server sends them, those that never change first', async t => {
  const root = makeShop(t, FILES)
  await run(root, 'precompile --quiet')
  await run(root, 'compress dist --quiet')
  const { stdout } = await run(root, 'upload-plan --json')
  const { files } = JSON.parse(stdout) as UploadPlan
  const named = files.map(({ key }) => key.replace(/-[0-9a-f]{32}/, ''))
  t.deepEqual(
    named.filter(key => !/\.(?:br|gz|zst)$/.test(key)),
    [
      'assets/app.css',
      'assets/größe 1.svg',
      'assets/icon.svg',
      'static/main-CZTearZk.js',
      'static/robots.txt'
    ]
  )
  t.true(named.includes('assets/app.css.br'))
  const site = await makeSite(t, {}, { ...OPTIONS, root, env: 'production' })
  for (const { key, file, type, encoding, cacheControl, size, sha256 } of files) {
    const path = encodeURI(`/${encoding ? key.replace(/\.\w+$/, '') : key}`)
    const { headers, bytes } = await site.ask(path, {
      headers: { 'accept-encoding': encoding ?? 'identity' }
    })
    t.is(headers['content-type'], type, key)
    t.is(headers['content-encoding'], encoding, key)
    t.is(headers['cache-control'], cacheControl, key)
    t.is(bytes.length, size, key)
    t.is(hash('sha256', bytes, 'base64'), sha256, key)
    t.deepEqual(readFileSync(join(root, file)), bytes, key)
  }
  const changing = files.findIndex(({ cacheControl }) => !cacheControl.includes('immutable'))
  t.true(changing > 0)
  for (const { cacheControl } of files.slice(changing)) t.notRegex(cacheControl, /immutable/)
})

test('UPL-02 the release of an upload-plan changes with any file, and only then', async t => {
  const root = makeShop(t, { 'app.css': 'a{}' })
  const release = async () => {
    await run(root, 'precompile --quiet')
    return (JSON.parse((await run(root, 'upload-plan --json')).stdout) as UploadPlan).release
  }
  const first = await release()
  t.is(await release(), first)
  const changed = makeShop(t, { 'app.txt': 'b' })
  await run(changed, 'precompile --quiet')
  t.not(
    (JSON.parse((await run(changed, 'upload-plan --json')).stdout) as UploadPlan).release,
    first
  )
})

test('UPL-01 without fingerprints upload-plan lists plain names, which are revalidated', async t => {
  const config =
    'export default { minify: false, configure: { production: { fingerprint: false } } }'
  const root = makeShop(t, { 'app.txt': 'a', '/assets.config.mjs': config })
  await run(root, 'precompile --quiet')
  const { files } = JSON.parse((await run(root, 'upload-plan --json')).stdout) as UploadPlan
  t.deepEqual(
    files.map(({ key, cacheControl }) => [key, cacheControl]),
    [['assets/app.txt', 'public, max-age=0, must-revalidate']]
  )
})

test('BAS-09 the keys of upload-plan begin with base, as the URLs of the host do', async t => {
  const config = "export default { minify: false, base: '/shop', host: 'https://cdn.example.com' }"
  const root = makeShop(t, { 'app.txt': 'a', '/assets.config.mjs': config })
  await run(root, 'precompile --quiet')
  const { files } = JSON.parse((await run(root, 'upload-plan --json')).stdout) as UploadPlan
  t.true(files.length > 0)
  for (const { key } of files) t.regex(key, /^shop\/assets\/app-[0-9a-f]{32}\.txt$/)
})

test('UPL-03 upload-plan shows a table, and fails without a manifest', async t => {
  const root = makeShop(t, {
    'app.css': 'a{}',
    '/assets.config.mjs': 'export default { minify: false }'
  })
  await run(root, 'precompile --quiet')
  const { stdout } = await run(root, 'upload-plan')
  t.regex(stdout, /^key +size +type +encoding +cache-control\n/)
  t.regex(
    stdout,
    /\nassets\/app-[0-9a-f]{32}\.css +3 B +text\/css; charset=utf-8 +public, max-age=31536000, immutable\n$/
  )
  rmSync(join(root, 'public/assets.json'))
  const { status, stderr } = await run(root, 'upload-plan')
  t.is(status, 1)
  t.regex(stderr, /precompile/)
})
