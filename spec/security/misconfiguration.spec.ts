// Settings under which koaAssets would serve the project itself: S53.
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import type { KoaAssetsOptions } from '../../lib/assets/settings/options.ts'
import { precompile } from '../../lib/assets/building/precompile.ts'
import { AssetError } from '../../lib/errors.ts'
import { koaAssets } from '../../lib/koa-assets.ts'
import { makeProject } from '../support/site.ts'

const files = {
  'site/package.json': '{}',
  'site/server.js': '',
  'site/apps/web/assets/stylesheets/app.css': 'a{}',
  'site/public/robots.txt': 'x',
  'site/build/package.json': '{}',
  'site/node_modules/theme/assets/theme.css': 'a{}'
}

const CASES: ReadonlyArray<readonly [given: string, reason: string, more?: KoaAssetsOptions]> = [
  ['.', "is the project's root, or contains it"],
  ['./', "is the project's root, or contains it"],
  ['..', "is the project's root, or contains it"],
  ['link-to-root', "is the project's root, or contains it"],
  ['build', 'contains a package.json'],
  ['apps', 'contains the source directory apps/web/assets'],
  ['apps/web', 'contains the source directory apps/web/assets'],
  ['link-to-apps/web', 'contains the source directory apps/web/assets'],
  ['apps/web/assets', 'contains the source directory apps/web/assets'],
  ['apps/web/assets/public', 'is inside the source directory apps/web/assets'],
  ['link-to-apps/web/assets/public', 'is inside the source directory apps/web/assets'],
  ['later', 'contains the source directory later/assets', { apps: { web: { dir: 'later' } } }],
  [
    'node_modules/theme',
    'contains the source directory node_modules/theme/assets',
    { sources: '../../node_modules/theme/assets' }
  ]
]

for (const [given, reason, more] of CASES) {
  test(`S53 public: '${given}' is an error at start: it ${reason}`, async t => {
    const root = join(makeProject(t, files), 'site')
    symlinkSync('.', join(root, 'link-to-root'))
    symlinkSync('apps', join(root, 'link-to-apps'))
    const options = { root, public: given, compile: false, fingerprint: false, ...more }
    const expected = {
      instanceOf: AssetError,
      code: 'public-unusable',
      message: `everything in public is served, but ${given} ${reason}: set public to a directory of its own, such as public: 'public'`
    }
    t.throws(() => koaAssets(options), expected)
    await t.throwsAsync(precompile(options), expected)
  })
}

test('S53 a public directory of its own is fine, there or not, beside sources of a like name', t => {
  const root = join(makeProject(t, files), 'site')
  symlinkSync('public', join(root, 'link-to-public'))
  const options = { root, env: 'development', serve: true }
  for (const directory of ['public', 'link-to-public', 'dist/web', 'apps/web/assets-public']) {
    t.notThrows(() => koaAssets({ ...options, public: directory }), directory)
  }
})
