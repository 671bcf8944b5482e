// Commands, the inspector and requests agree on the state of each asset.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { namedInProduction, writeNameTypes } from '../../../lib/extras/names/name-types.ts'
import { settleForPrecompile } from '../../../lib/runtime/app/extras.ts'
import { makeSite, test } from '../../support/index.ts'
import { listOf } from '../inspector/inspected.ts'
import { explain, listAssets } from './told.ts'

const FILES = {
  'css/current.css': 'a{}',
  'css/edited.css': 'a{}',
  'css/new.css': 'a{}',
  'css/broken.css.scss': 'a {',
  'one/twice.css': 'a{}',
  'two/twice.css': 'b{}'
}

const ASSETS = [
  ['current.css', 'published', 200, /^200, its target, which is current$/],
  ['edited.css', 'outdated', 200, /^200, after publishing its source, which has changed$/],
  ['new.css', 'unpublished', 200, /^200, after publishing its source$/],
  ['broken.css', 'broken', 500, /^500, as its source cannot be published/]
] as const

test('list, types, explain, the inspector and a request say the same about an asset', async t => {
  const site = await makeSite(t, FILES)
  const { root } = site
  for (const name of ['current.css', 'edited.css']) await site.ask(`/assets/${name}`)
  site.write('css/edited.css', 'a{color:red}', Date.now() / 1000 + 5)
  const inspected = (await listOf(site)).assets
  const listed = await listAssets({ root })
  await writeNameTypes(await namedInProduction(settleForPrecompile({ root }), () => undefined))
  const types = readFileSync(join(root, 'assets.d.ts'), 'utf8')
  for (const [name, state, status, outcome] of ASSETS) {
    const path = `/assets/${name}`
    const explained = await explain(name, { root, env: 'development', serve: true })
    const row = inspected.find(each => each.path === path)
    t.is(row?.state, state, name)
    t.is(explained.verdict?.state, state, name)
    t.is(listed.find(each => each.path === path)?.source, row?.source, name)
    t.is(explained.source, row?.source, name)
    t.regex(explained.outcome, outcome)
    t.is(explained.isFound, status === 200, name)
    t.true(types.includes(`"${name}"`), name)
    t.is((await site.ask(path)).status, status, name)
    if (state !== 'broken') continue
    const place = 'apps/web/assets/css/broken.css.scss:1:4'
    const reason = `${place}: expected end of rule.`
    t.deepEqual([explained.verdict?.reason, row?.problems], [reason, [reason]])
    t.notRegex(JSON.stringify(explained.steps), /did you mean/)
    t.true((await site.ask(path, { headers: { Accept: 'text/html' } })).text.includes(place))
  }
  t.false((await explain('none.css', { root, env: 'development', serve: true })).isFound)
  t.false(types.includes('"none.css"'))
})
