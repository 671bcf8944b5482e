// What open pages are told about the builds of bundlers.
import { test } from '../../support/test.ts'
import { makeSite } from '../../support/site.ts'
import { until } from '../../support/until.ts'
import { openTold } from './tab.ts'

const FILES = { 'css/other.css': 'o{}', 'js/app.js': 'app()' }

const manifest = (entry: string) =>
  JSON.stringify({ 'src/main.js': { file: entry, isEntry: true, css: ['main.css'] } })

test('a page is told about a build once, when all of it is written, and about no other', async t => {
  const built = { '/dist/main.js': '1', '/dist/main.css': '1', '/dist/alone.svg': '<svg/>' }
  const files = { ...FILES, ...built, '/dist/list.json': manifest('main.js') }
  const mounts = { '/static': { dir: 'dist', manifest: 'dist/list.json' } }
  const site = await makeSite(t, files, { mounts })
  await site.ask('/')
  const use = ['/static/main.js', '/static/main.css', '/static/alone.svg', '/assets/other.css']
  const tab = await openTold(t, site.port, `use=${use.join()}`)
  const other = await openTold(t, site.port, 'use=other.css')
  const keys = () => tab.told()[0]?.parts.map(({ key }) => key)
  const build = 'build of /static'
  const shared = ['instance', 'live.watch']
  t.deepEqual(keys(), [...shared, build, '/static/alone.svg', '/assets/other.css'])
  t.deepEqual(
    other.told()[0]?.parts.map(({ key }) => key),
    [...shared, '/assets/other.css']
  )
  const told: (string | null | undefined)[] = []
  const change = async (edits: Readonly<Record<string, string>>) => {
    for (const [file, content] of Object.entries(edits)) site.write(file, content)
    const before = tab.version(build)
    await until(() => tab.version(build) !== before, 'the build is told')
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
