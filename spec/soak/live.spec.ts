// The live channel over a long day of many tabs and edits, and at the end of a process.
import { once } from 'node:events'
import { heldBytes } from '../support/in-process.ts'
import { openTab, type Tab } from '../extras/live/tab.ts'
import { startProcess } from '../support/processes.ts'
import { cases, makeProject, makeSite, openDescriptors, test, until } from '../support/index.ts'

const MIB = 1024 * 1024
const FILES = {
  'css/app.css.scss': "@use 'part';",
  'css/_part.scss': 'a { b: 0 }',
  'js/app.js': 'app()',
  '/views/page.ejs': ''
}

test('50 tabs and many edits leak neither descriptors nor memory', async t => {
  const site = await makeSite(t, FILES, { live: { watch: ['views'] } })
  const connections = () =>
    new Promise<number>(resolve => site.server.getConnections((_, count) => resolve(count)))
  const session = async (tabCount: number, edits: number) => {
    const open = Array.from({ length: tabCount }, () => openTab(t, site.port, 'use=app.css,app.js'))
    const tabs: Tab[] = await Promise.all(open)
    await until(() => tabs.every(tab => tab.told().length > 0), 'every tab is told the first state')
    const start = performance.now()
    for (let edit = 1; edit <= edits; edit++) {
      const before = tabs[0]?.told().length ?? 0
      if (edit % 10 === 0) site.write('/views/page.ejs', `${tabCount} ${edit}`)
      else site.write('css/_part.scss', edit % 7 === 0 ? 'a { b: }' : `a { b: ${tabCount}${edit} }`)
      await until(() => (tabs[0]?.told().length ?? 0) > before, `edit ${edit} is told`)
    }
    t.log(`${tabCount} tabs: ${((performance.now() - start) / edits).toFixed(1)} ms per edit`)
    const last = () => tabs.map(tab => JSON.stringify(tab.told().at(-1)))
    await until(() => new Set(last()).size === 1, 'every tab has the same state')
    for (const tab of tabs) tab.close()
    await until(async () => (await connections()) === 0, 'no connection is left')
  }
  await session(2, 100)
  const [descriptors, bytes] = [openDescriptors(), await heldBytes()]
  await session(50, cases(100, 1000))
  await until(() => openDescriptors() <= descriptors, 'no descriptor is left')
  const held = (await heldBytes()) - bytes
  t.log(`${(held / MIB).toFixed(2)} MiB more are held`)
  t.true(held < 4 * MIB, `${held} bytes are held`)
  t.deepEqual(site.errors, [])
})

test('a process ends once its server is closed, although tabs are open', async t => {
  const root = makeProject(t, { 'apps/web/assets/css/app.css': 'a{}' })
  const { child, first } = await startProcess(t, '../extras/live/live-site.ts', root)
  const port = Number(first)
  const tab = await openTab(t, port, 'use=app.css')
  await until(() => tab.told().length > 0, 'the first state')
  child.send('close')
  const [status] = (await once(child, 'exit')) as [number]
  t.is(status, 0)
})
