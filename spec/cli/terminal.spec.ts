// S60: no file name can control a terminal.
import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import test from 'ava'
import { makeFingerprinted } from '../support/fingerprinted.ts'
import { makeSite } from '../support/site.ts'
import { warningsAbout } from '../support/warnings.ts'
import { makeShop, run } from './run.ts'

const ESCAPES = '\u001b]0;owned\u0007\u001b[2J\n\rPublished\u009b31m'
const TURNED = 'images/a\u202egnp.exe'
const UNSAFE = /[\0-\t\v-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

test.serial('S60 list, explain and precompile print names with escapes', async t => {
  const root = makeShop(t, { 'fine.txt': 'fine', [TURNED]: 'x', [`images/${ESCAPES}.png`]: 'x' })
  for (const [line, expected] of [
    ['list', 'images/\\u001b]0;owned\\u0007\\u001b[2J\\u000a\\u000dPublished\\u009b31m.png'],
    ['precompile --verbose', 'Building /assets/a\\u202egnp.exe'],
    [
      'precompile',
      'apps/web/assets/images/\\u001b]0;owned\\u0007\\u001b[2J\\u000a\\u000dPublished'
    ],
    [`explain a\u202egnp.exe`, 'found apps/web/assets/images/a\\u202egnp.exe']
  ] as const) {
    const { stdout, stderr } = await run(root, line)
    t.true(`${stdout}${stderr}`.includes(expected), `${line}: ${stdout}${stderr}`)
    t.notRegex(stdout + stderr, UNSAFE, line)
    t.false(/^\s*Published/m.test(stdout + stderr), line)
  }
})

test.serial('S60 a warning and an error of the running site name files with escapes', async t => {
  const name = `twice\u001b[2J`
  const site = await makeSite(t, { [`a/${name}.txt`]: 'x', [`b/${name}.txt`]: 'y' })
  await site.ask(`/assets/${encodeURIComponent(name)}.txt`)
  await site.ask('/')
  site.write(`css/broken\u001b[2J.css.scss`, 'a {')
  site.write('css/app.css.scss', '@use "broken\u001b[2J.css"')
  await site.ask('/assets/app.css')
  const texts = [...warningsAbout('twice'), ...site.errors.map(error => `${error.stack}`)]
  t.true(texts.length > 0)
  for (const text of texts) t.notRegex(text, UNSAFE, JSON.stringify(text))
  const published = await makeFingerprinted(t, 'precompiled', { 'app.css': 'a{}' })
  writeFileSync(join(published.root, 'public/assets.json'), '{ "\u001b[2J": ')
  const error = await t.throwsAsync(() => published.path('x\u202ey.css'), { code: 'asset-unknown' })
  t.notRegex(error?.message ?? '', UNSAFE)
})
