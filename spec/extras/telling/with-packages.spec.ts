// Packages in the overview at start.
import test from 'ava'
import { settleProject } from '../../../lib/assets/extras.ts'
import { overview } from '../../../lib/extras/telling/overview.ts'
import { makeProject } from '../../support/site.ts'

test('PKG-01 the block at start names the packages of an app once', t => {
  const root = makeProject(t, { 'apps/web/assets/css/app.css': 'a{}' })
  const packages = ['tip', { '@fonts/inter': ['400.css'] }, { tip: ['more.js'] }]
  const block = overview(settleProject({ root, env: 'development', packages }, {}), '')
  t.regex(block, /^  \/assets\/… +apps\/web\/assets, npm: tip, @fonts\/inter$/m)
})
