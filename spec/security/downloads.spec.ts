// Ranges of every size, and clients that go away: S27, S48.
import { request as httpRequest } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2 } from 'node:http2'
import { connect, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import test from 'ava'
import { growsInProportion } from '../support/cost.ts'
import { chooseRange } from '../../lib/http/ranges.ts'
import { openDescriptors } from '../support/descriptors.ts'
import { ENVIRONMENTS, makeFront, type Front } from '../support/front.ts'
import { ask, request } from '../support/raw.ts'
import { makeProject } from '../support/site.ts'
import { cases } from '../support/soak.ts'
import { until } from '../support/until.ts'
import { PLACES, SENDERS_AND_MOUNT } from './places.ts'

const MIB = 1024 * 1024
const DROPS = cases(60, 1000)

const ranges = {
  'ten thousand of them': `bytes=${'0-0,'.repeat(10_000)}0-0`,
  'many that overlap': `bytes=${'0-,'.repeat(5000)}0-`,
  'a suffix beyond 64 bits': 'bytes=-18446744073709551615',
  'a suffix beyond every number': `bytes=-${'9'.repeat(400)}`,
  'a start beyond 64 bits': 'bytes=99999999999999999999-',
  'a start beyond every number': `bytes=${'9'.repeat(400)}-`,
  'an end beyond every number': `bytes=0-${'9'.repeat(400)}`,
  'both beyond every number': `bytes=${'9'.repeat(400)}-${'9'.repeat(400)}`,
  '16 KiB of digits': `bytes=${'1'.repeat(16_000)}-`,
  '16 KiB of blanks': `bytes=${' '.repeat(16_000)}0-0`,
  '16 KiB of blanks at the end': `bytes=0-0${' '.repeat(16_000)}x`,
  '16 KiB of commas': `bytes=${','.repeat(16_000)}`,
  '16 KiB of hyphens': `bytes=${'-'.repeat(16_000)}`,
  'from the end to the start': 'bytes=5-1',
  'a negative start': 'bytes=-5-1',
  'a fraction': 'bytes=0.5-1',
  'an exponent': 'bytes=1e1-',
  'hex digits': 'bytes=0x1-0x2',
  'another unit': 'seconds=0-1',
  nothing: 'bytes=',
  'a hyphen': 'bytes=-',
  'no bytes at all': 'bytes=-0'
}

for (const { where, at, options } of PLACES) {
  test(`S27 no Range gets more bytes than the file has, whatever its size${where}`, async t => {
    const sizes = { 'empty.bin': 0, 'one.bin': 1, 'small.bin': 1000, 'big.bin': MIB + 1000 }
    const root = makeProject(
      t,
      Object.fromEntries(
        Object.entries(sizes).map(([name, size]) => [`public/${name}`, Buffer.alloc(size, 7)])
      )
    )
    for (const environment of Object.values(ENVIRONMENTS)) {
      const front = await makeFront(t, {
        root,
        ...environment,
        ...options,
        maxHeaderSize: 100_000
      })
      for (const [name, size] of Object.entries(sizes)) {
        for (const [what, range] of Object.entries(ranges)) {
          for (const method of ['GET', 'HEAD']) {
            const answer = await ask(front.port, method, `${at}/${name}`, { Range: range })
            const about = `${method} ${name}, ${what}: ${answer.head}`
            t.true([200, 206, 416].includes(answer.status), about)
            t.true(answer.body.length <= size, about)
            const length = Number(answer.headers['content-length'])
            t.is(answer.body.length, method === 'HEAD' ? 0 : length, about)
            t.true(length <= size, about)
            if (answer.status === 200) t.is(length, size, about)
            if (method === 'HEAD') t.is(answer.status, 200, about)
          }
        }
      }
      t.deepEqual(front.errors, [])
    }
  })
}

test('S27 reading a Range takes time in proportion to its length', t => {
  for (const [piece, end] of [
    ['0-0,', '0-0'],
    ['0-,', '0-'],
    ['1', '-'],
    [' ', '0-0'],
    [' ', 'x'],
    [',', ''],
    ['-', '']
  ] as const) {
    const rangeOf = (bytes: number) => `bytes=${piece.repeat(bytes / piece.length)}${end}`
    const choose = (range: string) =>
      chooseRange('GET', { range, 'if-range': '"x"' }, { etag: '"x"' }, 1000)
    t.true(
      growsInProportion(16_000, bytes => choose(rangeOf(bytes))),
      `bytes=${piece}…${end}`
    )
  }
})

/** One download that the client drops, in one of the ways in which clients go away. */
function drop(port: number, at: number, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers: Record<string, string> = at % 4 === 3 ? { Range: 'bytes=1000-' } : {}
    const socket = connect(port, '127.0.0.1', () => socket.write(request('GET', path, headers)))
    const leave = () => (at % 2 === 0 ? socket.destroy() : socket.resetAndDestroy())
    // At once, or when the first bytes have come, or in the middle.
    if (at % 10 === 0) socket.once('connect', leave)
    else if (at % 10 < 6) socket.once('data', leave)
    else {
      let seen = 0
      socket.on('data', chunk => {
        seen += chunk.length
        if (seen > 2 * MIB) leave()
      })
    }
    socket.on('close', () => resolve())
    socket.on('error', reject)
  })
}

