// What koaHttpCache costs.
import { compare, type Case } from '../measure.ts'
import { startContestant, wrk } from '../servers.ts'

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
    compare(names, options, name =>
      startContestant(name, '', async ({ port }, isWarmUp) => {
        const url = `http://127.0.0.1:${port}/page`
        // Without the condition first: a conditional request follows a full response.
        if (isWarmUp) await wrk(url, 1, {})
        return wrk(url, isWarmUp ? 1 : options.seconds, { headers: CONDITION })
      })
    )
}
