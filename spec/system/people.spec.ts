// The model "people" (spec/support/people/) with Varnish in place of the model of a shared cache.
import * as fc from 'fast-check'
import Koa from 'koa'
import { ask, listen, test } from '../support/index.ts'
import type { Fetch } from '../support/people/exchange.ts'
import { aTrace, run } from '../support/people/trace.ts'
import { health, varnishInFront } from './in-front.ts'

/** The model without Varnish takes more of them. */
const RUNS = 100

const healthy = new Koa().use(health).callback()

test('behind Varnish people are shown their own pages, and current ones', async t => {
  // Each trace has an application of its own under a host of its own.
  const applications = new Map<string, ReturnType<Koa['callback']>>()
  const server = await listen(t, (req, res) => {
    const respond = applications.get(req.headers.host ?? '') ?? healthy
    return respond(req, res)
  })
  const port = await varnishInFront(t, server)
  let responses = 0
  const property = fc.asyncProperty(aTrace, async trace => {
    const host = `people-${applications.size}.example`
    const varnish: Fetch = async ({ method, path, headers }) => {
      const answer = await ask(port, path, { method, headers: { ...headers, host } })
      const fields = Object.entries(answer.headers).map(([name, value]) => [
        name,
        [value].flat().join(', ')
      ])
      return { status: answer.status, headers: Object.fromEntries(fields), body: answer.text }
    }
    // Where a trace waits, Varnish does not: what it may keep does not expire.
    responses += await run(
      trace,
      app => {
        applications.set(host, app.callback())
        return varnish
      },
      Infinity
    )
  })
  await fc.assert(property, { numRuns: RUNS })
  t.true(responses > RUNS)
})
