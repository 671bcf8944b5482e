// Minified scripts whose expressions got values lead to their sources.
import { test } from '../../support/test.ts'
import { placed, run } from '../../support/fingerprinted.ts'
import { makeProject } from '../../support/site.ts'
import { readMapped } from '../../support/source-map.ts'

const CODE = [
  'export const mode = import.meta.env.MODE, after = f(1)',
  'export const both = f(process.env.NODE_ENV, import.meta.env.DEV, 3)',
  "if (import.meta.env.DEV) throw new Error('gone')",
  'throw new Error(mode)'
].join('\n')
const FILES = { 'plain.js': CODE, 'typed.js.ts': `let n: number = 1\n${CODE}` }

test('a script is minified with its values, and its source map shows it as it is written', async t => {
  const root = makeProject(t, placed(FILES))
  await run({ root, env: 'production', minify: true })
  for (const [name, source] of Object.entries(FILES)) {
    const { map, origin, text } = readMapped(root, `/assets/${name.replace('.ts', '')}`)
    t.deepEqual(map.sourcesContent, [source])
    t.false(text.includes('gone'))
    t.true(origin('f(1)').code.startsWith('f(1)'))
    t.true(origin('3)').code.startsWith('3)'))
    t.is(origin('new Error').code, 'new Error(mode)')
  }
})
