// The overview at start names the page of the inspector where it is of use.
import { settleProject } from '../../../lib/runtime/app/extras.ts'
import { overview } from '../../../lib/extras/telling/overview.ts'
import { makeProject, test } from '../../support/index.ts'

test('the overview leads to the inspector, unless there is none or nothing to inspect', t => {
  const root = makeProject(t, { 'dist/app.js': '' })
  const common = { root, env: 'development', serve: true } as const
  const none = { apps: false, public: false } as const
  const line = '  To inspect them, open /assets/-/ on this server.'
  for (const [options, last] of [
    [{}, line],
    [{ apps: false }, line],
    [{ ...none, mounts: { '/static': 'dist' } }, line],
    [{ ...none }, '  This process serves no files by itself.'],
    [{ live: false }, '  This process serves them, and everything in public.']
  ] as const)
    t.is(
      overview(settleProject({ ...common, ...options }, {}), '')
        .split('\n')
        .at(-1),
      last
    )
  const settings = settleProject(common, {})
  const others = settings.extras.filter(({ name }) => name !== 'inspector')
  t.false(overview({ ...settings, extras: others }, '').includes('To inspect'))
})