for (const [name, environment] of Object.entries(ENVIRONMENTS)) {
  for (const [sender, options] of SENDERS_AND_MOUNT) {
    test.serial(
      `S48 ${DROPS} dropped downloads leave no descriptor and no error, in ${name}, ${sender}`,
      async t => {
        const root = makeProject(t, {
          'public/big.bin': Buffer.alloc(8 * MIB, 1),
          'apps/web/assets/films/film.mp4': Buffer.alloc(8 * MIB, 2),
          'public/assets/film.mp4': Buffer.alloc(8 * MIB, 2)
        })
        const front = await makeFront(t, { root, ...environment, ...options })
        await warmUp(front)
        const files = ['public/big.bin', 'public/assets/film.mp4'].map(path => join(root, path))
        const before = openDescriptors()
        for (let at = 0; at < DROPS; at += 20) {
          const paths = ['/big.bin', '/assets/film.mp4']
          await Promise.all(
            Array.from({ length: 20 }, (_, i) => drop(front.port, at + i, paths[i % 2] ?? ''))
          )
        }
        for (const file of files)
          await until(() => openDescriptors(file) === 0, `${file} is closed`)
        await until(() => openDescriptors() <= before, 'as few descriptors as before')
        t.deepEqual(front.errors, [])
        const whole = await ask(front.port, 'GET', '/big.bin')
        t.is(whole.body.length, 8 * MIB)
      }
    )
  }
}

async function warmUp({ port }: Front): Promise<void> {
  for (const path of ['/big.bin', '/assets/film.mp4']) await ask(port, 'HEAD', path)
}

for (const [sender, options] of SENDERS_AND_MOUNT) {
  test.serial(
    `S48 a client that stops reading and then leaves holds nothing open, ${sender}`,
    async t => {
      const root = makeProject(t, { 'public/big.bin': Buffer.alloc(16 * MIB, 1) })
      const front = await makeFront(t, { root, env: 'production', fingerprint: false, ...options })
      const file = join(root, 'public/big.bin')
      const sockets = Array.from({ length: 20 }, () => {
        const socket = connect(front.port, '127.0.0.1', () => {
          socket.pause()
          socket.write(request('GET', '/big.bin'))
        })
        return socket
      })
      await until(() => openDescriptors(file) === 20, 'every download has begun')
      for (const socket of sockets) socket.destroy()
      await until(() => openDescriptors(file) === 0, 'every download has ended')
      t.deepEqual(front.errors, [])
    }
  )

  test(`S48 an agent that aborts its requests is no error either, ${sender}`, async t => {
    const root = makeProject(t, { 'public/big.bin': Buffer.alloc(8 * MIB, 1) })
    const front = await makeFront(t, { root, env: 'production', fingerprint: false, ...options })
    for (let at = 0; at < cases(10, 50); at++) {
      await new Promise<void>(resolve => {
        const sent = httpRequest({ port: front.port, host: '127.0.0.1', path: '/big.bin' })
        sent.on('response', response => response.once('data', () => sent.destroy()))
        sent.on('close', resolve)
        sent.on('error', () => resolve())
        sent.end()
      })
    }
    await until(() => openDescriptors(join(root, 'public/big.bin')) === 0, 'all is closed')
    t.deepEqual(front.errors, [])
  })

  test(`S48 a download that is dropped over HTTP/2 is closed as well, ${sender}`, async t => {
    const root = makeProject(t, { 'public/big.bin': Buffer.alloc(8 * MIB, 1), 'public/a.txt': 'a' })
    const front = await makeFront(t, { root, env: 'production', fingerprint: false, ...options })
    const server = createHttp2((req, res) => void front.app.callback()(req, res))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => server.close())
    const { port } = server.address() as AddressInfo
    for (let at = 0; at < cases(20, 100); at++) {
      const session = connectHttp2(`http://127.0.0.1:${port}`)
      const stream = session.request({ ':path': '/big.bin' })
      stream.on('error', () => undefined)
      session.on('error', () => undefined)
      const status = await new Promise(resolve => {
        stream.once('response', headers => resolve(headers[':status']))
      })
      t.is(status, 200)
      await new Promise(resolve => stream.once('data', resolve))
      if (at % 2 === 0) stream.close(8)
      await new Promise<void>(resolve => {
        session.once('close', resolve)
        session.destroy()
      })
    }
    await until(() => openDescriptors(join(root, 'public/big.bin')) === 0, 'all is closed')
    t.deepEqual(front.errors, [])
  })
}
