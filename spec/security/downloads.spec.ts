// Clients that go away, that do not read, and that ask for much at once.
import { once } from 'node:events'
import { connect as connectHttp2, constants, createServer as createHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import type Koa from 'koa'
import type { Middleware } from 'koa'
import type { KoaAssetsOptions } from '../../lib/runtime/settings/options.ts'
import { heldBytes } from '../support/in-process.ts'
import { ask, request } from '../support/raw.ts'
import { cases, ENVIRONMENTS, listen, makeFront, makeProject, open } from '../support/index.ts'
import { openDescriptors, serial as test, until, type ExecutionContext } from '../support/index.ts'
import { SENDERS_AND_MOUNT } from './places.ts'

const MIB = 1024 * 1024
const DROPS = cases(20, 1000)

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
  const senders = SENDERS_AND_MOUNT.slice(0, name === 'production' ? undefined : cases(1, 4))
  for (const [sender, options] of senders) {
    test(`dropped downloads leave no descriptor and no error, in ${name}, ${sender}`, async t => {
      const root = makeProject(t, {
        'public/big.bin': Buffer.alloc(8 * MIB, 1),
        'apps/web/assets/films/film.mp4': Buffer.alloc(8 * MIB, 2),
        'public/assets/film.mp4': Buffer.alloc(8 * MIB, 2)
      })
      const front = await makeFront(t, { root, ...environment, ...options })
      const paths = ['/big.bin', '/assets/film.mp4']
      for (const path of paths) await ask(front.port, 'HEAD', path)
      const before = openDescriptors()
      for (let at = 0; at < DROPS; at += 20) {
        const drops = Array.from({ length: 20 }, (_, i) =>
          drop(front.port, at + i, paths[i % 2] ?? '')
        )
        await Promise.all(drops)
      }
      for (const path of paths)
        await until(() => openDescriptors(join(root, 'public', path)) === 0, `${path} is closed`)
      await until(() => openDescriptors() <= before, 'as few descriptors as before')
      t.deepEqual(front.errors, [])
      const whole = await ask(front.port, 'GET', '/big.bin')
      t.is(whole.body.length, 8 * MIB)
    })
  }
}

// Responses that have no connection yet, or nobody who waits for them any more.

const BIG = Buffer.alloc(4 * MIB, 1)
const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR } = constants
const BATCHES = cases(3, 30)
const UNREAD = cases(30_000, 240_000)
const READ_LATE = cases(300, 3000)
// More than the kernel takes of a client that does not read, and more requests than one read brings.
const LATE_TEXT = 'a'.repeat(8000)
const PADDED = `GET /a.txt HTTP/1.1\r\nHost: x\r\nX-Padding: ${'x'.repeat(200)}\r\n`

interface CountedOptions extends Pick<KoaAssetsOptions, 'public' | 'mounts'> {
  readonly koa?: new () => Koa
  readonly front?: Middleware
}

/** A site that counts the requests that came to the application, and those that it is done with. */
async function makeCounted(t: ExecutionContext, sender: CountedOptions) {
  const root = makeProject(t, { 'public/big.bin': BIG })
  const seen = { came: 0, left: 0 }
  const front = await makeFront(t, { root, ...ENVIRONMENTS.production, ...sender })
  const callback = front.app.callback()
  const handle: ReturnType<Koa['callback']> = async (req, res) => {
    seen.came++
    await callback(req, res)
    seen.left++
  }
  const port = await listen(t, handle)
  const http2 = createHttp2((req, res) => void handle(req, res))
  const http2Port = await open(t, http2)
  // What is needed once in the life of a process is open from here on.
  await ask(port, 'HEAD', '/big.bin')
  return { ...front, port, file: join(root, 'public/big.bin'), seen, http2Port }
}

type Counted = Awaited<ReturnType<typeof makeCounted>>

