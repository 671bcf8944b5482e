import { renameSync, rmSync, utimesSync } from 'node:fs'
import { makeHelpers } from '../../runtime/views/view-helpers-site.ts'
import { encodePath } from '../../../lib/runtime/urls/spelling.ts'
import type { LinkedReport } from '../../../lib/extras/live/page-state.ts'
import { helpersOf } from '../../../lib/extras/live/tag.ts'
import { withSlashes } from '../../../lib/runtime/files/paths.ts'
import { startProcess } from '../../support/processes.ts'
import { isWindows, makeProject, makeSite, test, until, untilSettled } from '../../support/index.ts'
import { writeFiles } from '../../support/index.ts'
import { openTold } from './tab.ts'

const FILES = {
  'css/app.css.less': "@import '_part';",
  'css/_part.less': 'a { b: c }',
  'css/other.css': 'o{}',
  'js/app.js': 'app()'
}
const APP = '/assets/app.css'

test('a page is told the current version of each asset that it uses, also after an edit', async t => {
  const site = await makeSite(t, FILES)
  const tab = await openTold(t, site.port, 'use=app.css,/assets/app.js,/elsewhere.css')
  const { headers } = tab.answer
  t.is(headers['content-type'], 'text/event-stream; charset=utf-8')
  t.is(headers['cache-control'], 'no-store, no-transform')
  t.is(headers['content-security-policy'], "frame-ancestors 'none'")
  const [{ parts, problems } = { parts: [], problems: [] }] = tab.told()
  t.deepEqual(problems, [])
  const keys = parts.map(({ key }) => key)
  t.deepEqual(keys, ['instance', 'live.watch', APP, '/assets/app.js'])
  const [, , app] = parts
  t.is(app?.version, (await site.ask(APP)).headers.etag)
  t.deepEqual([app?.path, app?.url, app?.isLate], [APP, APP, false])

  site.write('css/_part.less', 'a { b: d }')
  const { parts: now } = await tab.next()
  t.not(now[2]?.version, app?.version)
  t.is(now[2]?.version, (await site.ask(APP)).headers.etag)
  t.deepEqual([now[0], now[1], now[3]], [parts[0], parts[1], parts[3]])
})

test('an editor that empties a file before it writes it causes one change', async t => {
  const site = await makeSite(t, FILES)
  const tab = await openTold(t, site.port, 'use=app.js')
  const [last, now] = [() => tab.version('/assets/app.js'), () => performance.now()]
  // A busy machine may take longer than any editor.
  for (let isSlow = true; isSlow;) {
    // Nothing looks once more at what was written in the round before.
    await untilSettled()
    const [{ length }, before, start] = [tab.told(), last(), now()]
    site.write('js/app.js', '')
    await until(() => now() - start > 25, 'the file is empty for a moment')
    site.write('js/app.js', `app(${start})`)
    isSlow = now() - start > 40
    const { etag } = (await site.ask('/assets/app.js')).headers
    await until(() => last() === etag, 'the page is told of the text')
    const versions = tab
      .told()
      .slice(length)
      .flatMap(({ parts }) => parts.at(-1)?.version ?? [])
    if (!isSlow) t.deepEqual([...new Set([before, ...versions])], [before, etag])
  }
})

test('a page is told of an error in its assets until that is fixed', async t => {
  const site = await makeSite(t, FILES, { live: { editor: 'cursor' } })
  const tab = await openTold(t, site.port, `use=${APP}`)
  const other = await openTold(t, site.port, 'use=/assets/other.css')
  const good = tab.version(APP)

  site.write('css/_part.less', 'a {\n  b: @none;\n}')
  const { problems } = await tab.next()
  const { excerpt, reason, ...problem } = problems[0] as LinkedReport
  t.deepEqual(problem, {
    title: 'This source does not compile',
    location: 'apps/web/assets/css/_part.less:2:6',
    link: `cursor://file${isWindows ? '/' : ''}${encodePath(withSlashes(site.at('css/_part.less')))}:2:6`
  })
  t.is(reason, 'variable @none is undefined')
  t.is(excerpt, 'a {\n  b: @none;\n}')
  t.is(tab.version(APP), null)

  site.write('css/_part.less', 'a { b: c }')
  t.deepEqual((await tab.next()).problems, [])
  t.is(tab.version(APP), good)
  t.is(other.told().length, 1, 'it uses nothing of this')
})

