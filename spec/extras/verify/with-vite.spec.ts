import test from 'ava'
import { precompile, verify } from '../../../lib/index.ts'
import { makeProject } from '../../support/site.ts'

test('MNT-03 verify runs before the directory of a mount is made', async t => {
  const root = makeProject(t, { 'apps/web/assets/css/app.css': 'a{}' })
  const options = { root, mounts: { '/x': { dir: 'later', manifest: 'later/m.json' } } }
  await precompile(options)
  t.deepEqual((await verify(options)).problems, [])
})

test('BAS-01 verify finds what was built for another base than that of the site, once for each file', async t => {
  const files = ['main-CZTearZk.js', 'lazy-DgfC_S5W.css', 'hero-Cwg7rssR.png', 'more-BVFPTd8P.js']
  const root = makeProject(t, {
    'dist/m.json': JSON.stringify(
      Object.fromEntries(files.map(file => [file, { file, isEntry: file.endsWith('.js') }]))
    ),
    'dist/main-CZTearZk.js': 'a("/static/hero-Cwg7rssR.png?x", "/static/lazy-DgfC_S5W.css")',
    'dist/lazy-DgfC_S5W.css': 'a{b:url(/static/hero-Cwg7rssR.png)}',
    'dist/more-BVFPTd8P.js':
      '"/shop/static/hero-Cwg7rssR.png" + "/static/" + "/static/other.png" + "./hero-Cwg7rssR.png"',
    'dist/hero-Cwg7rssR.png': ''
  })
  const options = {
    root,
    apps: false,
    mounts: { '/static': { dir: 'dist', manifest: 'dist/m.json' } }
  } as const
  const message =
    'names /static/hero-Cwg7rssR.png, which is at /shop/static/hero-Cwg7rssR.png: build with that base, as ' +
    "freshAssets({ base: '/shop', … }) does"
  t.deepEqual((await verify({ ...options, base: '/shop' })).problems, [
    { path: '/static/lazy-DgfC_S5W.css', message },
    { path: '/static/main-CZTearZk.js', message }
  ])
  t.deepEqual((await verify(options)).problems, [])
})
