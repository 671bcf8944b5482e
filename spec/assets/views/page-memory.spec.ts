import test from 'ava'
import { makePageMemory } from '../../../lib/assets/views/module-graph.ts'
import { makeHelpers } from './view-helpers-site.ts'

test('what was written for a page is written again when URLs may have changed', t => {
  let version = 'one'
  let written = 0
  const remembered = makePageMemory<number>(() => version)
  const write = () => ++written
  t.deepEqual([remembered('a', write), remembered('b', write), remembered('a', write)], [1, 2, 1])
  version = 'two'
  t.deepEqual([remembered('a', write), remembered('b', write)], [3, 4])
})

test('what is remembered is bounded, however many entries pages name', t => {
  let written = 0
  const remembered = makePageMemory<number>(() => '')
  for (let at = 0; at < 1000; at++) remembered(String(at), () => ++written)
  const kept = Array.from({ length: 1000 }, (_, at) => at).filter(at => {
    const before = written
    remembered(String(at), () => ++written)
    return written === before
  })
  t.true(kept.length <= 20, String(kept.length))
})

test('JSM-06 preloads and import maps follow the manifest', t => {
  let version = 'one'
  const helpers = makeHelpers({}, () => ({
    version: () => version,
    resolve: name => ({ path: `/${version}/${name}`, plainPath: `/assets/${name}` }),
    moduleAt: path => ({ path: `/${version}${path}`, imports: ['/assets/b.js'] })
  }))('web')
  const tags = () =>
    helpers.importMap({ entry: 'a' }) +
    helpers.javascript('a', { type: 'module', modulepreload: true })
  const first = tags()
  t.is(tags(), first)
  version = 'two'
  t.is(tags(), first.replaceAll('/one/', '/two/'))
})
