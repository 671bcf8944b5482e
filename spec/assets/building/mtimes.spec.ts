// FPR-17a: servers that make validators of size and mtime (nginx, most of them) see every change.
import { statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { filesBelow, makeFingerprinted, MODES, targetOf } from '../../support/fingerprinted.ts'

const FILES = {
  'images/logo.png': 'one',
  'images/other.png': 'other',
  'stylesheets/app.css': 'a { background: url(../images/logo.png) }',
  'stylesheets/page.css': '@import "app.css";',
  'stylesheets/first.css': '@import "second.css";',
  'stylesheets/second.css': '@import "first.css"; a { background: url(../images/logo.png) }',
  'stylesheets/compiled.css.scss': 'a { background: url(../images/logo.png) }',
  'stylesheets/alone.css': 'a { background: url(../images/other.png) }'
}

for (const mode of MODES) {
  test(`FPR-17a a stylesheet whose image changed gets another mtime, however indirect the reference (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, FILES)
    const assets = join(site.root, 'apps/web/assets')
    for (const file of filesBelow(assets)) utimesSync(join(assets, file), 1e9, 1e9)
    await site.edit({})
    const fingerprinted = (name: string) =>
      mode === 'live' ? site.path(name) : targetOf(site.root, `/assets/${name}`)
    const mtimeOf = (path: string) => statSync(join(site.root, 'public', path)).mtimeMs / 1000
    const see = async (image: string, mtime: number, expected: number) => {
      site.write('images/logo.png', image, mtime)
      await site.edit({})
      for (const name of ['app', 'page', 'first', 'second', 'compiled']) {
        const path = await fingerprinted(`${name}.css`)
        t.is(mtimeOf(path), expected, `${name} ${image}`)
        t.is(mtimeOf(`/assets/${name}.css`), expected, `${name} ${image}, under its plain name`)
      }
      t.is(mtimeOf('/assets/alone.css'), 1e9, 'what does not show it keeps its own')
    }
    await see('two', 1_100_000_000, 1_100_000_000)
    await see('six', 1_200_000_000, 1_200_000_000)
  })
}

test('FPR-17a a second precompile neither writes nor touches anything', async t => {
  const site = await makeFingerprinted(t, 'precompiled', FILES)
  site.write('images/logo.png', 'two', 1_900_000_000)
  await site.edit({})
  const marks = () =>
    filesBelow(join(site.root, 'public/assets')).map(file => {
      const { ino, mtimeNs, ctimeNs } = statSync(join(site.root, 'public/assets', file), {
        bigint: true
      })
      return [file, ino, mtimeNs, ctimeNs]
    })
  const before = marks()
  await site.edit({})
  t.deepEqual(marks(), before)
  t.is(statSync(join(site.root, 'public', targetOf(site.root, '/assets/page.css'))).mtimeMs, 19e11)
})

for (const mode of MODES) {
  test(`FPR-17a changed bytes never keep the second of the previous mtime, whatever the sources' mtimes (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, FILES)
    const secondOf = (path: string) =>
      statSync(join(site.root, 'public', path), { bigint: true }).mtimeNs / 1_000_000_000n
    const seen = new Set<string>()
    // The mtime of all files that npm unpacks.
    const NPM = 499_162_500
    site.write('stylesheets/app.css', FILES['stylesheets/app.css'], NPM)
    for (const image of ['two', 'six', 'ten', 'two']) {
      site.write('images/logo.png', image, NPM - seen.size)
      await site.edit({})
      if (mode === 'live') await site.path('app.css')
      for (const path of ['/assets/app.css', '/assets/logo.png']) {
        const state = `${path} ${secondOf(path)}`
        t.false(seen.has(state), `${state} for ${image}`)
        seen.add(state)
      }
    }
    t.true(secondOf('/assets/app.css') < NPM + 10)
  })
}

test('FPR-17a an mtime that was moved by a second stays, and the compressed copies are served', async t => {
  const css = (color: string) => `a { color: ${color} }\n`.repeat(200)
  const site = await makeFingerprinted(t, 'precompiled', { 'app.css': css('red') })
  const encoded = async () => {
    const answer = await site.ask('/assets/app.css', { headers: { 'accept-encoding': 'gzip' } })
    return answer.headers['content-encoding']
  }
  for (const color of ['tan', 'ash']) {
    site.write('app.css', css(color), 1e9)
    await site.edit({})
    const marks = () =>
      filesBelow(join(site.root, 'public/assets'))
        .filter(file => file.startsWith('app.css'))
        .map(file => {
          const { ino, mtimeNs } = statSync(join(site.root, 'public/assets', file), {
            bigint: true
          })
          return [file, ino, mtimeNs]
        })
    const before = marks()
    t.is(new Set(before.map(([, , mtime]) => mtime)).size, 1, 'all representations are of one age')
    t.is(await encoded(), 'gzip')
    await site.edit({})
    t.deepEqual(marks(), before)
  }
})
