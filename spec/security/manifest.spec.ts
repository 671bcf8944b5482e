// What tells paths of sources to everybody: S54.
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { isNotOurs, makeFront, makeFronts } from '../support/front.ts'
import { ask } from '../support/raw.ts'
import { makeProject } from '../support/site.ts'
import { cases } from '../support/soak.ts'
import { SECRET } from './stronghold.ts'

test('S54 a manifest is not ours', async t => {
  const root = makeProject(t, {
    'public/assets.json': SECRET,
    'public/assets.json.br': SECRET,
    'public/assets.json.gz': SECRET,
    'public/assets.json.zst': SECRET,
    'public/ASSETS.json': SECRET,
    'public/a\u017f\u017fets.json': SECRET,
    'public/.vite/manifest.json': SECRET
  })
  const fronts = await makeFronts(t, root)
  for (const target of [
    ...['/assets.json', '/assets.json?x', '/assets.json.br', '/assets.json.gz', '/assets.json.zst'],
    ...['/ASSETS.json', '/assets%2ejson', '/.vite/manifest.json', 'http://localhost/assets.json'],
    // APFS takes the long s for an s.
    '/a%C5%BF%C5%BFets.json'
  ]) {
    await isNotOurs(t, fronts, target, ['GET', 'HEAD', 'POST', 'OPTIONS'])
  }
})

test('S54 the manifest of another prefix is not ours, and other files of such a name are', async t => {
  const root = makeProject(t, {
    'public/static/a.json': SECRET,
    'public/assets.json': 'mine',
    'public/static/a.json.map': 'mine',
    'public/manifest.json': 'mine'
  })
  const fronts = await makeFronts(t, root, { prefix: '/static/a' })
  await isNotOurs(t, fronts, '/static/a.json')
  const front = await makeFront(t, { root, env: 'development', prefix: '/static/a' })
  for (const path of ['/assets.json', '/static/a.json.map', '/manifest.json']) {
    t.is((await ask(front.port, 'GET', path)).text, 'mine')
  }
})

/** As Vite writes it. */
const MANIFEST = JSON.stringify({
  'src/main.js': { file: 'main.js', src: `src/${SECRET}.js`, isEntry: true }
})
const NEIGHBOURS = ['', '.br', '.gz', '.zst']

test('S54 a bundler’s manifest is not ours under any name, in the mount, in another, or in public', async t => {
  const names = ['me\u0301ta', 'Manifest.JSON', 'manifest.json', 'build-info.txt', 'x.js'].slice(
    0,
    cases(2, 5)
  )
  for (const name of names) {
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
    const ways = [`public/dist/${name}`, `public/current/${name}`]
    for (const manifest of ways) {
      const fronts = await makeFronts(t, root, {
        mounts: {
          '/static': { dir: 'public/dist', manifest, immutable: true },
          '/current': 'public/current',
          '/all': 'public',
          '/': 'public/dist'
        }
      })
      for (const at of ['/static', '/current', '/all/dist', '/all/current', '/dist', '']) {
        const paths = [name, decoy].flatMap(each =>
          NEIGHBOURS.map(extension => encodeURIComponent(each) + extension)
        )
        for (const path of [...paths, 'link.json', 'link.json.br']) {
          await isNotOurs(t, fronts, `${at}/${path}`, ['GET', 'HEAD'])
        }
      }
      for (const { front } of fronts) {
        for (const at of ['/static', '/current', '/all/current', '/dist', '']) {
          t.is((await ask(front.port, 'GET', `${at}/page.html`)).text, 'page')
        }
      }
    }
  }
})

test('S54 our own manifest is not ours through a mount of public either', async t => {
  const root = makeProject(t, { 'public/assets.json': SECRET, 'public/assets.json.gz': SECRET })
  symlinkSync('public', join(root, 'link'))
  const mounts = { '/files': 'public', '/link': 'link' }
  const fronts = await makeFronts(t, root, { mounts })
  for (const at of ['/files', '/link']) {
    await isNotOurs(t, fronts, `${at}/assets.json`)
    await isNotOurs(t, fronts, `${at}/assets.json.gz`)
  }
})
