// A clock that was set back by an hour: every file seems to have been changed in time to come.
import { utimesSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { makeFront } from '../support/front.ts'
import { ask } from '../support/raw.ts'
import { makeProject, writeFiles } from '../support/site.ts'

const clock = Date.now
Date.now = () => clock() - 3_600_000

test.serial('with the clock set back every request is answered, with the newest bytes', async t => {
  const root = makeProject(t, {
    'apps/web/assets/x/app.css': 'one',
    'apps/web/assets/x/sheet.css.scss': '@use "part"; a { one: 1 }',
    'apps/web/assets/x/_part.scss': 'b { one: 1 }',
    'apps/web/assets/x/film.bin': Buffer.alloc(1_500_000, 'one'),
    'public/robots.txt': 'one'
  })
  const part = join(root, 'apps/web/assets/x/_part.scss')
  const { port, errors } = await makeFront(t, { root, env: 'test' })
  const paths = ['/assets/app.css', '/assets/sheet.css', '/assets/film.bin', '/robots.txt']
  const see = async (what: string) => {
    for (const path of paths) {
      const answer = await ask(port, 'GET', path)
      t.is(answer.status, 200)
      t.true(answer.text.includes(what), `${path} ${answer.text.slice(0, 100)}`)
      const { etag = '' } = answer.headers
      t.is((await ask(port, 'GET', path, { 'If-None-Match': etag })).status, 304)
    }
  }
  await see('one')
  await see('one')
  writeFiles(root, { 'apps/web/assets/x/another.css': 'another' })
  await see('one')
  writeFiles(root, {
    'apps/web/assets/x/app.css': 'two',
    'apps/web/assets/x/_part.scss': 'b { two: 2 }',
    'apps/web/assets/x/film.bin': Buffer.alloc(1_500_000, 'two'),
    'public/robots.txt': 'two'
  })
  await see('two')
  utimesSync(part, 4e9, 4e9)
  await see('two')
  await see('two')
  t.deepEqual(errors, [])
})
