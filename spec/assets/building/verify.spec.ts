import { readFileSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import test from 'ava'
import { clean, precompile, verify } from '../../../lib/index.ts'
import { serialize, type ManifestEntry } from '../../../lib/assets/building/manifest/entries.ts'
import { makeProject } from '../../support/site.ts'

const FILES = {
  'apps/web/assets/stylesheets/app.css': 'body { color: red }\n'.repeat(40),
  'apps/web/assets/images/logo.png': 'logo'
}

async function makePublished(t: Parameters<typeof makeProject>[0]) {
  const root = makeProject(t, FILES)
  await precompile({ root })
  const manifest = join(root, 'public/assets.json')
  const { assets } = JSON.parse(readFileSync(manifest, 'utf8')) as {
    assets: Record<string, ManifestEntry>
  }
  return {
    root,
    manifest,
    assets,
    target: assets['/assets/app.css']?.target ?? '',
    file: (path: string) => join(root, 'public', path),
    problems: async () => (await verify({ root })).problems
  }
}

test('FPR-16 verify reports no problems after precompile', async t => {
  const { root, manifest } = await makePublished(t)
  t.deepEqual(await verify({ root }), { manifest, assets: 2, problems: [] })
})

test('FPR-16 verify reports edited, deleted and truncated files, each on its own', async t => {
  const { assets, target, file, problems } = await makePublished(t)
  const logo = assets['/assets/logo.png']?.target ?? ''
  writeFileSync(file(target), readFileSync(file(target), 'utf8').replace('red', 'tan'))
  rmSync(file(logo))
  t.deepEqual(await problems(), [
    { path: target, message: 'does not match its fingerprint' },
    { path: logo, message: 'is missing' }
  ])
  truncateSync(file(target), 700)
  t.deepEqual((await problems())[0], { path: target, message: 'has size 700, not 800' })
  rmSync(file(target))
  t.deepEqual((await problems())[0], { path: target, message: 'is missing' })
})

test('verify reports a plain name that is missing or differs from its target', async t => {
  const { target, file, problems } = await makePublished(t)
  writeFileSync(file('/assets/app.css'), 'edited')
  rmSync(file('/assets/logo.png'))
  t.deepEqual(await problems(), [
    { path: '/assets/app.css', message: `differs from ${target}` },
    { path: '/assets/logo.png', message: 'is missing' }
  ])
})

test('verify reports a compressed copy of other bytes, a damaged one, and an older one', async t => {
  const { target, file, problems } = await makePublished(t)
  const { mtime } = statSync(file(target))
  writeFileSync(file(`${target}.gz`), gzipSync('something else'))
  writeFileSync(file(`${target}.br`), 'no brotli at all')
  utimesSync(file('/assets/app.css.gz'), 1, 1)
  const later = new Date(mtime.getTime() + 1000)
  for (const path of [`${target}.gz`, `${target}.br`]) utimesSync(file(path), later, later)
  t.deepEqual(await problems(), [
    { path: `${target}.br`, message: 'cannot be decompressed' },
    { path: `${target}.gz`, message: 'does not decompress to the original' },
    {
      path: '/assets/app.css.gz',
      message: 'is older than the original, so it is not served'
    }
  ])
})

test('verify reports a truncated compressed copy', async t => {
  const { target, file, problems } = await makePublished(t)
  for (const extension of ['.br', '.gz']) {
    truncateSync(file(target + extension), 20)
  }
  t.deepEqual(
    (await problems()).map(({ path, message }) => `${path} ${message}`),
    [`${target}.br cannot be decompressed`, `${target}.gz cannot be decompressed`]
  )
})

test('a missing compressed copy is not a problem', async t => {
  const { target, file, problems } = await makePublished(t)
  rmSync(file(`${target}.br`))
  t.deepEqual(await problems(), [])
})

test('verify reports a wrong integrity, and a path that cannot be requested', async t => {
  const { manifest, assets, target, problems } = await makePublished(t)
  const entry = assets['/assets/app.css']
  const wrong = new Map(Object.entries(assets))
  if (entry) {
    wrong.set('/assets/app.css', { ...entry, integrity: ['sha384-AAAA'] })
    wrong.set('/assets/../secret', { ...entry, target: '/../secret' })
  }
  writeFileSync(manifest, serialize(wrong))
  t.deepEqual(await problems(), [
    {
      path: '/assets/../secret',
      message: 'is not a valid request path, or its target /../secret is not'
    },
    { path: target, message: 'does not match its integrity in the manifest' }
  ])
})

test('verify supports apps without fingerprints, and archives that are assets', async t => {
  const root = makeProject(t, {
    ...FILES,
    'apps/web/assets/app.css.gz': 'an archive of its own'
  })
  await precompile({ root, fingerprint: false })
  t.deepEqual((await verify({ root, fingerprint: false })).problems, [])
})

test('without a manifest verify and clean show the command that makes it', async t => {
  const root = makeProject(t, FILES)
  const expected = {
    code: 'manifest-missing',
    message: `there is no manifest ${join(root, 'public/assets.json')}: run koa-fresh-assets precompile`
  }
  await t.throwsAsync(verify({ root }), expected)
  await t.throwsAsync(clean({ root }), expected)
})
