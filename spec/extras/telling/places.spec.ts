// Where explain and list find what is not in the folders of apps.
import test from 'ava'
import { makeProject } from '../../support/site.ts'
import { explain, listAssets } from './told.ts'

test('MNT-02 explain says that a mount of public leaves what is below the prefix to the apps', async t => {
  const root = makeProject(t, { 'public/index.html': '', 'assets/stylesheets/site.css': 'p{}' })
  const { steps } = await explain('/assets/site.css', { root, mounts: { '/': 'public' } })
  const mounts = steps.find(({ subject }) => subject === 'mounts')
  t.is(mounts?.finding, 'none has this path')
  t.deepEqual(mounts?.details, ['/…: public, except /assets/…, which the apps publish'])
})

test('PKG-04 list names the source of the first place that has the name', async t => {
  const root = makeProject(t, { 'a/star.svg': '', 'b/star.svg': '' })
  const sources = ['../../a', '../../b'].map(dir => ({ dir, at: 'icons' }))
  const listed = await listAssets({ root, sources, apps: { web: {} } })
  t.deepEqual(
    listed.map(({ path, source }) => [path, source]),
    [['/assets/icons/star.svg', 'a/star.svg']]
  )
})

const ONLY_MOUNTS = { serve: true, apps: false, mounts: { '/static': 'dist' } } as const

test('PRV-02 explain says so when no mount has a path that is in public', async t => {
  const root = makeProject(t, { 'public/robots.txt': '', 'dist/app.js': '' })
  const options = { root, ...ONLY_MOUNTS, public: false } as const
  const { steps, outcome } = await explain('/robots.txt', options)
  t.is(outcome, 'passed to the next middleware')
  t.deepEqual(steps.map(({ subject, finding }) => [subject, finding]).slice(2), [
    ['mounts', 'none has this path'],
    ['file', 'no mount has /robots.txt']
  ])
  const found = await explain('/static/app.js', options)
  t.is(found.steps.find(({ subject }) => subject === 'mounts')?.finding, 'the mount /static')
})
