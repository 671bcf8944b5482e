// Requests that never see a socket, for the sake of their number.
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type Koa from 'koa'

/** Gives requests to an application, a number of them at a time; resolves to the statuses seen. */
export async function drive(app: Koa, urls: Iterable<string>, atOnce = 250): Promise<Set<number>> {
  const answer = app.callback()
  const statuses = new Set<number>()
  let batch: Promise<void>[] = []
  const one = async (url: string) => {
    const req = new IncomingMessage(new Socket())
    Object.assign(req, { url, method: 'GET', headers: { host: 'localhost' } })
    const res = new ServerResponse(req)
    await answer(req, res)
    statuses.add(res.statusCode)
  }
  for (const url of urls) {
    batch.push(one(url))
    if (batch.length < atOnce) continue
    await Promise.all(batch)
    batch = []
  }
  await Promise.all(batch)
  return statuses
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Bytes that are still held once all garbage that can be collected now is gone. */
export async function heldBytes(): Promise<number> {
  for (let round = 0; round < 2; round++) {
    await new Promise(resolve => setImmediate(resolve))
    collect()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
