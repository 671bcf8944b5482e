// Faults that need neither root nor another disk: a file system without events, and a process that is killed.
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { CHANGING, seesEveryChange } from '../support/changes.ts'
import { forkReplica, portsOf, startReplica } from '../support/replica.ts'
import { makeProject, request, test } from '../support/index.ts'

const MOUNTS = { '/static': 'build' }
const ENVIRONMENTS = {
  development: { env: 'development' },
  production: { env: 'production', compile: true, fingerprint: false }
} as const

for (const [name, environment] of Object.entries(ENVIRONMENTS)) {
  test(`on a file system without events every change is seen within seconds, in ${name}`, async t => {
    const root = makeProject(t, CHANGING)
    const options = { root, ...environment, revalidate: 0.5, mounts: MOUNTS }
    const replica = await startReplica(t, { options }, { preload: 'silent-watch.ts' })
    await seesEveryChange(t, replica, root)
  })
}

for (const [name, environment] of Object.entries({
  ...ENVIRONMENTS,
  'production with fingerprints': { env: 'production', compile: true }
})) {
  test(`a process that is killed between write and rename leaves the old target, in ${name}`, async t => {
    const root = makeProject(t, {
      'apps/web/assets/css/a.css': 'new',
      'public/assets/a.css': 'the last good copy'
    })
    const options = { root, ...environment }
    const setup = { options, isBehind: false, names: [] }
    const child = forkReplica(setup, [], { preload: 'killed-at-rename.ts' })
    const ended = once(child, 'exit') as Promise<[number | null, string | null]>
    const { http1 } = await portsOf(child)
    const socket = connect(http1, '127.0.0.1', () => socket.write(request('GET', '/assets/a.css')))
    socket.on('error', () => undefined)
    const [, signal] = await ended
    t.is(signal, 'SIGKILL')
    const temporary = readdirSync(join(root, 'public/assets')).filter(name => name.endsWith('.tmp'))
    t.is(temporary.length, 1)
    const readOnly = { root, env: 'production', compile: false, fingerprint: false }
    const reader = await startReplica(t, { options: readOnly })
    t.is((await reader.ask('/assets/a.css')).text, 'the last good copy')
    const next = await startReplica(t, { options })
    t.is((await next.ask('/assets/a.css')).text, 'new')
    t.deepEqual(next.errors, [])
  })
}
