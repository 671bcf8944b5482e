// The names that `preload` takes, as types.
import { test } from '../../support/test.ts'
import { run as runCommand } from '../../publishing/cli/run.ts'
import { complaints, makeTyped } from './typed.ts'

test('preload takes the names of assets, and a mistyped one does not compile', async t => {
  const root = makeTyped(t)
  await runCommand(root, 'types')
  t.is(complaints(root, "assets.preload('app', { as: 'style' })"), '')
  t.regex(complaints(root, "assets.preload('ap.css')"), /Did you mean '"app\.css"'/)
})
