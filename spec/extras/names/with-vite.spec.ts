// Names from bundlers' manifests, in views and in types.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { run as runCommand } from '../../publishing/cli/run.ts'
import { makeProject, serial as test, viteBuild, viteMount } from '../../support/index.ts'
import { writeFiles } from '../../support/index.ts'
import { checkViews } from './check.ts'
import { complaints, makeTyped } from './typed.ts'

const BUILD = viteBuild('dist', {
  'src/main.tsx': 'main-B1a2C3d4.js',
  'src/hero.png': 'hero-B1a2C3d4.png'
})
const mounts = { '/static': viteMount() }

const PROJECT = {
  'apps/web/assets/app.css': 'a{}',
  ...BUILD,
  'views/a.ejs': `<%- assets.entry('./src/main.tsx') %><%- assets.image('src/hero.png') %>
<% ctx.preload('src/main.tsx') %><%- assets.entry('src/mian.tsx') %>`
}
const inProduction = (root: string) => checkViews({ root, mounts, env: 'production' }, ['views/*'])

test('a view may name entries and sources of a bundle, with or without assets of an app', async t => {
  const root = makeProject(t, PROJECT)
  const message = "'src/mian.tsx' is not an entry; did you mean 'src/main.tsx'?"
  const mistyped = { path: 'views/a.ejs:2', name: 'src/mian.tsx', near: 'src/main.tsx', message }
  t.deepEqual((await inProduction(root)).problems, [mistyped])
  rmSync(join(root, 'apps'), { recursive: true })
  t.deepEqual((await inProduction(root)).problems, [mistyped])
})

test('an entry in a view is reported where no mount has a manifest', async t => {
  const root = makeProject(t, {
    ...PROJECT,
    'views/a.ejs': "<%- assets.entry('a') %><%- entry('b') %>"
  })
  const { problems } = await checkViews({ root }, ['views/*'])
  const messages = problems.map(({ message }) => message)
  t.deepEqual(messages, ["'a' is not an entry: no mount has a manifest"])
})

test('without the build of a bundle precompile says that the names in views are not checked', async t => {
  const root = makeProject(t, {
    'apps/web/assets/app.css': 'a{}',
    'views/a.ejs': "<%- assets.entry('src/main.tsx') %>",
    'assets.config.json': JSON.stringify({ views: 'views/*', mounts })
  })
  const { status, stderr } = await runCommand(root, 'precompile')
  t.is(status, 0)
  t.regex(stderr, /names are not checked: .*manifest\.json/)
})

test('entries and sources of a build are in the types, which accept any name before the first build', async t => {
  const root = makeTyped(t, { '/assets.config.json': JSON.stringify({ mounts }) })
  await runCommand(root, 'types')
  const lines = [
    "assets.entry('src/mian.tsx')",
    "assets.entry('./src/main.tsx') + assets.image('src/hero.png')"
  ]
  t.is(complaints(root, ...lines), '')
  writeFiles(root, BUILD)
  await runCommand(root, 'types')
  const said = complaints(root, ...lines)
  t.regex(said, /'"src\/main\.tsx"'/)
  t.is(said.match(/error TS/g)?.length, 1)
})
