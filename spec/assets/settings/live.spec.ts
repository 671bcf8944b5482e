import { join } from 'node:path'
import test from 'ava'
import { settle } from '../../../lib/assets/settings/settings.ts'
import { AssetError } from '../../../lib/errors.ts'
import { makeProject } from '../../support/site.ts'

test('LIV-05 there is a live channel in development alone, and with serve', t => {
  const root = makeProject(t)
  const isLive = (options: object) => settle({ root, ...options }, {}).live !== undefined
  t.true(isLive({ serve: true }))
  t.true(isLive({ serve: true, live: true }))
  t.true(isLive({ serve: true, live: {} }))
  t.false(isLive({ serve: true, live: false }))
  t.false(isLive({ serve: false, live: true }))
  for (const env of ['production', 'test', 'staging', 'Development']) {
    t.false(isLive({ serve: true, live: true, env }), env)
  }
})

test('the options of live are settled once: absolute directories, hosts in lower case', t => {
  const root = makeProject(t, { 'views/a.ejs': '' })
  const watch = ['views', join(root, 'views')]
  const hosts = ['Box.local', '[FD00::1]']
  const { live } = settle({ root, serve: true, live: { watch, hosts, editor: 'zed' } }, {})
  t.deepEqual(live?.watch, [join(root, 'views'), join(root, 'views')])
  t.deepEqual([...(live?.hosts ?? [])], ['box.local', '[fd00::1]'])
  t.is(live?.editor, 'zed')
  watch.push('more')
  hosts.push('evil.example')
  t.is(live?.watch.length, 2)
  t.is(live?.hosts.size, 2)
})

test('a directory of live.watch that does not exist is an error at start, where it would be watched', t => {
  const root = makeProject(t, { 'views.ejs': '' })
  for (const directory of ['views', 'views.ejs']) {
    const start = (env: string) => () =>
      settle({ root, env, serve: true, live: { watch: [directory] } }, {})
    t.throws(start('development'), {
      instanceOf: AssetError,
      code: 'source-missing',
      message: `live.watch names ${directory}, but ${join(root, directory)} is not a directory: create it, or remove it from live.watch`
    })
    t.notThrows(start('production'))
  }
})
