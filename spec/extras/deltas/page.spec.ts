// Runs what docs/deltas.md shows.
import { join } from 'node:path'
import { isAble } from '../../support/deltas.ts'
import { blocksLeft, makeExample, readPage } from '../../support/examples.ts'
import { filesBelow, soakTest, test } from '../../support/index.ts'

const mount = readPage('docs/deltas.md').take('How deltas are made')

soakTest('a build of Vite gets deltas from the build before, where Node can make them', async t => {
  const lines = Array.from({ length: 400 }, (_, at) => `console.log(${(at * 7919) % 9973})`)
  const build = { manifest: true, minify: false, rolldownOptions: { input: 'app.js' } }
  const site = makeExample(t, {
    'vite.config.js': `export default { build: ${JSON.stringify(build)} }`,
    'app.js': lines.join('\n')
  })
  await site.run('npx vite build')
  site.write({ 'app.js': `console.log('new')\n${lines.join('\n')}` })
  await site.follow(mount)
  const files = filesBelow(join(site.root, 'dist'))
  t.true(files.some(path => path.endsWith('.br')))
  t.is(files.filter(path => path.endsWith('.dcz')).length, isAble ? 1 : 0)
  t.is(files.filter(path => path.endsWith('.js')).length, 2, 'open pages request the old one')
})

test('every block of the page is run here', t => {
  t.deepEqual(blocksLeft(), [])
})