test('only edits of its files, however they are saved, change the version of live.watch', async t => {
  const views = { '/views/page.ejs': '1', '/views/parts/_head.ejs': '1', '/views/.hidden': '1' }
  const site = await makeSite(t, views, { live: { watch: ['views'] } })
  const tab = await openTold(t, site.port)
  const change = async (edit: () => void) => {
    const before = tab.version('live.watch')
    edit()
    await until(() => tab.version('live.watch') !== before, 'another version')
  }
  await change(() => site.write('/views/page.ejs', '2'))
  await change(() => site.write('/views/parts/_head.ejs', '2'))
  await change(() => {
    site.write('/views/page.ejs~', '3')
    renameSync(site.at('/views/page.ejs~'), site.at('/views/page.ejs'))
  })
  await change(() => site.write('/views/new/page.ejs', '1'))
  await change(() => rmSync(site.at('/views/new'), { recursive: true }))

  const { length } = tab.told()
  site.write('/views/.hidden', '2')
  site.write('/views/page.ejs', '4')
  await tab.next()
  t.is(tab.told().length, length + 1)
  const { port } = await makeSite(t, {}, { root: site.root, live: { watch: ['views'] } })
  t.is((await openTold(t, port)).version('live.watch'), tab.version('live.watch'))
})

test('an asset that was edited after the page was opened is reported as late', async t => {
  const site = await makeSite(t, FILES)
  const minutesAgo = (minutes: number) => Date.now() / 1000 - minutes * 60
  const edited = { 'css/_part.less': 9, 'css/app.css.less': 9, 'css/other.css': 3, 'js/app.js': -9 }
  for (const [file, minutes] of Object.entries(edited))
    utimesSync(site.at(file), minutesAgo(minutes), minutesAgo(minutes))
  const use = 'use=app.css,other.css,app.js'
  const late = async (query: string) => {
    const tab = await openTold(t, site.port, query)
    const parts = tab.told()[0]?.parts.filter(({ isLate }) => isLate) ?? []
    // This process may be younger than the page is said to be.
    return parts.map(({ key }) => key).filter(key => key !== 'instance')
  }
  t.deepEqual(await late(`age=${5 * 60_000}&${use}`), ['/assets/other.css'])
  t.deepEqual(await late(`age=1000&${use}`), [], 'nothing, and not what has a time to come')
  t.deepEqual(await late(use), [], 'nothing for a page that connects again')
  t.deepEqual(await late(`age=x&${use}`), [])
})

test('a page may ask about 1,000 assets, with any characters in their names', async t => {
  const name = "a, b+c&d=%é'.css"
  const site = await makeSite(t, { [`css/${name}`]: 'a{}', 'css/n992.css': '', 'css/n993.css': '' })
  const path = `/assets/${encodeURI(name)}`
  t.is((await site.ask(path)).status, 200)
  const use = encodeURIComponent(path)
  const numbered = Array.from({ length: 1000 }, (_, number) => `n${number}.css`)
  const query = `x=1&use=${use},%,%zz,..%2Fx,/assets/../a,//a,,${numbered.join()}`
  const tab = await openTold(t, site.port, query)
  const paths = tab.told()[0]?.parts.flatMap(({ path }) => path ?? [])
  t.deepEqual(paths, [path, '/assets/n992.css'])
})

test('on a file system without events every edit is reported within seconds', async t => {
  const files = { 'apps/web/assets/css/app.css': 'a{}', 'views/_page.ejs': '1' }
  const root = makeProject(t, files)
  const options = { root, env: 'development', live: { watch: ['views'] } }
  const { first } = await startProcess(t, 'silent-site.ts', options)
  const tab = await openTold(t, Number(first), 'use=app.css')
  const keys = { 'apps/web/assets/css/app.css': APP, 'views/_page.ejs': 'live.watch' }
  for (const [file, key] of Object.entries(keys)) {
    const before = tab.version(key)
    writeFiles(root, { [file]: 'edited' })
    await until(() => tab.version(key) !== before, `another version of ${file}`)
  }
  t.true(tab.told().length >= 3)
})

test('live() writes its script tag, with the nonce, only into pages with live reload', t => {
  const extras = [helpersOf(['/assets/-/live.js'])]
  const helpers = makeHelpers({ host: 'https://cdn.example' }, undefined, extras)
  const { live, app } = helpers('web', true)
  const script = '<script src="/assets/-/live.js" type="module" async="async"'
  t.is(live(), `${script}></script>`)
  for (const each of [live, app('admin').live])
    t.is(each({ nonce: '">' }), `${script} nonce="&quot;&gt;"></script>`)
  t.is(helpers('web').live({ nonce: 'n' }), '')
  t.is(helpers('web', false).app('admin').live(), '')
  for (const isLive of [true, false]) {
    const { live } = helpers('web', isLive)
    t.throws(() => live({ nonse: 'n' } as object), { instanceOf: TypeError, message: /nonce/ })
    t.throws(() => live({ q: 1, __keywords: true } as object), {
      message: "unknown option 'live.q': known options: nonce"
    })
  }
})
