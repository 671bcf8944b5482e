// A project in a workspace, whose packages npm has put into the node_modules of the workspace's root.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { readPublic, run } from '../../support/fingerprinted.ts'
import { makeProject, makeSite, writeFiles, type Files } from '../../support/site.ts'

const ASSETS = 'packages/web/apps/web/assets'

const WORKSPACE: Files = {
  [`${ASSETS}/stylesheets/sass.css.scss`]: "@use 'kit/scss/kit'",
  [`${ASSETS}/stylesheets/pkg.css.scss`]: "@use 'pkg:kit/scss/kit'",
  [`${ASSETS}/stylesheets/less.css.less`]: "@import 'kit/less/kit';",
  [`${ASSETS}/stylesheets/plain.css`]: '.plain { background: url(kit/images/dial.svg) }',
  'node_modules/kit/package.json': '{ "name": "kit" }',
  'node_modules/kit/scss/kit.scss': ".kit { background: url('../images/dial.svg') }",
  'node_modules/kit/less/kit.less': ".kit { background: url('../images/dial.svg') }",
  'node_modules/kit/images/dial.svg': '<svg/>'
}

const sources = '../../../../node_modules/kit/images'
const NAMES = ['sass.css', 'pkg.css', 'less.css', 'plain.css']

test('WAY-03 Sass, Less and references find packages in the node_modules of every folder above the root', async t => {
  const root = join(makeProject(t, WORKSPACE), 'packages/web')
  const site = await makeSite(t, {}, { root, sources })
  for (const name of NAMES) {
    const { text } = await site.ask(`/assets/${name}`)
    t.regex(text, /url\("?'?\/assets\/dial\.svg/, `${name}: ${text}`)
  }
  t.is((await site.ask('/assets/dial.svg')).text, '<svg/>')
  await run({ root, sources })
  for (const name of NAMES) {
    t.regex(readPublic(root, `/assets/${name}`).toString(), /dial-[0-9a-f]{32}\.svg/, name)
  }
})

test('WAY-03 CMP-06a a nearer package that appears later is used, on request and by the second precompile', async t => {
  const root = join(makeProject(t, WORKSPACE), 'packages/web')
  const site = await makeSite(t, {}, { root, sources })
  const names = ['sass.css', 'less.css']
  for (const name of names) await site.ask(`/assets/${name}`)
  await run({ root, sources })
  writeFiles(join(root, '..'), {
    'node_modules/kit/package.json': '{ "name": "kit" }',
    'node_modules/kit/scss/kit.scss': '.nearer { a: b }',
    'node_modules/kit/less/kit.less': '.nearer { a: b }'
  })
  for (const name of names) t.regex((await site.ask(`/assets/${name}`)).text, /\.nearer/)
  await run({ root, sources })
  for (const name of names) t.regex(readPublic(root, `/assets/${name}`).toString(), /\.nearer/)
})

test('WAY-03 a package of the workspace itself, which npm links, is found', async t => {
  const top = makeProject(t, {
    'package.json': '{ "private": true, "workspaces": ["packages/*"] }',
    'packages/kit/package.json': '{ "name": "kit", "version": "1.0.0" }',
    'packages/kit/scss/_kit.scss': ".kit { background: url('../images/dial.svg') }",
    'packages/kit/images/dial.svg': '<svg/>',
    'packages/web/package.json': '{ "name": "web", "dependencies": { "kit": "1.0.0" } }',
    [`${ASSETS}/stylesheets/app.css.scss`]: "@use 'kit/scss/kit'"
  })
  await promisify(execFile)('npm', ['install', '--offline', '--no-audit', '--no-fund'], {
    cwd: top
  })
  const site = await makeSite(
    t,
    {},
    { root: join(top, 'packages/web'), sources: '../../../kit/images' }
  )
  t.regex((await site.ask('/assets/app.css')).text, /url\("\/assets\/dial\.svg"\)/)
})
