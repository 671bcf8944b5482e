// What `explain` says of a path in a mount is what a request for it gets.
import test, { type ExecutionContext } from 'ava'
import { explain } from '../../../lib/assets/inspecting/explain.ts'
import type { KoaAssetsOptions } from '../../../lib/assets/settings/options.ts'
import { makeSite } from '../../support/site.ts'

const MANIFEST = JSON.stringify({
  'src/main.ts': {
    file: 'assets/main-BX3f_9aZ.js',
    src: 'src/main.ts',
    name: 'main',
    isEntry: true
  }
})
const FILES = {
  'css/app.css': 'a{}',
  '/public/robots.txt': 'robots',
  '/public/static/only.txt': 'only',
  '/admin/.vite/manifest.json': MANIFEST,
  '/admin/assets/main-BX3f_9aZ.js': 'main',
  '/admin/index.html': 'shell',
  '/build/a.txt': 'a',
  '/build/docs/index.html': 'docs'
}
const MOUNTS: NonNullable<KoaAssetsOptions['mounts']> = {
  '/static': { dir: 'build', index: 'index.html', extensions: ['txt'] },
  '/admin': { dir: 'admin', manifest: 'admin/.vite/manifest.json', fallback: 'index.html' }
}

async function makeExplained(t: ExecutionContext) {
  const options = { mounts: MOUNTS, env: 'development' }
  const site = await makeSite(t, FILES, options)
  return {
    site,
    explainPath: (path: string) => explain(path, { ...options, serve: true, root: site.root })
  }
}

const NO_STORE = '; a 404 gets Cache-Control: no-store'
const SHELL = '; a navigation that remains a 404 gets /admin/index.html'

for (const [path, status, outcome, file] of [
  ['/static/a.txt', 200, '200, the file in the mount /static', 'build/a.txt exists'],
  ['/static/a', 200, '200, the file in the mount /static', 'build/a.txt exists'],
  ['/static/docs/', 200, '200, the file in the mount /static', 'build/docs/index.html exists'],
  ['/static/docs', 301, '301 to /static/docs/, for its index file', undefined],
  ['/static/only.txt', 200, '200, the file in public', 'public/static/only.txt exists'],
  ['/robots.txt', 200, '200, the file in public', 'public/robots.txt exists'],
  ['/static/none', 404, `passed to the next middleware${NO_STORE}`, undefined],
  ['/admin/users', 404, `passed to the next middleware${NO_STORE}${SHELL}`, undefined],
  ['/admin/types/api::page', 404, `passed to the next middleware${SHELL}`, undefined],
  ['/admin/none.js', 404, `passed to the next middleware${NO_STORE}`, undefined],
  ['/none', 404, 'passed to the next middleware', undefined],
  ['/assets/app.css', 200, '200, after publishing its source', undefined],
  ['/admin/.vite/manifest.json', 404, 'passed to the next middleware', undefined]
] as const) {
  test(`explain ${path}: ${outcome}`, async t => {
    const { site, explainPath } = await makeExplained(t)
    const explained = await explainPath(path)
    t.is(explained.outcome, outcome)
    t.is(explained.isFound, status === 200)
    const found = explained.steps.find(({ subject }) => subject === 'file')
    if (file !== undefined) t.is(found?.finding, file)
    const answer = await site.ask(path)
    t.is(answer.status, status)
    const [identity] = explained.representations
    if (file === undefined) t.is(identity, undefined)
    for (const [name, value] of Object.entries(identity?.headers ?? {})) {
      t.is(answer.headers[name.toLowerCase()], value, name)
    }
  })
}

test('explain shows which mounts are looked in, and that a hashed file of a bundle is immutable', async t => {
  const { explainPath } = await makeExplained(t)
  const { steps, representations } = await explainPath('/admin/assets/main-BX3f_9aZ.js')
  t.deepEqual(
    steps.find(({ subject }) => subject === 'mounts'),
    {
      subject: 'mounts',
      finding: 'the mount /admin, then public',
      details: [
        '/static/…: build, index index.html, extensions .txt',
        '/admin/…: admin, fallback index.html'
      ]
    }
  )
  t.is(representations[0]?.headers['Cache-Control'], 'public, max-age=31536000, immutable')
})

test('explain tells that no mount has the path', async t => {
  const { explainPath } = await makeExplained(t)
  const { steps } = await explainPath('/elsewhere/a.txt')
  t.is(steps.find(({ subject }) => subject === 'mounts')?.finding, 'none has this path')
})

test('explain tells that the dev server has the files of a mount', async t => {
  const { site } = await makeExplained(t)
  const mounts = { '/static': { dir: 'none', dev: 'http://localhost:5173' } }
  const { steps, outcome } = await explain('/static/a.txt', {
    root: site.root,
    env: 'development',
    serve: true,
    mounts
  })
  t.deepEqual(
    steps.find(({ subject }) => subject === 'mounts'),
    {
      subject: 'mounts',
      finding: "left to the bundler's dev server",
      details: ["/static/…: the bundler's dev server"]
    }
  )
  t.is(outcome, `passed to the next middleware${NO_STORE}`)
})
