// What `explain` and the overview at start say of mounts with a manifest, or with a dev server in their place.
import { rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { freshAssets } from '../../../lib/extras/vite/plugin.ts'
import { koaAssets, type KoaAssetsOptions } from '../../../lib/index.ts'
import { ESBUILD, makeProject, makeSite, test, TWO_BUILDS, until } from '../../support/index.ts'
import { viteBuild, viteMount, warningsAbout, type ExecutionContext } from '../../support/index.ts'
import { startVite } from '../../support/vite-server.ts'
import { explain, type Explanation } from './told.ts'

const MOUNTED = {
  'css/app.css': 'a{}',
  '/public/robots.txt': 'robots',
  '/public/static/only.txt': 'only',
  ...viteBuild('/admin', { 'src/main.ts': 'assets/main-BX3f_9aZ.js' }),
  '/admin/index.html': 'shell',
  '/build/a.txt': 'a',
  '/build/docs/index.html': 'docs'
}
const MOUNTS: NonNullable<KoaAssetsOptions['mounts']> = {
  '/static': { dir: 'build', index: 'index.html', extensions: ['txt'] },
  '/admin': { ...viteMount('admin'), fallback: 'index.html' }
}

async function makeExplained(t: ExecutionContext) {
  const options = { mounts: MOUNTS, env: 'development', serve: true }
  const site = await makeSite(t, MOUNTED, options)
  return { site, explainPath: (path: string) => explain(path, { ...options, root: site.root }) }
}

const NO_STORE = '; a 404 gets Cache-Control: no-store'
const SHELL = '; a navigation that remains a 404 gets /admin/index.html'

test('what explain says about a path in a mount is what a request for it gets', async t => {
  const { site, explainPath } = await makeExplained(t)
  for (const [path, status, outcome, file] of [
    ['/static/a.txt', 200, '200, the file in a mount', 'build/a.txt exists'],
    ['/static/a', 200, '200, the file in a mount', 'build/a.txt exists'],
    ['/static/docs/', 200, '200, the file in a mount', 'build/docs/index.html exists'],
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
    const explained = await explainPath(path)
    t.is(explained.outcome, outcome)
    t.is(explained.isFound, status === 200)
    const found = explained.steps.find(({ subject }) => subject === 'file')
    if (file !== undefined) t.is(found?.finding, file)
    const answer = await site.ask(path)
    t.is(answer.status, status)
    const [identity] = explained.representations
    if (file === undefined) t.is(identity, undefined)
    for (const [name, value] of Object.entries(identity?.headers ?? {}))
      t.is(answer.headers[name.toLowerCase()], value, name)
  }
})

const MAIN = '/admin/assets/main-BX3f_9aZ.js'
const mountsIn = ({ steps }: Explanation) => steps.find(({ subject }) => subject === 'mounts')

test('explain shows by which mounts and manifest a file is found', async t => {
  const { explainPath } = await makeExplained(t)
  const explained = await explainPath(MAIN)
  t.deepEqual(mountsIn(explained), {
    subject: 'mounts',
    finding: 'the mount /admin, then public',
    details: [
      '/static/…: build',
      '/admin/…: admin',
      'admin/.vite/manifest.json names it, made from src/main.ts',
      'in the tags of src/main.ts'
    ]
  })
  const [identity] = explained.representations
  t.is(identity?.headers['Cache-Control'], 'public, max-age=31536000, immutable')
})

test('explain tells to build again where a file of a manifest is missing', async t => {
  const { site, explainPath } = await makeExplained(t)
  rmSync(site.at(MAIN))
  const missing = await explainPath('src/main.ts')
  t.false(missing.isFound)
  t.true(mountsIn(missing)?.details.includes('it is missing on disk: build again'))
})

test("explain leaves a path in a mount with dev to the bundler's dev server", async t => {
  const mounts = { '/static': { dir: 'none', dev: 'http://localhost:5173' } }
  const options = { root: makeProject(t), env: 'development', serve: true, mounts }
  const left = await explain('/static/a.txt', options)
  const finding = "left to the bundler's dev server"
  const details = ["/static/…: the bundler's dev server"]
  t.deepEqual(mountsIn(left), { subject: 'mounts', finding, details })
  t.is(left.outcome, `passed to the next middleware${NO_STORE}`)
})

test('where a missing manifest makes koaAssets() throw, explain shows that error, and no response', async t => {
  const root = makeProject(t, { 'apps/web/assets/app.css': 'a{}', 'public/a.txt': '' })
  const mounts = { '/x': { dir: 'public', manifest: 'none.json' } }
  const options = { root, mounts, env: 'staging', compile: true, serve: true }
  const { steps, outcome, isFound } = await explain('app.css', options)
  const settings = steps.find(({ subject }) => subject === 'settings')
  t.regex(settings?.details.at(-1) ?? '', /^koaAssets\(\) throws: .*none\.json/)
  t.deepEqual([outcome, isFound], ['none, as koaAssets() throws', false])
})

const VITE = viteMount()

/** A project that was built at 17:17 on the given day. */
function builtAt1717(t: ExecutionContext): string {
  const root = makeProject(t, TWO_BUILDS)
  const at = new Date(2020, 1, 29, 17, 17)
  utimesSync(join(root, VITE.manifest), at, at)
  return root
}

// Serial: the process has another environment meanwhile.
test.serial('the overview at start says when Vite built a mount, or where Vite runs', async t => {
  const root = builtAt1717(t)
  const mounts = {
    '/static': { ...VITE, fallback: 'index.html' },
    '/other': ESBUILD,
    '/none': { ...VITE, manifest: 'none.json' }
  }
  const { NODE_ENV } = process.env
  process.env['NODE_ENV'] = 'development'
  t.teardown(() => (process.env['NODE_ENV'] = NODE_ENV))
  const started = async () => {
    const { length } = warningsAbout(root)
    koaAssets({ root, serve: true, apps: false, mounts })
    await until(() => warningsAbout(root).length > length, 'the overview')
    return warningsAbout(root).at(-1) ?? ''
  }
  const before = await started()
  t.regex(
    before,
    /^  \/static\/… +dist; Vite is not running: tags of the build of 2020-02-29 17:17; while Vite runs, open pages there$/m
  )
  t.regex(before, /^  \/other\/… +other$/m, 'no word about Vite where another bundler built')
  t.regex(before, /^  \/none\/… +dist$/m)
  const plugins = [freshAssets({ mount: '/static', input: 'src/main.js' })]
  const { origin } = await startVite(t, root, { plugins })
  const line = `dist; Vite at ${origin}: open pages there, as index.html is that of the last build here\n`
  t.true((await started()).includes(line))
})
