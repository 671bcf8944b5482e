// Ten thousand halts that were lost on the way, and what they leave behind: nothing.
import { once } from 'node:events'
import { createReadStream, type ReadStream, readdirSync } from 'node:fs'
import { Agent, type IncomingMessage, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import test from 'ava'
import type Koa3 from 'koa'

import { koaHttpCache } from '../../lib/index.ts'
import { KOAS } from '../support/cached-site.ts'
import { until } from '../support/until.ts'

const HALTS = 10_000
const AT_ONCE = 50
const MEBIBYTE = 2 ** 20

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const openFiles = new Set<ReadStream>()

function openFile(): ReadStream {
  const file = createReadStream(import.meta.filename)
  openFiles.add(file)
  return file.once('close', () => openFiles.delete(file))
}

// Each loses its halt in another way; the answer has to be a 304 all the same.
const ROUTES: readonly ((ctx: Koa3.Context) => unknown)[] = [
  ctx => {
    // oxlint-disable-next-line typescript/no-floating-promises -- forgotten
    ctx.fresh('x')
    ctx.body = { page: true }
  },
  ctx => {
    // oxlint-disable-next-line typescript/no-floating-promises -- forgotten
    ctx.fresh(new Promise<string>(resolve => setImmediate(resolve, 'x')))
    ctx.body = 'page'
  },
  async ctx => {
    await ctx.fresh('x').catch(() => undefined)
    ctx.body = 'page'
  },
  async ctx => {
    ctx.body = openFile()
    await ctx.fresh('x')
  },
  ctx => {
    // oxlint-disable-next-line typescript/no-floating-promises -- forgotten
    ctx.fresh('x')
    ctx.body = openFile()
  }
]

async function leftovers() {
  // A file is closed a moment after its stream was destroyed. One that is never closed ends in a timeout.
  await Promise.all([...openFiles].map(file => once(file, 'close')))
  collectGarbage()
  return {
    heap: process.memoryUsage().heapUsed,
    descriptors: readdirSync('/dev/fd').length,
    listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0)
  }
}

for (const [koa, Koa] of KOAS) {
  test.serial(`ten thousand lost halts leave nothing behind (${koa})`, async t => {
    const rejections: unknown[] = []
    const warnings: unknown[] = []
    const onRejection = (reason: unknown) => rejections.push(reason)
    const onWarning = (warning: unknown) => warnings.push(warning)
    process.on('unhandledRejection', onRejection).on('warning', onWarning)
    t.teardown(() => {
      process.off('unhandledRejection', onRejection).off('warning', onWarning)
    })

    const app = new Koa()
    const errors: unknown[] = []
    app.on('error', error => errors.push(error))
    app.use(koaHttpCache())
    app.use(ctx => ROUTES[Number(ctx.path.slice(1))]?.(ctx))
    const handle = app.callback()
    const server = createServer((req, res) => void handle(req, res)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })

    t.teardown(() => {
      agent.destroy()
      server.close()
    })

    const statuses = new Map<number | undefined, number>()
    const halt = async (number: number): Promise<void> => {
      const path = `/${number % ROUTES.length}`
      const headers = { 'if-none-match': '"x"' }
      const asked = request({ host: '127.0.0.1', port, agent, path, headers }).end()
      const [answer] = (await once(asked, 'response')) as [IncomingMessage]
      statuses.set(answer.statusCode, (statuses.get(answer.statusCode) ?? 0) + 1)
      answer.resume()
      await once(answer, 'close')
    }
    const haltAll = async (count: number): Promise<void> => {
      let next = 0
      const worker = async () => {
        while (next < count) await halt(next++)
      }
      await Promise.all(Array.from({ length: AT_ONCE }, worker))
    }
    await haltAll(1000)
    const before = await leftovers()
    statuses.clear()
    await haltAll(HALTS)
    const after = await leftovers()

    t.deepEqual([...statuses], [[304, HALTS]])
    t.deepEqual(rejections, [])
    t.deepEqual(warnings, [])
    t.deepEqual(errors, [])
    t.is(after.listeners, before.listeners)
    t.true(after.descriptors <= before.descriptors, `${before.descriptors} -> ${after.descriptors}`)
    t.log(before, after)
    await until(
      async () => (await leftovers()).heap - before.heap < 2 * MEBIBYTE,
      'less than 2 MiB more is held'
    )
  })
}
