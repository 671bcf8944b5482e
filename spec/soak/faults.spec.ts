// Faults that need neither root nor another disk; the others are in spec/system/faults.spec.ts.
import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import { connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import test from 'ava'
import { CHANGING, seesEveryChange } from '../support/changes.ts'
import { request } from '../support/raw.ts'
import { forkReplica, portsOf, startReplica } from '../support/replica.ts'
import { makeProject } from '../support/site.ts'
import { until } from '../support/until.ts'

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
  test(`a process that is killed between write and rename leaves the old target, and the next sweeps up, in ${name}`, async t => {
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
    const directory = join(root, 'public/assets')
    const temporary = (file: string) => file.endsWith('.tmp')
    t.is(readdirSync(directory).filter(temporary).length, 1)
    const reader = await startReplica(t, {
      options: { root, env: 'production', compile: false, fingerprint: false }
    })
    t.is((await reader.ask('/assets/a.css')).text, 'the last good copy')
    const next = await startReplica(t, { options })
    t.is((await next.ask('/assets/a.css')).text, 'new')
    t.deepEqual(next.errors, [])
  })
}

const BIG = Buffer.alloc(8 * 1024 * 1024, 'x')
const PATHS = ['/big.bin', '/static/big.bin', '/files/big.bin', '/assets/big.bin']

/** How a client leaves, once it has sent its request. */
const DEPARTURES: Readonly<Record<string, (port: number, path: string) => Promise<void>>> = {
  'stops reading': async (port, path) => {
    const socket = await opened(port)
    socket.pause()
    socket.write(request('GET', path))
    await new Promise(resolve => setImmediate(resolve))
    sockets.push(socket)
  },
  'hangs up in the middle': async (port, path) => {
    const socket = await opened(port)
    socket.write(request('GET', path))
    await once(socket, 'data')
    socket.resetAndDestroy()
  },
  'sends half a request': async (port, path) => {
    const socket = await opened(port)
    const bytes = request('GET', path, { 'X-Padding': 'x'.repeat(500) })
    socket.write(bytes.subarray(0, bytes.length / 2))
    sockets.push(socket)
  },
  'hangs up over HTTP/2': async (_, path) => {
    const session = sessions.at(-1)
    const stream = session?.request({ ':path': path })
    stream?.on('error', () => undefined)
    if (stream) await once(stream, 'data')
    stream?.close(8)
  }
}
const sockets: Socket[] = []
const sessions: ReturnType<typeof connectHttp2>[] = []

async function opened(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

for (const isBehind of [false, true]) {
  test.serial(
    `clients that stop reading, hang up or send half a request leave nothing open, ${isBehind ? 'behind another middleware' : 'as the first middleware'}`,
    async t => {
      const root = makeProject(t, {
        'public/big.bin': BIG,
        'build/big.bin': BIG,
        'data/big.bin': BIG,
        'apps/web/assets/x/big.bin': BIG
      })
      const options = { root, env: 'development', mounts: MOUNTS }
      const replica = await startReplica(t, { options, isBehind })
      for (const path of PATHS) t.true((await replica.ask(path)).bytes.equals(BIG), path)
      const before = await replica.measure()
      for (const [what, depart] of Object.entries(DEPARTURES)) {
        sessions.push(connectHttp2(`http://127.0.0.1:${replica.ports.http2}`))
        for (let round = 0; round < 10; round++) {
          await Promise.all(PATHS.map(path => depart(replica.ports.http1, path)))
        }
        if (what === 'stops reading') {
          await until(
            async () => (await replica.measure()).files === 40,
            'every file is being sent'
          )
        }
        for (const socket of sockets.splice(0)) socket.destroy()
        for (const session of sessions.splice(0)) session.destroy()
        await until(async () => (await replica.measure()).files === 0, `no file is open: ${what}`)
        await until(
          async () => (await replica.measure()).descriptors <= before.descriptors,
          `as few descriptors as before: ${what}`
        )
        for (const path of PATHS) t.true((await replica.ask(path)).bytes.equals(BIG), path)
      }
      t.deepEqual(replica.errors, [])
    }
  )
}

test('a source, a mounted file and a file from a route that change while they are sent are cut off or whole', async t => {
  const root = makeProject(t, { 'build/big.bin': BIG, 'data/big.bin': BIG, 'public/big.bin': BIG })
  const options = { root, env: 'development', mounts: MOUNTS }
  const replica = await startReplica(t, { options })
  for (const [path, file] of [
    ['/static/big.bin', 'build/big.bin'],
    ['/files/big.bin', 'data/big.bin'],
    ['/big.bin', 'public/big.bin']
  ] as const) {
    const socket = await opened(replica.ports.http1)
    socket.write(request('GET', path))
    const pieces = [((await once(socket, 'data')) as [Buffer])[0]]
    socket.pause()
    writeFileSync(join(root, file), Buffer.alloc(BIG.length, 'y'))
    for await (const piece of socket) pieces.push(piece as Buffer)
    const length = Buffer.concat(pieces).length
    t.true(length < BIG.length, `${path}: ${length} bytes`)
    t.is((await replica.ask(path)).text.slice(-3), 'yyy')
  }
  await until(async () => (await replica.measure()).files === 0, 'no file is open')
  t.deepEqual(replica.errors, [])
})
