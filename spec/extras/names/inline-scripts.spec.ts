// What scripts in views import, in the import map of a page that names its entry.
import test from 'ava'
import { makeFingerprinted, MODES, readManifest } from '../../support/fingerprinted.ts'

const FILES = {
  'app.js': "import './count.js'",
  'count.js': 'let counted = 0\nexport const count = () => ++counted',
  'confetti.js': "import './paper.js'",
  'paper.js': 'export {}',
  'unused.js': 'export {}'
}
const OPTIONS = {
  imports: {
    confetti: 'confetti.js',
    unused: 'unused.js',
    cdn: 'https://cdn.example/x.js'
  }
}
const SCRIPT = `import { count } from '/assets/count.js'
import 'confetti'
import('cdn')
import 'unknown'`

for (const mode of MODES) {
  for (const [path, text] of [
    ['views/page.ejs', `<script nonce="<%= nonce %>" type="module">${SCRIPT}</script>`],
    ['apps/web/views/page.pug', `script(type='module').\n  ${SCRIPT.replaceAll('\n', '\n  ')}`],
    [
      'templates/page.tsx',
      `<script type="module" dangerouslySetInnerHTML={{ __html: \`${SCRIPT}\` }} />`
    ]
  ] as const) {
    test(`JSM-08 importMap({ entry }) has what a script in a view imports: ${path} (${mode})`, async t => {
      const base = path.endsWith('.ejs') ? '/shop' : ''
      const files = { ...FILES, [`/${path}`]: text.replace('/assets/', `${base}/assets/`) }
      const site = await makeFingerprinted(t, mode, files, { ...OPTIONS, base })
      const [count, confetti = '', paper = ''] = await Promise.all(
        ['count', 'confetti', 'paper'].map(name => site.path(`${name}.js`))
      )
      const tag = await site.render(assets => assets.importMap({ entry: 'app' }))
      const { imports, integrity } = JSON.parse(/>(.*)</.exec(tag)?.[1] ?? '{}') as {
        imports: object
        integrity: object
      }
      t.deepEqual(imports, {
        [`${base}/assets/count.js`]: count,
        cdn: 'https://cdn.example/x.js',
        confetti
      })
      t.deepEqual(Object.keys(integrity), [confetti, paper].toSorted(), 'no tag has it')
    })
  }

  test(`JSM-08 importMap({ entry }) is no tag where scripts in views import nothing by such names (${mode})`, async t => {
    const page = `<% const { x } = await import('confetti') %>
<script type="module" src="<%= assets.path('app.js') %>"></script>
<script type="module">import x from '<%= assets.path('count.js') %>'</script>`
    const site = await makeFingerprinted(t, mode, { ...FILES, '/views/page.ejs': page }, OPTIONS)
    t.is(await site.render(assets => assets.importMap({ entry: 'app' })), '')
  })
}

for (const mode of MODES) {
  test(`JSM-08 views are read only where a script may be a module, or imports are mapped (${mode})`, async t => {
    const view = `<script type="module">import '/assets/old.js'</script>`
    const files = { 'old.js': 'count = 1', '/views/page.html': view }
    const site = await makeFingerprinted(t, mode, files, {})
    const importMap = () => site.render(assets => assets.importMap({ entry: 'old' }))
    t.is(await importMap(), '')
    await site.edit({ 'old.js': 'export const count = 1' })
    t.regex(await importMap(), /"\/assets\/old\.js":/)
  })
}

test('JSM-08 a manifest has what scripts in views import, once one of them does', async t => {
  const site = await makeFingerprinted(t, 'precompiled', FILES, OPTIONS)
  const inViews = () => (readManifest(site.root) as { inViews?: readonly string[] }).inViews
  t.is(inViews(), undefined)
  await site.edit({ '/views/page.html': `<script type="module">${SCRIPT}</script>` })
  t.deepEqual(inViews(), ['/assets/count.js', 'cdn', 'confetti'])
})
