import { statSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import test from 'ava'
import { mtimeNotBefore, setMtime } from '../../../lib/files/clock.ts'
import { makeProject } from '../../support/site.ts'

test('an mtime that is not before another is not before it on disk either, and less than 3 µs later', async t => {
  const file = join(makeProject(t, { copy: '' }), 'copy')
  const nanoseconds = fc.bigInt({ min: 0n, max: 4_000_000_000_000_000_000n })
  await fc.assert(
    fc.asyncProperty(nanoseconds, async original => {
      await setMtime(file, mtimeNotBefore(original))
      const { mtimeNs } = statSync(file, { bigint: true })
      return mtimeNs >= original && mtimeNs - original < 3000n
    }),
    { numRuns: 500 }
  )
  t.pass()
})
