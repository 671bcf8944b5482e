// How the files of a bundle are served, and its manifest is not.
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { isNotOurs, makeFronts } from '../../support/front.ts'
import { ask } from '../../support/raw.ts'
import { type Files, makeProject, makeSite } from '../../support/site.ts'
import { cases } from '../../support/soak.ts'
import { SECRET } from '../../security/stronghold.ts'

const FILES: Files = {
  '/dist/a.txt': 'a text',
  '/dist/b.bin': 'binary',
  '/dist/manifest.json': JSON.stringify({ 'a.js': { file: 'b.bin', isEntry: true } })
}

test('WAY-01 the manifest of a bundle is not served under any name', async t => {
  const manifest = JSON.stringify({ 'a.js': { file: 'a.js', isEntry: true } })
  const files = { '/dist/manifest.json': manifest, '/dist/a.js': '', '/public/assets.json': '{}' }
  const site = await makeSite(t, files, {
    mounts: {
      '/': { dir: 'dist', manifest: 'dist/manifest.json', extensions: ['json'] },
      '/p': { dir: 'public', extensions: ['json'] }
    }
  })
  for (const path of ['/manifest', '/manifest.json', '/p/assets', '/assets']) {
    t.is((await site.ask(path)).status, 404, path)
  }
})

test('WAY-05 headers and CORS are on 412 and 416 as well, but no lifetime or type', async t => {
  const site = await makeSite(t, FILES, {
    headers: { 'X-Top': 'top', Vary: 'Origin' },
    env: 'test',
    host: 'https://cdn.example',
    mounts: {
      '/m': {
        dir: 'dist',
        manifest: 'dist/manifest.json',
        headers: {
          'X-Mount': 'mount',
          'Content-Security-Policy': 'sandbox',
          'Content-Type': 'text/x',
          'Cache-Control': 'public, max-age=60',
          'CDN-Cache-Control': 'max-age=60',
          Expires: 'Thu, 01 Jan 2126 00:00:00 GMT'
        }
      }
    }
  })
  for (const [fields, status] of [
    [{ 'if-match': '"x"' }, 412],
    [{ range: 'bytes=100-' }, 416]
  ] as const) {
    const { headers, ...answer } = await site.ask('/m/a.txt', { headers: fields })
    t.is(answer.status, status)
    t.is(headers['x-top'], 'top')
    t.is(headers['x-mount'], 'mount')
    t.is(headers['content-security-policy'], 'sandbox')
    t.is(headers['access-control-allow-origin'], '*')
    t.is(headers.vary, 'Origin')
    t.is(headers['content-length'], '0')
    for (const name of ['content-type', 'cache-control', 'cdn-cache-control', 'expires', 'etag'])
      t.is(headers[name], undefined, name)
  }
  t.deepEqual(site.errors, [])
})

/** As Vite writes it. */
const MANIFEST = JSON.stringify({
  'src/main.js': { file: 'main.js', src: `src/${SECRET}.js`, isEntry: true }
})
const NEIGHBOURS = ['', '.br', '.gz', '.zst']

test('S54 a bundler’s manifest is not ours under any name, in the mount, in another, or in public', async t => {
  const names = ['me\u0301ta', 'Manifest.JSON', 'manifest.json', 'build-info.txt', 'x.js']
  for (const name of names.slice(0, cases(1, 5))) {
    const decoy = name.normalize('NFC').toUpperCase()
    const root = makeProject(t, {
      'public/dist/main.js': 'main',
      'public/dist/page.html': 'page',
      ...Object.fromEntries(
        NEIGHBOURS.flatMap(extension => [
          [`public/dist/${decoy}${extension}`, SECRET],
          [`public/dist/${name}${extension}`, MANIFEST]
        ])
      )
    })
    symlinkSync('dist', join(root, 'public/current'))
    symlinkSync(name, join(root, 'public/dist/link.json'))
    symlinkSync(`${name}.br`, join(root, 'public/dist/link.json.br'))
    for (const manifest of [`public/dist/${name}`, `public/current/${name}`]) {
      const fronts = await makeFronts(t, root, {
        mounts: {
          '/static': { dir: 'public/dist', manifest, immutable: true },
          '/current': 'public/current',
          '/all': 'public',
          '/': 'public/dist'
        }
      })
      const paths = [name, decoy].flatMap(each =>
        NEIGHBOURS.map(extension => encodeURIComponent(each) + extension)
      )
      for (const at of ['/static', '/current', '/all/dist', '/all/current', '/dist', '']) {
        for (const path of [...paths, 'link.json', 'link.json.br'])
          await isNotOurs(t, fronts, `${at}/${path}`)
      }
      for (const { front } of fronts) {
        for (const at of ['/static', '/current', '/all/current', '/dist', '']) {
          t.is((await ask(front.port, 'GET', `${at}/page.html`)).text, 'page')
        }
      }
    }
  }
})
