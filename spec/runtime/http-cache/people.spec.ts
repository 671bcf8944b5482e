// The model "people": nobody is shown what was made for somebody else, through any cache that follows RFC 9111.
import * as fc from 'fast-check'
import { aTrace, run } from '../../support/people/trace.ts'
import { cases, test } from '../../support/index.ts'

test('people who share a browser and a cache are only shown current pages that are for them', async t => {
  let responses = 0
  const property = fc.asyncProperty(aTrace, async trace => {
    responses += await run(trace)
  })
  await fc.assert(property, { numRuns: cases(300, 20_000) })
  t.true(responses > cases(300, 20_000))
})
