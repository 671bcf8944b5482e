import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { hasSameTargets, NEVER } from '../../../../lib/assets/building/on-request/mtime-index.ts'
import { observeAll, type FileObservation } from '../../../../lib/files/observation.ts'
import { makeProject } from '../../../support/site.ts'

test('what was published is written again when any file of it was changed or removed, or none is known', async t => {
  const root = makeProject(t, { 'app.css': 'a{}', 'app-1.css': 'a{}' })
  const paths = ['app.css', 'app-1.css'].map(name => join(root, name))
  const [plain = '', fingerprinted = ''] = paths
  const entry = async () => ({
    ...{ source: plain, generation: NEVER, inputs: [] },
    targets: (await observeAll(paths)) as FileObservation[]
  })
  const changed = await entry()
  t.true(await hasSameTargets(changed))
  writeFileSync(fingerprinted, 'b{}')
  t.false(await hasSameTargets(changed))
  const removed = await entry()
  rmSync(plain)
  t.false(await hasSameTargets(removed))
  t.false(await hasSameTargets({ ...removed, targets: [] }))
})
