// The model "names": a name, and what a reference writes, has one source in development, with fingerprints on request
// and precompiled, or is refused in all of them.
import * as fc from 'fast-check'
import { check } from '../../support/names/check.ts'
import { aPlan } from '../../support/names/project.ts'
import { cases, test } from '../../support/index.ts'

/** While one waits for the disk, others go on. */
const AT_ONCE = 4

test('a name leads to the same source, or to none, in development, live and precompiled', async t => {
  let names = 0
  const property = fc.asyncProperty(aPlan, async plan => {
    const found = await check(plan)
    names += found
  })
  const numRuns = Math.ceil(cases(8, 3000) / AT_ONCE)
  await Promise.all(
    Array.from({ length: AT_ONCE }, () =>
      fc.assert(property, { numRuns, includeErrorInReport: true })
    )
  )
  t.true(names > cases(8, 3000))
})
