// Responses without a server, as adapters for serverless platforms make them.
import { once } from 'node:events'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { Writable } from 'node:stream'
import test from 'ava'
import Koa from 'koa'
import { koaAssets } from '../../../lib/koa-assets.ts'
import { makeProject } from '../../support/site.ts'
import { passOn } from '../../support/ways.ts'

const TEXT = '0123456789'.repeat(1000)

for (const [way, maxFileBytes, ...front] of [
  ['from memory', 100_000],
  ['streamed', 100],
  ['from memory, given to Koa', 100_000, passOn],
  ['streamed, given to Koa', 100, passOn]
] as const) {
  test(`a response whose request has no connection is sent, ${way}`, async t => {
    const root = makeProject(t, { 'public/a.txt': TEXT })
    const app = new Koa()
    const errors: Error[] = []
    app.on('error', error => errors.push(error))
    for (const middleware of front) app.use(middleware)
    app.use(koaAssets({ root, serve: true, env: 'development', memory: { maxFileBytes } }))
    const req = Object.assign(new IncomingMessage(new Socket()), { method: 'GET', url: '/a.txt' })
    // As serverless-http makes it.
    const res = new ServerResponse({ method: 'GET' } as IncomingMessage)
    const chunks: Buffer[] = []
    const sink = new Writable({
      write(chunk: Buffer, _, done) {
        chunks.push(chunk)
        done()
      }
    })
    res.useChunkedEncodingByDefault = false
    res.assignSocket(sink as Socket)
    const finished = once(res, 'finish')
    await app.callback()(req, res)
    await finished
    const bytes = Buffer.concat(chunks).toString()
    t.regex(bytes, /^HTTP\/1\.1 200 OK\r\n/)
    t.true(bytes.endsWith(`\r\n\r\n${TEXT}`))
    t.deepEqual(errors, [])
  })
}
