import { makeFingerprinted, test } from '../../support/index.ts'
import { APP, mapIn, TIP } from '../modules/package-files.ts'

for (const bundle of [true, 'packages', false] as const) {
  test(`a script in a view can import a package that the entry of the page imports: bundle ${bundle}`, async t => {
    const view = "<script type=module>import { base } from 'tip'; import 'koa'</script>"
    const options = { packages: ['tip'], bundle }
    const files = { ...TIP, ...APP, '/views/page.html': view }
    const site = await makeFingerprinted(t, 'precompiled', files, options)
    const { imports } = mapIn(await site.render(assets => assets.importMap({ entry: 'app' })))
    t.deepEqual(imports, { tip: await site.path('npm/tip.js') })
  })
}
