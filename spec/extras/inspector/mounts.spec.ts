// The inspector's page about mounts.
import { gzipSync } from 'node:zlib'
import { test } from '../../support/test.ts'
import type { ListedMount } from '../../../lib/extras/telling/list.ts'
import { makeSite } from '../../support/site.ts'
import { json } from './inspected.ts'

test('the inspector shows mounts with the files of their bundles, missing files first', async t => {
  const main = { file: 'main-a1.js', isEntry: true }
  const files = {
    '/dist/list.json': JSON.stringify({
      'src/<b>.js': main,
      'src/lazy.js': { file: 'lazy-b2.js' }
    }),
    '/dist/main-a1.js': 'main()',
    '/dist/main-a1.js.gz': gzipSync('main()'),
    '/docs/a.html': 'a'
  }
  const mounts = { '/static': { dir: 'dist', manifest: 'dist/list.json' }, '/docs': 'docs' }
  const site = await makeSite(t, files, { mounts })
  const listed = await json<{ mounts: ListedMount[] }>(site, 'mounts?json')
  const [bundle, docs] = listed.mounts
  t.deepEqual(docs, { mount: '/docs', directory: 'docs', files: [] } as unknown as ListedMount)
  t.deepEqual(bundle?.files.at(-1), {
    path: '/static/main-a1.js',
    source: 'src/<b>.js',
    entries: ['src/<b>.js'],
    usedBy: [],
    sizes: { identity: 6, gzip: 27 - 1 }
  })
  const { text } = await site.ask('/assets/-/mounts')
  t.regex(text, /1 of 2 files are missing[^]*lazy-b2\.js[^]*>missing<[^]*main-a1\.js/)
  t.true(text.includes('src/&lt;b&gt;.js'))
  t.false(text.includes('<b>'))
  t.regex((await site.ask('/assets/-/')).text, /<a href="mounts"/)
})
