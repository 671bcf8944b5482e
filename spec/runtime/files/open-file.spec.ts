import fs from 'node:fs'
import { join } from 'node:path'
import { isUnmodified, withFile } from '../../../lib/runtime/files/open-file.ts'
import { makeProject, test } from '../../support/index.ts'

test('an open file is unmodified while only its names change, as in a deploy that renames files into place', async t => {
  const path = join(makeProject(t, { file: 'bytes' }), 'file')
  const after = (change: () => void) => withFile(path, file => (change(), isUnmodified(file)))
  t.true(await after(() => fs.linkSync(path, `${path}.backup`)))
  t.true(await after(() => fs.unlinkSync(path)))
  fs.renameSync(`${path}.backup`, path)
  t.false(await after(() => fs.writeFileSync(path, 'other bytes')))
})
