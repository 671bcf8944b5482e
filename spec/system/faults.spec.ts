// Rights and disks that refuse: each for a process of its own. What needs neither root nor another program is in
// spec/soak/faults.spec.ts; limits of inotify are rows of `npm run test:refused`.
import { chmodSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { precompile } from '../../lib/koa-assets.ts'
import { fillDisk } from '../support/changes.ts'
import { startReplica } from '../support/replica.ts'
import { makeProject, writeFiles } from '../support/site.ts'
import { program } from '../../demo/deploy/program.ts'

const isRoot = process.getuid?.() === 0
const MOUNTS = { '/static': 'build' }
const ENVIRONMENTS = {
  development: { env: 'development' },
  production: { env: 'production', compile: true, fingerprint: false }
} as const

test('S73 a mounted file and a file from a route that may not be read are not found', async t => {
  const files = { 'build/a.txt': 'a', 'build/b.txt': 'b', 'data/a.txt': 'a', 'data/b.txt': 'b' }
  const root = makeProject(t, { ...files, 'public/a.txt': 'a', 'public/b.txt': 'b' })
  chmodSync(root, 0o755)
  const setpriv = `${program('setpriv', 'util-linux')} --reuid 65534 --clear-groups --inh-caps=-all`
  const replica = await startReplica(
    t,
    { options: { root, ...ENVIRONMENTS.production, mounts: MOUNTS } },
    { shell: `exec ${isRoot ? setpriv : ''} "$@"` }
  )
  for (const [path, file] of [
    ['/static/a.txt', 'build/a.txt'],
    ['/files/a.txt', 'data/a.txt'],
    ['/a.txt', 'public/a.txt']
  ] as const) {
    chmodSync(join(root, file), 0o000)
    const { status, text } = await replica.ask(path)
    t.deepEqual([status, text], [404, 'Not Found'], path)
    t.is((await replica.ask(path.replace('a.txt', 'b.txt'))).text, 'b')
    chmodSync(join(root, file), 0o644)
    t.is((await replica.ask(path)).text, 'a', path)
  }
  t.deepEqual(replica.errors, [])
})

/** A replica whose `public` is a disk of one mebibyte; `at` leads to its files, since no other process sees it. */
async function startOnSmallDisk(t: Parameters<typeof startReplica>[0], environment: object) {
  const root = makeProject(t, {
    'apps/web/assets/x/a.css': 'one',
    'apps/web/assets/x/s.css.scss': 'a { b: one }',
    'build/a.txt': 'mounted',
    'data/a.txt': 'from a route',
    'public/.keep': ''
  })
  const options = { root, ...environment, mounts: MOUNTS }
  const asRoot = isRoot ? '' : '--map-root-user'
  const unshare = `${program('unshare', 'util-linux')} ${asRoot} --mount`
  const mount = `mount -t tmpfs -o size=1m tmpfs "${root}/public"`
  const shell = `exec ${unshare} sh -euc '${mount}; exec "$@"' sh "$@"`
  const replica = await startReplica(t, { options, names: ['a.css'] }, { shell })
  const at = (path: string) => `/proc/${replica.child.pid}/root${join(root, path)}`
  return { root, replica, at }
}

for (const [name, environment] of Object.entries({
  ...ENVIRONMENTS,
  'production with fingerprints': { env: 'production', compile: true }
})) {
  test(`a disk that is full when an asset is requested: a clear error, or the last good copy, in ${name}`, async t => {
    const { root, replica, at } = await startOnSmallDisk(t, environment)
    const { ask, errors } = replica
    for (const path of ['/assets/a.css', '/assets/s.css']) t.regex((await ask(path)).text, /one/)
    fillDisk(at('public/.filler'))
    const big = 'x'.repeat(20_000)
    writeFiles(root, {
      'apps/web/assets/x/a.css': `two ${big}`,
      'apps/web/assets/x/s.css.scss': `a { b: two; c: "${big}" }`,
      'apps/web/assets/x/new.css': `new ${big}`
    })
    for (const asset of ['a.css', 's.css']) {
      const { status, text } = await ask(`/assets/${asset}`)
      if (name === 'development') {
        t.is(status, 500)
        t.regex(
          text,
          new RegExp(`cannot publish /assets/${asset}: .* failed with ENOSPC; the disk is full`)
        )
      } else t.deepEqual([status, text.includes('one')], [200, true])
    }
    t.is((await ask('/assets/new.css')).status, 500)
    t.is((await ask('/static/a.txt')).text, 'mounted')
    t.is((await ask('/files/a.txt')).text, 'from a route')
    t.is((await ask('/index')).status, 200)
    t.true(errors.length > 0)
    for (const error of errors) t.regex(error, /failed with ENOSPC; the disk is full/)
    t.deepEqual(
      readdirSync(at('public/assets')).filter(file => file.endsWith('.tmp')),
      []
    )
    rmSync(at('public/.filler'))
    for (const asset of ['a.css', 's.css']) t.regex((await ask(`/assets/${asset}`)).text, /two/)
    t.regex((await ask('/assets/new.css')).text, /new/)
    t.is((await replica.measure()).files, 0)
  })

  test(`a read-only public when an asset is requested: a clear error, and the rest goes on, in ${name}`, async t => {
    const root = makeProject(t, {
      'apps/web/assets/x/a.css': 'one',
      'build/a.txt': 'mounted',
      'data/a.txt': 'from a route'
    })
    await precompile({ root, minify: false })
    writeFiles(root, { 'apps/web/assets/x/new.css': 'new' })
    const asRoot = isRoot ? '' : '--map-root-user'
    const script = `mount --bind "${root}" "${root}"; mount -o remount,bind,ro "${root}"; cd "${root}"; exec "$@"`
    const shell = `exec ${program('unshare', 'util-linux')} ${asRoot} --mount sh -euc '${script}' sh "$@"`
    const options = { root, ...environment, mounts: MOUNTS }
    const { ask, errors } = await startReplica(t, { options }, { shell })
    const current = await ask('/assets/a.css')
    t.deepEqual([current.status, current.text], [200, 'one'])
    const { status, text } = await ask('/assets/new.css')
    t.is(status, 500)
    if (name === 'development')
      t.regex(text, /failed with EROFS; public is on a read-only file system/)
    t.is((await ask('/static/a.txt')).text, 'mounted')
    t.is((await ask('/files/a.txt')).text, 'from a route')
    for (const error of errors)
      t.regex(error, /failed with EROFS; public is on a read-only file system/)
    t.is(errors.length, 1)
  })
}
