// Which files of public are kept in memory.
import { unlinkSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { withFingerprint } from '../../../../lib/assets/urls/fingerprint.ts'
import { publicFilesOf } from '../../../support/served.ts'
import { wantedAt } from '../../../../lib/assets/serving/request-path.ts'
import { settle } from '../../../../lib/assets/settings/settings.ts'
import { openDescriptors } from '../../../support/descriptors.ts'
import { makeProject } from '../../../support/site.ts'
import { until } from '../../../support/until.ts'
import { digestOf } from '../../../../lib/files/digest.ts'

test('a file that is forgotten while it is read is not kept: its source may be gone by then', async t => {
  const bytes = Buffer.alloc(64 * 1024 * 1024, 'film')
  const path = withFingerprint('/assets/film.mp4', digestOf(bytes))
  const root = makeProject(t, { [`public${path}`]: bytes })
  const file = join(root, 'public', path)
  const apps = { web: {} }
  const settings = settle({ root, apps, env: 'production', compile: false, fingerprint: false })
  const files = publicFilesOf(settings)
  const wanted = wantedAt(path, settings)
  const found = files.find(wanted)
  await until(() => openDescriptors(file) === 1, 'the file is being read')
  unlinkSync(file)
  files.forget({ path })
  t.true((await found)?.isVerified)
  t.is(await files.find(wanted), undefined)
})
