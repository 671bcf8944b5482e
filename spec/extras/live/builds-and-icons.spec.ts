// What open pages are told about builds, and about icons in their HTML.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { assetSources } from '../../../lib/koa-assets.ts'
import { makeProject, makeSite, test, until, writeFiles, type Files } from '../../support/index.ts'
import { openTold, type Tab } from './tab.ts'

/** A build of one script and its stylesheet, by paths in the project. */
const build = (script: string, text: string): Files => ({
  [`/dist/${script}`]: text,
  '/dist/main.css': text,
  '/dist/list.json': JSON.stringify({
    'src/main.js': { file: script, isEntry: true, css: ['main.css'] }
  })
})

const versionsOf = (tab: Tab) => {
  const parts = tab.told().at(-1)?.parts ?? []
  return Object.fromEntries(parts.map(({ key, version }) => [key, version]))
}

const [BUILD, OTHER] = ['build of /static', '/assets/other.css']

test('a page is told about a build once, when all of it is written, if the page uses it', async t => {
  const files = { ...build('main.js', '1'), '/dist/alone.svg': '<svg/>', 'css/other.css': 'o{}' }
  const mounts = { '/static': { dir: 'dist', manifest: 'dist/list.json' } }
  const site = await makeSite(t, files, { mounts })
  await site.ask('/')
  const used = '/static/main.js,/static/main.css,/static/alone.svg,/assets/other.css'
  const tab = await openTold(t, site.port, `use=${used}`)
  const other = await openTold(t, site.port, 'use=other.css')
  const own = ['instance', 'live.watch']
  t.deepEqual(Object.keys(versionsOf(tab)), [...own, BUILD, '/static/alone.svg', OTHER])
  t.deepEqual(Object.keys(versionsOf(other)), [...own, OTHER])
  const edit = async (text: string) => {
    const before = tab.version(OTHER)
    site.write('css/other.css', text)
    const isTold = () => [tab, other].every(each => each.version(OTHER) !== before)
    await until(isTold, 'both pages are told of the edit')
  }

  const [first, start] = [tab.version(BUILD), performance.now()]
  site.write('/dist/main.js', '2')
  await edit('o{b:c}')
  // After two seconds without a new manifest the old one counts for the files: a busy machine may take as long.
  const isSlow = performance.now() - start > 1900
  t.true(isSlow || tab.version(BUILD) === first, 'its manifest is not written yet')
  for (const next of [build('main.js', '2'), build('main-a1.js', '3'), { '/dist/main.css': '4' }]) {
    const before = tab.version(BUILD)
    for (const [file, text] of Object.entries(next)) site.write(file, text)
    await until(() => tab.version(BUILD) !== before, 'the page is told of the build')
  }
  await edit('o{d:e}')
  const told = tab.told().map(({ parts }) => parts.find(({ key }) => key === BUILD)?.version)
  const changes = told.filter((version, at) => version !== told[at - 1])
  t.true(changes.length === 4 || (isSlow && changes.length === 5), 'first, and three builds')
  const all = tab.told().map(({ parts }) => parts.map(({ version }) => version).join())
  t.is(new Set(all).size, all.length, 'no message repeats another')
  t.is(other.told().length, 3, 'the first message, and two edits of other.css')
})

const icon = (inside: string) => `<svg xmlns="http://www.w3.org/2000/svg">${inside}</svg>`

// A directory of a third party, for all specs in this process: nothing can be removed from assetSources.
const drawn = makeProject({ teardown: end => test.after.always(end) })
assetSources.append(drawn)

for (const fingerprint of [false, true])
  test(`an open page is told when an icon in it is edited, in any source directory (fingerprint: ${fingerprint})`, async t => {
    const vendor = `vendor/${fingerprint}.svg`
    const names = ['icons/cart.svg', 'theme/moon.svg', vendor]
    writeFiles(drawn, { [`img/${vendor}`]: icon('<g/>') })
    const own = ['images/icons/cart.svg', '/theme/img/theme/moon.svg', 'images/icons/other.svg']
    const files = Object.fromEntries(own.map(file => [file, icon('<g/>')]))
    const site = await makeSite(t, files, {
      fingerprint,
      base: '/shop',
      inline: ['icons/**', 'theme/**', vendor],
      sources: '../../theme',
      routes: ctx => void (ctx.body = names.map(name => ctx.assets.inline(name)).join(''))
    })
    const sources = [...own.slice(0, 2).map(site.at), join(drawn, 'img', vendor)]
    t.is((await site.ask('/')).status, 200)
    const tab = await openTold(t, site.port)
    const keyOf = (name: string) => `icon in pages: /assets/${name}`
    const keys = ['instance', 'live.watch', ...names.map(keyOf)]
    t.deepEqual(Object.keys(versionsOf(tab)), keys, 'other.svg is in no page')
    for (const [at, name] of names.entries()) {
      const before = versionsOf(tab)
      writeFileSync(sources[at] ?? '', icon(`<path d="M0 0" id="${name}"/>`))
      const isTold = () => ![null, before[keyOf(name)]].includes(tab.version(keyOf(name)))
      await until(isTold, `an edit of ${name}`)
      const others = { ...before, [keyOf(name)]: tab.version(keyOf(name)) }
      t.deepEqual(versionsOf(tab), others, 'no other part has changed')
      t.true((await site.ask('/')).text.includes(name))
    }
    const parts = tab.told().at(-1)?.parts ?? []
    const urls = parts.flatMap(({ url }) => url ?? [])
    t.deepEqual(urls, [], 'only a reload shows an icon')

    site.write('images/icons/cart.svg', icon('\n<script/>'))
    const isRefused = () => tab.told().at(-1)?.problems[0]?.location?.endsWith('cart.svg:2:1')
    await until(() => isRefused() === true, 'the problem')
    t.is(tab.told().at(-1)?.problems[0]?.link, undefined, 'live.editor names no editor')
    t.is(tab.version(keyOf('icons/cart.svg')), null, 'the page stays as it is')
  })
