import { join } from 'node:path'
import test from 'ava'
import { referenceErrors } from '../../../lib/assets/rendering/missing-reference.ts'
import { findReferences } from '../../../lib/assets/rendering/references.ts'
import { settle } from '../../../lib/assets/settings/settings.ts'
import type { Source } from '../../../lib/assets/sources/catalog.ts'
import { makeProject } from '../../support/site.ts'

const COUNT = 250

for (const [what, compiler, placed] of [
  ['as it was written', undefined, COUNT],
  ['that was compiled', { extensions: '.x', target: '.css', compile: () => ({ code: '' }) }, 100]
] as const) {
  test(`S61 in a stylesheet ${what} ${placed} of ${COUNT} missing references are located`, async t => {
    const code = Array.from({ length: COUNT }, (_, at) => `a { b: url(${at}.png) }\n`).join('')
    const root = makeProject(t, { 'apps/web/assets/app.css': code })
    const directory = join(root, 'apps/web/assets')
    const file = join(directory, 'app.css')
    const source: Source = {
      ...{ file, directory, path: 'app.css', tail: 'app.css', name: 'app.css' },
      compiler
    }
    const references = findReferences('css', code)
    const text = { code, references, dependencies: [] }
    const settings = settle({ root })
    const asset = { app: settings.publicApp, source }
    const errors = await referenceErrors(settings, asset, { text }, references)
    t.is(errors.length, COUNT)
    errors.forEach(({ message }, at) => {
      const place = at < placed ? `:${at + 1}:12` : ''
      t.is(message, `apps/web/assets/app.css${place} refers to ${at}.png, which was not found`)
    })
  })
}
