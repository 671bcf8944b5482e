// What packages bring along: their list is the process's, and so is this file.
import { test } from '../../support/test.ts'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { filesBelow, placed, readManifest, run, targetOf } from '../../support/fingerprinted.ts'
import { makeProject, writeFiles } from '../../support/site.ts'
import { FILE_MODE } from '../../support/windows.ts'
import { settleProject } from '../../../lib/runtime/app/extras.ts'
import { Sources } from '../../../lib/publishing/sources/sources.ts'
import { assetSources } from '../../../lib/runtime/settings/third-party.ts'

const css = 'a { background: url(../images/third.png) }'
const thirdParty = mkdtempSync(join(tmpdir(), 'koa-fresh-assets-'))

test.before(() => {
  writeFiles(thirdParty, {
    'stylesheets/third.css': css,
    'images/third.png': 'third',
    'images/logo.png': 'their logo'
  })
  assetSources.append(thirdParty)
})

test.after.always(() => rmSync(thirdParty, { recursive: true }))

test('precompile publishes every asset of every app and third party under both names', async t => {
  const root = makeProject(
    t,
    placed({
      'javascripts/app.js.ts': 'let a: number = 1',
      'stylesheets/app.css.scss': '@use "part"',
      'stylesheets/_part.scss': 'a { color: red }',
      'stylesheets/.hidden.css': 'hidden',
      'stylesheets/app.css.scss~': 'left behind',
      'images/a/logo.png': 'logo',
      'favicon.ico': 'ico',
      '/apps/admin/assets/app.css': 'admin'
    })
  )
  const report = await run({ root })
  const plain = ['admin/app.css', 'a/logo.png', 'app.css', 'app.js', 'favicon.ico']
  const theirs = ['third.css', 'third.png', 'logo.png']
  const all = [...plain, ...theirs, ...theirs.map(name => `admin/${name}`)]
  const printed = all.map(name => targetOf(root, `/assets/${name}`).slice('/assets/'.length))
  t.deepEqual(filesBelow(join(root, 'public/assets')), [...all, ...printed].toSorted())
  t.deepEqual(
    filesBelow(join(root, 'public')).filter(file => !file.startsWith('assets/')),
    ['assets.json']
  )
  t.is(report.assets, all.length)
  const { assets } = readManifest(root)
  t.is(assets['/assets/favicon.ico']?.from, undefined, 'found in the own directory')
  t.is(assets['/assets/third.png']?.from, 1)
  t.is(report.manifest, join(root, 'public/assets.json'))
  t.deepEqual(report.changes.added.toSorted(), all.map(name => `/assets/${name}`).toSorted())
  for (const file of filesBelow(join(root, 'public'))) {
    t.is(statSync(join(root, 'public', file)).mode & 0o777, FILE_MODE, file)
  }
})

test('a directory of a third party that an app names as well is searched once', t => {
  const site = settleProject({ root: makeProject(t, { 'apps/web/x': '' }), sources: thirdParty })
  const [app] = site.apps
  const sources = new Sources(site, message => t.fail(message), [])
  t.deepEqual(app && sources.of(app).directories.slice(-1), [thirdParty])
  t.is(app && sources.of(app).directories.length, app?.sources.length)
})
