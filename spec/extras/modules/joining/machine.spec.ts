// What joined code says of the machine on which it was joined.
import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import test from 'ava'
import { withSlashes } from '../../../../lib/files/paths.ts'
import { ALL, makeShop, pkg } from './shop.ts'

const MACHINE = {
  'index.js': `exports.mode = process.env.NODE_ENV
exports.place = () => typeof __dirname === 'undefined' ? '' : __dirname
exports.home = () => process.env.HOME
exports.load = name => require(name)`
}
const FINDER = {
  'index.js': 'export const url = import.meta.url\nexport const dir = import.meta.dirname'
}

for (const bundle of [true, 'packages'] as const) {
  test(`S87 a package that asks where it is, or for the environment, gets what a browser has, and no path is published: ${bundle}`, async t => {
    const packages = [...ALL.packages, 'machine', 'finder']
    const { root, text, scripts } = await makeShop(
      t,
      { ...ALL, bundle, packages },
      {
        'javascripts/main.js': `import { mode, place, home, load } from 'machine'
import { url, dir } from 'finder'
export const all = [mode, place, home, load, url, dir]`,
        ...pkg('machine', MACHINE, { type: 'commonjs', main: 'index.js', sideEffects: true }),
        ...pkg('finder', FINDER, { exports: './index.js' })
      }
    )
    const joined = text('joined/machine.js')
    t.regex(joined, /exports\.mode = "production"/)
    t.true(joined.includes('process.env.HOME'))
    t.true(joined.includes('__dirname'))
    t.true(text('npm/finder.js').includes('import.meta.url'))
    t.true(scripts().includes('npm/finder.js'))
    const published = join(root, 'public')
    for (const path of readdirSync(published, { recursive: true, encoding: 'utf8' })) {
      if (!/\.(?:js|map|json)$/.test(path)) continue
      const content = readFileSync(join(published, path), 'utf8')
      for (const told of [root, process.cwd()]) {
        for (const written of [told, withSlashes(told), told.replaceAll('\\', '\\\\')])
          t.false(content.includes(`${written}${sep}`) || content.includes(`${written}/`), path)
      }
    }
  })
}
