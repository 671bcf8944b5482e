// Ten thousand halts that were lost on the way, and what they leave behind: nothing.
import { once } from 'node:events'
import { createReadStream, type ReadStream } from 'node:fs'
import { Agent } from 'node:http'
import ava from 'ava'
import type Koa3 from 'koa'
import { koaHttpCache } from '../../lib/index.ts'
import { ask } from '../support/ask.ts'
import { KOAS, open } from '../support/cached-site.ts'
import { openDescriptors } from '../support/descriptors.ts'
import { heldBytes } from '../support/in-process.ts'
import { until } from '../support/until.ts'

const test = ava.serial

const HALTS = 10_000
const AT_ONCE = 50
const MIB = 2 ** 20

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
  const listeners = process.eventNames().map(name => process.listenerCount(name))
  return {
    held: await heldBytes(),
    descriptors: openDescriptors(),
    listeners: listeners.reduce((sum, count) => sum + count, 0)
  }
}

for (const [koa, Koa] of KOAS) {
  test(`ten thousand lost halts leave nothing behind (${koa})`, async t => {
    const reported: unknown[] = []
    const note = (what: unknown) => reported.push(what)
    process.on('unhandledRejection', note).on('warning', note)
    t.teardown(() => process.off('unhandledRejection', note).off('warning', note))
    const app = new Koa()
    app.use(koaHttpCache())
    app.use(ctx => ROUTES[Number(ctx.path.slice(1))]?.(ctx))
    const { port, errors } = await open(t, app)
    const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
    t.teardown(() => agent.destroy())
    const headers = { 'if-none-match': '"x"' }
    const haltAll = async (count: number): Promise<void> => {
      let next = 0
      const worker = async () => {
        while (next < count) {
          const { status } = await ask(port, `/${next++ % ROUTES.length}`, { headers, agent })
          if (status !== 304) throw new Error(`a ${status}`)
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, worker))
    }
    await haltAll(1000)
    const before = await leftovers()
    await haltAll(HALTS)
    const after = await leftovers()
    t.deepEqual([reported, errors], [[], []])
    t.is(after.listeners, before.listeners)
    t.true(after.descriptors <= before.descriptors, `${before.descriptors} -> ${after.descriptors}`)
    t.log(before, after)
    const more = async () => (await leftovers()).held - before.held
    await until(async () => (await more()) < 2 * MIB, 'less than 2 MiB more is held')
  })
}
