// What open pages are told about builds, about Vite's dev server, and about icons in their HTML.
import { mkdtempSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from '../../support/test.ts'
import type { Middleware } from 'koa'
import { freshAssets } from '../../../lib/extras/vite/plugin.ts'
import { assetSources } from '../../../lib/koa-assets.ts'
import { ESBUILD, TWO_BUILDS, viteMount } from '../../support/bundler-project.ts'
import { makeProject, makeSite, writeFiles } from '../../support/site.ts'
import { until } from '../../support/until.ts'
import { startVite } from '../../support/vite-server.ts'
import { openTold } from './tab.ts'

const manifest = (file: string) =>
  JSON.stringify({ 'src/main.js': { file, isEntry: true, css: ['main.css'] } })

test('a page is told about a build once, when all of it is written, and about no build it does not use', async t => {
  const built = { '/dist/main.js': '1', '/dist/main.css': '1', '/dist/alone.svg': '<svg/>' }
  const files = { ...built, '/dist/list.json': manifest('main.js'), 'css/other.css': 'o{}' }
  const mounts = { '/static': { dir: 'dist', manifest: 'dist/list.json' } }
  const site = await makeSite(t, files, { mounts })
  await site.ask('/')
  const use = ['/static/main.js', '/static/main.css', '/static/alone.svg', '/assets/other.css']
  const tab = await openTold(t, site.port, `use=${use.join()}`)
  const other = await openTold(t, site.port, 'use=other.css')
  const keysOf = ({ told }: typeof tab) =>
    told()[0]
      ?.parts.map(({ key }) => key)
      .slice(2)
  const build = 'build of /static'
  t.deepEqual(keysOf(tab), [build, '/static/alone.svg', '/assets/other.css'])
  t.deepEqual(keysOf(other), ['/assets/other.css'])
  const told: (string | null | undefined)[] = []
  const change = async (edits: Readonly<Record<string, string>>) => {
    for (const [file, content] of Object.entries(edits)) site.write(file, content)
    const before = tab.version(build)
    await until(() => tab.version(build) !== before, 'the page is told about the build')
    told.push(tab.version(build))
  }
  site.write('/dist/main.js', '2')
  site.write('css/other.css', 'o{b:c}')
  const { parts } = await tab.next()
  t.is(parts[2]?.version, tab.told()[0]?.parts[2]?.version, 'the manifest is not there yet')
  await change({ '/dist/main.css': '2', '/dist/list.json': manifest('main.js') })
  await change({ '/dist/main-a1.js': '3', '/dist/list.json': manifest('main-a1.js') })
  await change({ '/dist/main.css': '4' })
  site.write('css/other.css', 'o{d:e}')
  await tab.next()
  const versions = tab.told().map(({ parts: [, , { version } = {}] }) => version)
  t.deepEqual([...new Set(versions)].slice(1), told, 'each build once')
  t.is(tab.told().length, 6)
  t.is(other.told().length, 3)
})

test('a page that uses a build of Vite is told when Vite is not running, and other pages are not', async t => {
  const root = makeProject(t, TWO_BUILDS)
  const at = new Date().setHours(17, 17, 0) / 1000
  utimesSync(join(root, viteMount().manifest), at, at)
  const mounts = { '/static': viteMount(), '/other': ESBUILD }
  const routes: Middleware = ({ assets, response }) =>
    void (response.body = assets.entry('src/main.js', { mount: '/static' }))
  const site = await makeSite(t, {}, { root, mounts, routes })
  await site.ask('/')
  const notesOf = async (path: string) => {
    const { told, close } = await openTold(t, site.port, `use=${path}`)
    const [first] = told()
    close()
    return first?.notes
  }
  const note = 'Vite is not running: tags of the build of 17:17'
  t.deepEqual(await notesOf('/static/main-B1a2C3d4.js'), [note])
  t.deepEqual(await notesOf('/other/main.js'), [])
  const plugins = [freshAssets({ mount: '/static', input: 'src/main.js' })]
  const { server } = await startVite(t, root, { plugins })
  await site.ask('/')
  t.deepEqual(await notesOf('/static/main-B1a2C3d4.js'), [])
  await server.close()
  await site.ask('/')
  t.deepEqual(await notesOf('/static/main-B1a2C3d4.js'), [note])
})

const icon = (inside: string) => `<svg xmlns="http://www.w3.org/2000/svg">${inside}</svg>`

// A directory of a third party, for all specs in this process: nothing can be removed from assetSources.
const drawn = mkdtempSync(join(tmpdir(), 'koa-fresh-assets-'))
assetSources.append(drawn)
test.after.always(() => rmSync(drawn, { recursive: true }))

for (const fingerprint of [false, true])
  test(`an open page is told when an icon in it is edited, in any source directory (fingerprint: ${fingerprint})`, async t => {
    const vendor = `vendor/${fingerprint}.svg`
    const names = ['icons/cart.svg', 'theme/moon.svg', vendor]
    writeFiles(drawn, { [`img/${vendor}`]: icon('<g/>') })
    const own = ['images/icons/cart.svg', 'images/icons/other.svg', '/theme/img/theme/moon.svg']
    const files = Object.fromEntries(own.map(file => [file, icon('<g/>')]))
    const site = await makeSite(t, files, {
      fingerprint,
      base: '/shop',
      inline: ['icons/**', 'theme/**', vendor],
      sources: '../../theme',
      routes: ctx => void (ctx.body = names.map(name => ctx.assets.inline(name)).join(''))
    })
    t.is((await site.ask('/')).status, 200)
    const tab = await openTold(t, site.port)
    const edits = [
      [site.root, 'apps/web/assets/images/icons/cart.svg', 'icons/cart.svg'],
      [site.root, 'theme/img/theme/moon.svg', 'theme/moon.svg'],
      [drawn, `img/${vendor}`, vendor]
    ] as const
    const partsNow = () => tab.told().at(-1)?.parts ?? []
    for (const [at, [root, file, name]] of edits.entries()) {
      const before = partsNow()
      writeFiles(root, { [file]: icon(`<path d="M0 0" id="${name}"/>`) })
      const { key = '', url, version } = before[at + 2] ?? {}
      await until(() => ![undefined, null, version].includes(tab.version(key)), `an edit of ${key}`)
      t.is(key, `icon in pages: /assets/${name}`)
      t.is(url, undefined, 'only a reload shows it')
      t.deepEqual(partsNow().toSpliced(at + 2, 1), before.toSpliced(at + 2, 1))
      t.true((await site.ask('/')).text.includes(name))
    }
    t.is(tab.told().at(-1)?.parts.length, 2 + names.length, 'other.svg is in no page')

    site.write('images/icons/cart.svg', icon('\n<script/>'))
    const isRefused = () => tab.told().at(-1)?.problems[0]?.location?.endsWith('cart.svg:2:1')
    await until(() => isRefused() === true, 'the problem')
    t.is(partsNow()[2]?.version, null, 'the page stays as it is')
  })
