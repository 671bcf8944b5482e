// The names that `preload` takes, as types.
import { test } from '../../support/test.ts'
import { run as runCommand } from '../../publishing/cli/run.ts'
import { complaints, makeTyped } from './typed.ts'

test('a mistyped name in preload() is an error of TypeScript', async t => {
  const root = makeTyped(t)
  await runCommand(root, 'types')
  const said = complaints(
    root,
    "assets.preload('app', { as: 'style' })",
    "assets.preload('ap.css')"
  )
  t.regex(said, /Did you mean '"app\.css"'/)
  t.is(said.match(/error TS/g)?.length, 1)
})