/** Nothing is left of the requests: no descriptor, nobody who waits, and no error. */
async function settle(t: ExecutionContext, { file, seen, errors }: Counted, before?: number) {
  await until(() => seen.left === seen.came, 'the application is done with every request')
  await until(() => openDescriptors(file) === 0, 'the file is closed')
  if (before !== undefined)
    await until(() => openDescriptors() <= before, 'as few descriptors as before')
  t.deepEqual(errors, [])
}

const BIG_REQUEST = 'GET /big.bin HTTP/1.1\r\nHost: x\r\n\r\n'

/** A connection that asks, and reads nothing of what is sent. */
async function pipeline(port: number, requests: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.on('error', () => undefined)
  socket.pause()
  socket.write(BIG_REQUEST.repeat(requests))
  return socket
}

for (const [sender, options] of SENDERS_AND_MOUNT.slice(0, cases(1, 4))) {
  test(`64 KiB of pipelined requests open one file at a time, ${sender}`, async t => {
    const warnings: string[] = []
    const note = (warning: Error) => warnings.push(warning.name)
    process.on('warning', note)
    t.teardown(() => process.off('warning', note))
    const counted = await makeCounted(t, options)
    const { port, file } = counted
    const before = openDescriptors()
    const requests = Math.floor(65_536 / BIG_REQUEST.length)
    const sockets = await Promise.all([1, 2].map(() => pipeline(port, requests)))
    await until(() => openDescriptors(file) === 2, 'each connection has its first download')
    for (const socket of sockets) socket.destroy()
    await settle(t, counted, before)
    t.deepEqual(warnings, [])
  })

  test(`no more requests are read from a client that reads no responses, ${sender}`, async t => {
    const { port, file, seen, errors } = await makeCounted(t, options)
    const before = await heldBytes()
    const socket = await pipeline(port, UNREAD)
    await until(() => openDescriptors(file) === 1, 'the first download has begun')
    // What can still come has come once nothing does during many answers.
    for (let quiet = 0, came = seen.came; quiet < cases(200, 1000); quiet++) {
      await ask(port, 'HEAD', '/big.bin')
      if (seen.came !== came + 1) quiet = 0
      came = seen.came
    }
    const held = (await heldBytes()) - before
    t.true(seen.came < 10_000, `${seen.came} were read`)
    // A Buffer that Koa sends: 31 MiB.
    t.true(held < 31 * MIB, `${held} bytes are held`)
    socket.destroy()
    await until(() => openDescriptors(file) === 0, 'the file is closed')
    t.deepEqual(errors, [])
  })

  test(`pipelined downloads arrive whole, one after the other, ${sender}`, async t => {
    const { port, file } = await makeCounted(t, options)
    const socket = connect(port, '127.0.0.1')
    socket.write(BIG_REQUEST.repeat(4))
    socket.write(request('GET', '/big.bin'))
    let length = 0
    let most = 0
    for await (const chunk of socket) {
      length += (chunk as Buffer).length
      most = Math.max(most, openDescriptors(file))
    }
    t.true(length > 5 * BIG.length && length < 5 * BIG.length + 5000)
    // One is opened while that before it is being closed.
    t.true(most <= 2, `${most} at once`)
    await until(() => openDescriptors(file) === 0, 'the file is closed')
  })

  test(`HTTP/2 streams that are cancelled at any moment leave no descriptor, ${sender}`, async t => {
    const counted = await makeCounted(t, options)
    const { http2Port, seen } = counted
    const before = openDescriptors()
    for (let batch = 0; batch < BATCHES; batch++) {
      // Node ends a session of too many resets.
      const session = connectHttp2(`http://127.0.0.1:${http2Port}`)
      await once(session, 'connect')
      await Promise.all(
        Array.from({ length: 50 }, async (_, at) => {
          const headers = at % 2 ? { range: 'bytes=1000-' } : {}
          const stream = session.request({ ':path': '/big.bin', ...headers })
          stream.on('error', () => undefined)
          const closed = once(stream, 'close')
          // The request leaves with the next turn; its stages take a few. Some get an answer first.
          if (at % 10 === 9) await once(stream, 'response')
          for (let turn = 0; turn < at % 10; turn++) {
            await new Promise(resolve => setImmediate(resolve))
          }
          stream.close(NGHTTP2_CANCEL)
          await closed
        })
      )
      await new Promise<void>(resolve => session.close(resolve))
    }
    await settle(t, counted, before)
    t.true(seen.came >= BATCHES * 5, 'those that were answered have come')
  })
}

