// The same sources make the same bytes, wherever and whenever they were checked out.
import test from 'ava'
import { mkdirSync, readdirSync, renameSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { filesBelow, placed, run, snapshot } from '../../support/fingerprinted.ts'
import { makeProject, writeFiles, type Files } from '../../support/site.ts'

const long = (text: string) => text.repeat(60)

const sources: Files = placed({
  'stylesheets/app.css.scss': '@use "part"; a { background: url(../images/logo.png) }',
  'stylesheets/_part.scss': long('b { color: red }'),
  'stylesheets/theme.css.less': '.a { .b { color: red } background: url(logo.png) }',
  'stylesheets/a.css': '@import "b.css";',
  'stylesheets/b.css': '@import "a.css";',
  'javascripts/app.js.ts': long('let a: number = 1;').replaceAll('a:', (_, at) => `a${at}:`),
  'javascripts/min.js': `${long('go();')}\n//# sourceMappingURL=min.js.map\n`,
  'javascripts/min.js.map': long('{"version":3}'),
  'images/logo.png': long('logo'),
  'images/Übersicht 😀.svg': long('<svg/>'),
  'films/film.bin': long(long(long('films'))),
  '/apps/admin/assets/stylesheets/app.css':
    '@import "theme.css"; a { background: url(/assets/logo.png) }',
  '/shared/stylesheets/shared.css': 'a{}'
})

const options = { sources: '../../shared', integrity: ['sha256', 'sha512'] as const }

test('two checkouts of the same sources publish identical bytes, compressed copies and manifest included', async t => {
  const [here, there] = [
    makeProject(t),
    join(makeProject(t), 'quite/another/directory, with blanks')
  ]
  mkdirSync(there, { recursive: true })
  writeFiles(here, sources)
  writeFiles(there, Object.fromEntries(Object.entries(sources).toReversed()))
  for (const [at, root] of [here, there].entries()) {
    for (const [number, file] of filesBelow(root).entries()) {
      const seconds = 1.5e9 + at * 1e7 + ((number * 7919) % 1000)
      utimesSync(join(root, file), seconds, seconds)
    }
    await run({ root, ...options, missing: 'warn' })
  }
  const [one, other] = [here, there].map(root => snapshot(join(root, 'public')))
  t.deepEqual(other, one)
  t.true((one?.size ?? 0) > 40)
  for (const extension of ['.gz', '.br']) {
    t.true([...(one?.keys() ?? [])].filter(path => path.endsWith(extension)).length >= 10)
  }
})

test('a project that was moved is precompiled to the same bytes', async t => {
  const parent = makeProject(t)
  const [before, after] = [join(parent, 'before'), join(parent, 'after')]
  writeFiles(before, sources)
  await run({ root: before, ...options, missing: 'warn' })
  const first = snapshot(join(before, 'public'))
  renameSync(before, after)
  const report = await run({ root: after, ...options, missing: 'warn' })
  t.deepEqual(snapshot(join(after, 'public')), first)
  t.deepEqual(report.changes, { added: [], changed: [], removed: [] })
  t.deepEqual(readdirSync(parent), ['after'])
})
