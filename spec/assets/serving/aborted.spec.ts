import { connect as connectHttp2, constants, createServer } from 'node:http2'
import { connect, type AddressInfo } from 'node:net'
import { EventEmitter, once } from 'node:events'
import test from 'ava'
import Koa2 from 'koa2'
import type { Context, Middleware } from 'koa'
import type { Compiler } from '../../../lib/assets/compilers/compiler.ts'
import { openDescriptors } from '../../support/descriptors.ts'
import { makeSite, type SiteOptions } from '../../support/site.ts'
import { until } from '../../support/until.ts'
import { passOn } from '../../support/ways.ts'

const BIG = Buffer.alloc(8 * 1024 * 1024, 'x')

const WAYS = {
  streamed: { memory: { maxFileBytes: 1024 } },
  'from memory': { memory: { maxFileBytes: 64 * 1024 * 1024 } },
  'streamed, given to Koa': { memory: { maxFileBytes: 1024 }, front: passOn },
  'streamed, given to Koa 2': { memory: { maxFileBytes: 1024 }, front: passOn, koa: Koa2 },
  'from memory, given to Koa': { memory: { maxFileBytes: 64 * 1024 * 1024 }, front: passOn }
} satisfies Record<string, SiteOptions>

for (const [way, options] of Object.entries(WAYS)) {
  for (const leave of ['destroy', 'resetAndDestroy'] as const) {
    test(`ANS-12 a client that disconnects (${leave}) leaves no descriptor and no error, ${way}`, async t => {
      const site = await makeSite(t, { '/public/big.bin': BIG }, options)
      for (let download = 0; download < 20; download++) {
        const socket = connect(site.port, '127.0.0.1')
        socket.on('error', () => {})
        socket.write('GET /big.bin HTTP/1.1\r\nHost: x\r\n\r\n')
        await once(socket, 'data')
        socket.pause()
        socket[leave]()
        await once(socket, 'close')
      }
      await until(() => openDescriptors(site.root) === 0, 'every descriptor is closed')
      const whole = await site.ask('/big.bin')
      t.true(whole.bytes.equals(BIG), 'the next visitor gets it whole')
      t.deepEqual(site.errors, [])
    })
  }
}

test('ANS-12 the spec sees a descriptor that is open', async t => {
  const site = await makeSite(t, { '/public/a.txt': 'a' })
  t.is(openDescriptors(site.root), 0)
  const { open } = await import('node:fs/promises')
  const handle = await open(site.at('/public/a.txt'))
  t.is(openDescriptors(site.root), 1)
  await handle.close()
})

test('an error that no client caused reaches the application after an asset was sent', async t => {
  const mine = new Error('mine')
  const front: Middleware = async (ctx, next) => {
    ctx.res.once('finish', () => {
      ctx.onerror(mine)
      // What some middleware hand on in its place.
      ;(Object.create(ctx) as Context).onerror(mine)
    })
    await next()
  }
  const site = await makeSite(t, { '/public/a.txt': 'a' }, { front })
  for (let times = 0; times < 2; times++) t.is((await site.ask('/a.txt')).text, 'a')
  t.deepEqual(site.errors, [mine, mine, mine, mine])
})

test('an onerror that was set on the context stays there', async t => {
  const seen: unknown[] = []
  const front: Middleware = (ctx, next) => {
    ctx.onerror = error => seen.push(error)
    return next()
  }
  const site = await makeSite(t, { '/public/a.txt': 'a' }, { front })
  t.is((await site.ask('/a.txt')).text, 'a')
  // Koa reports the end of every response, with null where nothing failed.
  await until(() => seen.length > 0, 'the end of the response')
  t.deepEqual([seen, site.errors], [[null], []])
})

/** One that waits until it may continue. */
function slowCompiler(compiling: EventEmitter): Compiler {
  return {
    extensions: ['.slow'],
    target: '.css',
    async compile({ code }) {
      compiling.emit('begun')
      await once(compiling, 'go on')
      return { code }
    }
  }
}

for (const reset of [true, false]) {
  const how = reset ? 'resets its connection' : 'goes away'
  test(`a client that ${how} before the response begins is not an error of the application`, async t => {
    const compiling = new EventEmitter()
    const gone = new EventEmitter()
    const front: Middleware = (ctx, next) => {
      ctx.req.socket.once('close', () => gone.emit('close'))
      return next()
    }
    const files = { 'a.css.slow': 'a{}', '/public/b.txt': 'b' }
    const site = await makeSite(t, files, { compilers: [slowCompiler(compiling)], front })
    for (let times = 0; times < 5; times++) {
      site.write('a.css.slow', `a { times: ${times} }`)
      const [socket, begun] = [connect(site.port, '127.0.0.1'), once(compiling, 'begun')]
      socket.on('error', () => {})
      socket.write('GET /assets/a.css HTTP/1.1\r\nHost: x\r\n\r\n')
      await begun
      const closed = once(gone, 'close')
      if (reset) socket.resetAndDestroy()
      else socket.destroy()
      await closed
      compiling.emit('go on')
    }
    t.is((await site.ask('/b.txt')).text, 'b')
    t.deepEqual(site.errors, [])
  })
}

test('an HTTP/2 stream that is reset before the response begins is not an error of the application', async t => {
  const compiling = new EventEmitter()
  const front: Middleware = async (ctx, next) => {
    const closed = once(ctx.res, 'close')
    const passed = next()
    await closed
    compiling.emit('go on')
    await passed
    compiling.emit('over')
  }
  const options = { compilers: [slowCompiler(compiling)], front }
  const site = await makeSite(t, { 'a.css.slow': 'a{}' }, options)
  const server = createServer((req, res) => void site.app.callback()(req, res))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const stream = session.request({ ':path': '/assets/a.css' })
  stream.on('error', () => {})
  const over = once(compiling, 'over')
  await once(compiling, 'begun')
  stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  await over
  session.close()
  t.deepEqual(site.errors, [])
})

test('a request that is passed on keeps the onerror of its application', async t => {
  const seen: boolean[] = []
  const routes: Middleware = ctx => {
    seen.push(Object.hasOwn(ctx, 'onerror'))
    ctx.body = 'a page'
  }
  const site = await makeSite(t, {}, { routes, revalidate: 0 })
  for (const path of ['/none.css', '/assets/none.css', '/page']) {
    t.is((await site.ask(path)).text, 'a page')
  }
  t.deepEqual(seen, [false, false, false])
})
