// What koaHttpCache costs.
import { compare, type Case } from '../measure.ts'
import { startServer, wrk } from '../servers.ts'

const CONDITION = { 'If-None-Match': '"x"' }

export const cases: readonly Case[] = [
  {
    title: 'a route that koaHttpCache is in front of, and that calls no method',
    measure: compareRoutes('koaHttpCache, not used', 'Koa, a page')
  },
  {
    title: 'ctx.fresh halts with 304, against 200 with a small body',
    measure: compareRoutes('koaHttpCache, 304', 'koaHttpCache, 200')
  }
]

function compareRoutes(...names: readonly string[]): Case['measure'] {
  return options =>
    compare(names, options, async name => {
      await using server = await startServer(name, '')
      const url = `http://127.0.0.1:${server.port}/page`
      // Without the condition first: a conditional request follows a full response.
      await wrk(url, 1, {})
      await wrk(url, 1, { headers: CONDITION })
      const before = await server.usage()
      const { requests, seconds } = await wrk(url, options.seconds, { headers: CONDITION })
      const { cpu, rss } = await server.usage()
      return { rate: requests / seconds, cpu: (cpu - before.cpu) / requests, rss }
    })
}