for (const [sender, options] of SENDERS_AND_MOUNT) {
  test(`HTTP/2 streams that are reset without an error code leave no descriptor, ${sender}`, async t => {
    const counted = await makeCounted(t, options)
    const { http2Port, file } = counted
    const session = connectHttp2(`http://127.0.0.1:${http2Port}`)
    t.teardown(() => session.destroy())
    const streams = Array.from({ length: 20 }, () => session.request({ ':path': '/big.bin' }))
    await Promise.all(streams.map(stream => once(stream, 'response')))
    await until(() => openDescriptors(file) === 20, 'each stream has its download')
    for (const stream of streams) stream.close(NGHTTP2_NO_ERROR)
    // While the session lasts.
    await settle(t, counted)
  })

  for (const [way, maxFileBytes] of [
    ['from memory', 8192],
    ['streamed', 0]
  ] as const) {
    test(`pipelined requests of a client that reads late are all answered, ${way}, ${sender}`, async t => {
      const root = makeProject(t, { 'public/a.txt': LATE_TEXT })
      const memory = { maxFileBytes }
      const production = { ...ENVIRONMENTS.production, revalidate: 0, memory }
      const { port, errors } = await makeFront(t, { root, ...production, ...options })
      const socket = connect(port, '127.0.0.1')
      const requests = `${PADDED}\r\n`.repeat(READ_LATE - 1)
      socket.write(`${requests}${PADDED}Connection: close\r\n\r\n`)
      for (let asked = 0; asked < 100; asked++) await ask(port, 'HEAD', '/a.txt')
      const text = await textOf(socket)
      t.is(text.split('HTTP/1.1 200 OK\r\n').length - 1, READ_LATE)
      t.is(text.split(LATE_TEXT).length - 1, READ_LATE)
      t.deepEqual(errors, [])
    })
  }
}

const late: Promise<unknown>[] = []

/** A time limit that is always over. */
const timeLimit: Middleware = (ctx, next) => {
  late.push(next())
  ctx.status = 503
  ctx.body = 'too late'
}

/** One that knows nothing of Koa. */
const endedInFront: Middleware = (ctx, next) => {
  ctx.respond = false
  ctx.res.statusCode = 503
  ctx.res.end('too late')
  late.push(next())
}

for (const [what, front] of Object.entries({ timeLimit, endedInFront })) {
  test(`a download that middleware in front has already answered leaves no descriptor (${what})`, async t => {
    const counted = await makeCounted(t, { front })
    const { port, http2Port } = counted
    const before = openDescriptors()
    for (let batch = 0; batch < cases(4, 20); batch++) {
      const answers = Array.from({ length: 25 }, () => ask(port, 'GET', '/big.bin'))
      for (const { status, text } of await Promise.all(answers)) {
        t.deepEqual([status, text], [503, 'too late'])
      }
    }
    const session = connectHttp2(`http://127.0.0.1:${http2Port}`)
    for (let batch = 0; batch < cases(4, 20); batch++) {
      const streams = Array.from({ length: 25 }, () => session.request({ ':path': '/big.bin' }))
      for (const stream of streams) {
        const [headers] = (await once(stream, 'response')) as [Record<string, unknown>]
        t.is(headers[':status'], 503)
        stream.resume()
      }
    }
    await new Promise<void>(resolve => session.close(resolve))
    await Promise.all(late.splice(0))
    await settle(t, counted, before)
  })
}
