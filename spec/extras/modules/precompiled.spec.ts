// Files of npm packages that are precompiled, and not joined.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { withDigest } from '../../support/digest.ts'
import { placed, readManifest, readPublic, run, targetOf } from '../../support/fingerprinted.ts'
import { makeProject } from '../../support/site.ts'
import { APP, makePage, modulePkg, pkg, TIP } from './package-files.ts'

test('PKG-01 a precompiled site needs no packages, and finds them by no other name', async t => {
  const root = makeProject(t, placed({ ...TIP, ...APP }))
  await run({ root, packages: ['tip'], bundle: false })
  rmSync(join(root, 'node_modules'), { recursive: true })
  t.is(readManifest(root).assets['/assets/npm/tip.js']?.source, 'npm/tip.js')
  const options = { root, env: 'production', packages: ['tip'] }
  const page = await makePage(t, {}, options)
  t.regex((await page.imports())['tip/more'] ?? '', withDigest(/more-DIGEST\.js$/))
  const other = await makePage(t, {}, options, assets => assets.path('more.js'))
  t.is((await other.ask('/')).status, 500)
  t.regex(other.errors[0]?.message ?? '', /more\.js is not in .*did you mean/)
})

const AWKWARD = {
  ...pkg(
    'common',
    { main: 'index.js' },
    {
      'index.js': "exports.of = require('./part').part\nexports.mode = process.env.NODE_ENV",
      'part.js': "exports.part = 'common'"
    }
  ),
  ...modulePkg('short', "export * from './part'", { 'part.js': "export const short = 'short'" }),
  ...modulePkg(
    'swaps',
    "export { where } from './node.js'",
    {
      'node.js': "import { env } from 'node:process'\nexport const where = env",
      'browser.js': "export const where = 'browser'"
    },
    { browser: { './node.js': './browser.js' } }
  )
}
const USES = {
  'javascripts/app.js': `import { mode, of } from 'common'
import { short } from 'short'
import { where } from 'swaps'
export const told = [mode, of, short, where]`
}

for (const bundle of [true, 'packages', false] as const) {
  test(`PKG-04 packages work that no browser can import: CommonJS, paths without extensions, the field browser: ${bundle}`, async t => {
    const root = makeProject(t, placed({ ...AWKWARD, ...USES }))
    const options = { root, packages: ['common', 'short', 'swaps'], bundle }
    await run(options)
    const { assets } = readManifest(root)
    const reached = new Set(['/assets/app.js'])
    for (const path of reached) for (const to of assets[path]?.imports ?? []) reached.add(to)
    const all = [...reached]
      .map(path => readPublic(root, targetOf(root, path)).toString())
      .join('\n')
    for (const said of [/"production"/, /part = "common"/, /"short"/, /"browser"/])
      t.regex(all, said)
    t.notRegex(all, /node:process/)
  })
}
