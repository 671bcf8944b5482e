import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from '../../support/test.ts'
import { assetSources } from '../../../lib/koa-assets.ts'
import { makeSite, writeFiles } from '../../support/site.ts'
import { until } from '../../support/until.ts'
import { openTold } from './tab.ts'

const icon = (inside: string) => `<svg xmlns="http://www.w3.org/2000/svg">${inside}</svg>`

// The directory of a third party, for all specs: the list only grows.
const drawn = mkdtempSync(join(tmpdir(), 'koa-fresh-assets-'))
assetSources.append(drawn)
test.after.always(() => rmSync(drawn, { recursive: true }))

for (const fingerprint of [false, true])
  test(`an open page is told of an edited icon that it contains, whichever directory has it (${fingerprint ? 'with' : 'without'} fingerprints)`, async t => {
    const vendor = `vendor/${fingerprint}.svg`
    const names = ['icons/cart.svg', 'theme/moon.svg', vendor]
    writeFiles(drawn, { [`img/${vendor}`]: icon('<g/>') })
    const site = await makeSite(
      t,
      {
        'images/icons/cart.svg': icon('<g/>'),
        'images/icons/other.svg': icon('<g/>'),
        '/theme/img/theme/moon.svg': icon('<g/>')
      },
      {
        fingerprint,
        base: '/shop',
        inline: ['icons/**', 'theme/**', vendor],
        sources: '../../theme',
        routes: ctx => void (ctx.body = names.map(name => ctx.assets.inline(name)).join(''))
      }
    )
    t.is((await site.ask('/')).status, 200)
    const tab = await openTold(t, site.port)
    const edits: readonly (readonly [root: string, file: string, name: string])[] = [
      [site.root, 'apps/web/assets/images/icons/cart.svg', 'icons/cart.svg'],
      [site.root, 'theme/img/theme/moon.svg', 'theme/moon.svg'],
      [drawn, `img/${vendor}`, vendor]
    ]
    const partsNow = () => tab.told().at(-1)?.parts ?? []
    for (const [at, [root, file, name]] of edits.entries()) {
      const before = partsNow()
      writeFiles(root, { [file]: icon(`<path d="M0 0" id="${name}"/>`) })
      const { key = '', url, version } = before[at + 2] ?? {}
      await until(() => ![undefined, null, version].includes(tab.version(key)), `an edit of ${key}`)
      t.is(key, `icon in pages: /assets/${name}`)
      t.is(url, undefined, 'only a reload shows it')
      t.deepEqual(partsNow().toSpliced(at + 2, 1), before.toSpliced(at + 2, 1))
      t.true((await site.ask('/')).text.includes(name))
    }
    t.is(tab.told().at(-1)?.parts.length, 2 + names.length, 'other.svg is in no page')

    site.write('images/icons/cart.svg', icon('\n<script/>'))
    const isRefused = () => tab.told().at(-1)?.problems[0]?.location?.endsWith('cart.svg:2:1')
    await until(() => isRefused() === true, 'the problem')
    t.is(partsNow()[2]?.version, null, 'the page stays as it is')
  })
