// What tells paths of sources to everybody: S54.
import test from 'ava'
import { isNotOurs, makeFront, makeFronts } from '../support/front.ts'
import { ask } from '../support/raw.ts'
import { makeProject } from '../support/site.ts'
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
