// A clock that was set back by an hour, before the server starts or while it runs: every file seems to have been
// changed in time to come, and what was trusted for a second is not trusted for an hour. Put forward, it makes files old.
import { renameSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import type { Middleware } from 'koa'
import { precompile } from '../../../lib/koa-assets.ts'
import { makeProject, makeSite, serial as test, until } from '../../support/index.ts'
import { withDigest, writeFiles, type ExecutionContext } from '../../support/index.ts'

const clock = Date.now
const HOUR = 3_600_000
let back = 0
Date.now = () => clock() - back

function setBack(t: ExecutionContext, by = HOUR): void {
  back = by
  t.teardown(() => (back = 0))
}

const PRODUCTION = { env: 'production', compile: false, fingerprint: false, revalidate: 0.2 }

test('with the clock set back a changed file, and one that appears, is seen as soon as before', async t => {
  const files = { '/public/a.txt': 'one', '/build/a.txt': 'one', '/public/deep/sub/x.txt': 'x' }
  const site = await makeSite(t, files, { ...PRODUCTION, mounts: { '/static': 'build' } })
  const text = async (path: string) => (await site.ask(path)).text
  for (const path of ['/a.txt', '/static/a.txt']) t.is(await text(path), 'one')
  // The first miss watches the folder, the next one is remembered.
  for (let times = 0; times < 3; times++) t.is(await text('/deep/sub/a.txt'), 'Not Found')
  setBack(t)
  for (const file of ['/public/a.txt', '/build/a.txt']) site.write(file, 'two')
  renameSync(site.at('/public/deep'), site.at('/away'))
  site.write('/public/deep/sub/a.txt', 'two')
  for (const path of ['/a.txt', '/static/a.txt', '/deep/sub/a.txt'])
    await until(async () => (await text(path)) === 'two', `the new bytes of ${path}`)
  t.pass()
})

test('with the clock set back a new manifest is read as soon as before', async t => {
  const root = makeProject(t, { 'apps/web/assets/x/app.css': 'one' })
  await precompile({ root })
  const routes: Middleware = ctx => void (ctx.body = ctx.assets.url('app.css'))
  const site = await makeSite(t, {}, { root, env: 'production', revalidate: 0.2, routes })
  const page = async () => (await site.ask('/page')).text
  const before = await page()
  t.regex(before, withDigest(/^\/assets\/app-DIGEST\.css$/))
  setBack(t)
  writeFiles(root, { 'apps/web/assets/x/app.css': 'two' })
  await precompile({ root })
  await until(async () => (await page()) !== before, 'the new name')
  t.pass()
})

test('a folder of old files that is renamed into place of another is served with its compressed copies', async t => {
  const [old, next] = ['old '.repeat(200), 'next '.repeat(200)]
  const folder = (at: string, name: string, text: string) => ({
    [`${at}/${name}`]: text,
    [`${at}/${name}.gz`]: gzipSync(text)
  })
  const files = { ...folder('/next', 'a.css', next), ...folder('/next', 'new.css', next) }
  const options = { ...PRODUCTION, apps: false, revalidate: 1 } as const
  const site = await makeSite(t, { ...files, ...folder('/public/css', 'a.css', old) }, options)
  const sent = async (name: string) => {
    const { headers, bytes } = await site.ask(name, { headers: { 'accept-encoding': 'gzip' } })
    return [headers['content-encoding'], bytes]
  }
  setBack(t, -HOUR)
  t.deepEqual(await sent('/css/a.css'), ['gzip', gzipSync(old)])
  renameSync(site.at('/public/css'), site.at('/public/before'))
  renameSync(site.at('/next'), site.at('/public/css'))
  t.deepEqual(await sent('/css/new.css'), ['gzip', gzipSync(next)], 'one that the other lacked')
  await until(async () => (await site.ask('/css/a.css')).text === next, 'the new bytes')
  t.deepEqual(await sent('/css/a.css'), ['gzip', gzipSync(next)])
})
