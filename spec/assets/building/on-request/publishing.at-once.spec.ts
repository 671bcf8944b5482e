import { chmodSync, statSync, utimesSync } from 'node:fs'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import test from 'ava'
import { makeProject, makeSite, writeFiles, type Site } from '../../../support/site.ts'
import { LOADER, moduleFile } from '../../../support/typescript.ts'
import { until } from '../../../support/until.ts'

const URL = '/assets/app.css'
const THEN = 1_700_000_000

test('PUB-19 targets and their folders can be read by all under umask 077', async t => {
  const root = makeProject(t, { 'apps/web/assets/stylesheets/admin/a.css': 'a{}' })
  chmodSync(`${root}/apps/web/assets/stylesheets/admin/a.css`, 0o600)
  const big = Buffer.alloc(1_200_000)
  writeFiles(root, { 'apps/web/assets/images/big.bin': big })
  const script = `
    process.umask(0o077)
    const { Pipeline } = await import('${moduleFile('lib/assets/pipeline.ts')}')
    const { settle } = await import('${moduleFile('lib/assets/settings/settings.ts')}')
    const { locate } = await import('${moduleFile('lib/assets/serving/request-path.ts')}')
    const settings = settle({ root: ${JSON.stringify(root)}, env: 'development' })
    const pipeline = new Pipeline(settings)
    for (const path of ['/assets/admin/a.css', '/assets/big.bin']) {
      if (!(await pipeline.current(locate(path, settings)))) process.exit(1)
    }`
  const args = [...LOADER, '--input-type=module', '-e', script]
  await promisify(execFile)(process.execPath, args)
  const modeOf = (path: string) => statSync(`${root}/${path}`).mode & 0o777
  t.is(modeOf('public/assets/admin/a.css'), 0o644)
  t.is(modeOf('public/assets/big.bin'), 0o644)
  for (const folder of ['public', 'public/assets', 'public/assets/admin']) {
    t.is(modeOf(folder), 0o755)
  }
})

test('PUB-21 of 200 concurrent first requests one compiles, and all get the same', async t => {
  let [compiled, arrived] = [0, 0]
  const slow = {
    extensions: '.slow',
    target: '.css',
    async compile({ code }: { code: string }) {
      compiled++
      await until(() => arrived === compiled * 200, 'every request has come')
      return { code: `${code}/* ${compiled} */` }
    }
  }
  const site = await makeSite(
    t,
    { 'stylesheets/app.css.slow': 'a{}' },
    {
      compilers: [slow],
      front: (_, next) => {
        arrived++
        return next()
      }
    }
  )
  const answers = await Promise.all(Array.from({ length: 200 }, () => site.ask(URL)))
  t.is(compiled, 1)
  const [first] = answers
  for (const { status, text, headers } of answers) {
    t.deepEqual([status, text], [200, 'a{}/* 1 */'])
    t.deepEqual({ ...headers, date: '' }, { ...first?.headers, date: '' })
  }
  utimesSync(site.at('stylesheets/app.css.slow'), THEN, THEN)
  await Promise.all(Array.from({ length: 200 }, () => site.ask(URL)))
  t.is(compiled, 2)
})

test('PUB-03 an edit that is saved while a slow compile runs is in the response to every later request', async t => {
  const waiting: Array<() => void> = []
  const held = {
    extensions: '.held',
    target: '.css',
    async compile({ code }: { code: string }) {
      await new Promise<void>(resolve => waiting.push(resolve))
      return { code }
    }
  }
  const site = await makeSite(t, { 's/app.css.held': 'before{}' }, { compilers: [held] })
  const early = site.ask(URL)
  await until(() => waiting.length === 1, 'the first compile runs')
  site.write('s/app.css.held', 'after{}')
  const late = [site.ask(URL), site.ask(URL)]
  await until(async () => (await connectionsOf(site)) === 3, 'all have asked')
  waiting[0]?.()
  t.is((await early).text, 'before{}')
  await until(() => waiting.length === 2, 'the second compile runs')
  waiting[1]?.()
  t.deepEqual(
    (await Promise.all(late)).map(({ text }) => text),
    ['after{}', 'after{}']
  )
  t.is(waiting.length, 2)
})

function connectionsOf({ server }: Site): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
  })
}
