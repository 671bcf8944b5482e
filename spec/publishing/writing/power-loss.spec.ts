// Power loss: what is on the disk itself before a name, a manifest or a list leads to it.
import fs from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { precompile } from '../../../lib/koa-assets.ts'
import { AS_WRITTEN, makeProject, openDescriptors, replaceCalls } from '../../support/index.ts'
import { serial as test, until, viteBuild, writeFiles } from '../../support/index.ts'
import type { ExecutionContext } from '../../support/index.ts'
import { ofExtras } from '../../support/of-extras.ts'

type Event =
  | { readonly call: 'sync'; readonly path: string }
  | { readonly call: 'rename'; readonly from: string; readonly to: string }

/** Lists the calls that a command makes. */
async function record(t: ExecutionContext, run: () => Promise<unknown>, onSync = () => {}) {
  const events: Event[] = []
  const { fsync, rename } = fs
  const restore = replaceCalls(t, {
    rename(from: string, to: string, done: fs.NoParamCallback) {
      rename(from, to, error => {
        events.push({ call: 'rename', from, to })
        done(error)
      })
    },
    fsync(fd: number, done: fs.NoParamCallback) {
      const path = fs.readlinkSync(`/proc/${process.pid}/fd/${fd}`)
      onSync()
      fsync(fd, error => {
        events.push({ call: 'sync', path })
        // As on a file system that cannot be asked for folders.
        const isFolder = fs.fstatSync(fd).isDirectory()
        done(isFolder ? Object.assign(new Error('EINVAL'), { code: 'EINVAL' }) : error)
      })
    }
  })
  await run()
  restore()
  return events
}

const isSynced = (events: readonly Event[], path: string, from: number, to: number) =>
  events.slice(from, to).some(event => event.call === 'sync' && event.path === path)

/** Which renames, before an end, left bytes or a name that may be in memory alone. */
function unsavedAt(events: readonly Event[], end: number): string[] {
  return events.slice(0, end).flatMap((event, at) => {
    if (event.call !== 'rename') return []
    const { from, to } = event
    const hasBytes = isSynced(events, from, 0, at) || isSynced(events, to, at, end)
    return hasBytes && isSynced(events, dirname(to), at, end) ? [] : basename(to)
  })
}

const indexOfRename = (events: readonly Event[], name: string) =>
  events.findIndex(event => event.call === 'rename' && basename(event.to) === name)

const CSS = 'body { color: red }\n'.repeat(40)

test('precompile saves each file to the disk before the manifest or a plain name leads to it', async t => {
  const root = makeProject(t)
  const publish = () => precompile({ root, integrity: false, ...AS_WRITTEN })
  const write = (text: string) =>
    writeFiles(root, {
      'apps/web/assets/css/app.css': CSS + text,
      'apps/web/assets/images/sub/logo.png': text
    })
  write('first')
  await publish()
  write('second')
  writeFiles(root, { 'apps/web/assets/images/new/deep/icon.png': 'icon' })
  const events = await record(t, publish)
  const manifest = indexOfRename(events, 'assets.json')
  t.deepEqual(unsavedAt(events, manifest), [])
  const folder = join(root, 'public/assets/new')
  t.true(isSynced(events, folder, 0, manifest), 'a new folder has its name on the disk')
  let plain = 0
  for (const [at, event] of events.entries()) {
    const isPlain = /\/(?:app\.css|logo\.png)(?:\.br|\.gz|\.zst)?$/
    if (event.call !== 'rename' || !isPlain.test(event.to)) continue
    plain += 1
    t.true(isSynced(events, event.from, 0, at), JSON.stringify(event))
  }
  t.true(plain >= 4)
  t.deepEqual(unsavedAt(events, events.length), [], 'the manifest itself')
  t.deepEqual(await record(t, publish), [], 'what is unchanged is not written')
})

test('each of many files is saved to the disk just once, before the manifest names it', async t => {
  const names = Array.from({ length: 100 }, (_, at) => `apps/web/assets/images/${at}.png`)
  const root = makeProject(t, Object.fromEntries(names.map(name => [name, name])))
  const open = openDescriptors()
  let most = 0
  const count = () => void (most = Math.max(most, openDescriptors() - open))
  const events = await record(t, () => precompile({ root, ...AS_WRITTEN }), count)
  t.deepEqual(unsavedAt(events, indexOfRename(events, 'assets.json')), [])
  const saved = events.flatMap(event =>
    event.call === 'sync' && /\.(?:png|json|tmp)$/.test(event.path) ? event.path : []
  )
  t.is(new Set(saved).size, saved.length)
  t.true(most < 64, `${most} descriptors`)
  await until(() => openDescriptors() <= open, 'no descriptor is left')
})

const { compress, keep } = ofExtras
if (compress && keep)
  test('keep and compress end only once all that they wrote is saved to the disk', async t => {
    const root = makeProject(t)
    const release = (folder: string, hash: string) => {
      const file = `assets/app-${hash}.js`
      const files = viteBuild(folder, { 'src/app.js': file })
      writeFiles(root, { ...files, [`${folder}/${file}`]: CSS + hash })
    }
    release('older', 'AAAAAAA1')
    release('newer', 'BBBBBBB2')
    const events = await record(t, async () => {
      await keep(join(root, 'older'), join(root, 'newer'))
      await compress(join(root, 'newer'))
    })
    const at = indexOfRename(events, '.koa-fresh-assets-kept.json')
    const list = events[at]
    t.true(list?.call === 'rename' && isSynced(events, list.from, 0, at))
    t.deepEqual(unsavedAt(events, events.length), [])
    const names = events.flatMap(event => (event.call === 'rename' ? relative(root, event.to) : []))
    for (const copy of ['', '.br']) t.true(names.includes(`newer/assets/app-AAAAAAA1.js${copy}`))
  })
