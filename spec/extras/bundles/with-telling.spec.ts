// Bundles in what the commands tell.
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import ava from 'ava'
import { makeShop, run } from '../../cli/run.ts'
import { helpAt } from '../../../lib/errors.ts'

const test = ava.serial

const BUNDLE = {
  'src/main.js': {
    file: 'main-a1.js',
    isEntry: true,
    imports: ['_shared.js'],
    css: ['main.css'],
    dynamicImports: ['src/lazy.js']
  },
  'src/admin.js': { file: 'admin-b2.js', isEntry: true, imports: ['_shared.js'] },
  '_shared.js': { file: 'shared-c3.js' },
  'src/lazy.js': { file: 'lazy-d4.js' }
}
const mounts = { '/static': { dir: 'dist', manifest: 'dist/list.json' }, '/up': 'uploads' }
const config = (options: object) => JSON.stringify({ mounts, ...options })
const MOUNTED = {
  '/assets.config.json': config({ apps: false }),
  '/dist/list.json': JSON.stringify(BUNDLE),
  '/dist/main-a1.js': 'main()',
  '/dist/main-a1.js.gz': gzipSync('main()'),
  '/dist/main.css': 'a{}',
  '/dist/admin-b2.js': 'admin()',
  '/dist/shared-c3.js': 'shared()',
  '/dist/lazy-d4.js': 'lazy()'
}

test('BND-17 a project with only mounts lists and verifies its bundles, and has nothing to compile', async t => {
  const root = makeShop(t, MOUNTED)
  t.deepEqual(await run(root, 'precompile'), {
    status: 0,
    stdout: 'Nothing to compile: this project has no assets of its own.\n',
    stderr: ''
  })
  t.like(JSON.parse((await run(root, 'precompile --json')).stdout), { assets: 0 })
  t.false(existsSync(join(root, 'public')))
  t.deepEqual(await run(root, 'verify'), {
    status: 0,
    stdout: '5 files of builds, 1 copy in mounts, no problems\n',
    stderr: ''
  })
  const shop = makeShop(t, { 'a.txt': 'a', ...MOUNTED, '/assets.config.json': config({}) })
  await run(shop, 'precompile --quiet')
  const verified = await run(shop, 'verify')
  t.is(verified.stdout, '1 asset, 5 files of builds, 1 copy in mounts, no problems\n')
  rmSync(join(root, 'dist/lazy-d4.js'))
  writeFileSync(join(root, 'dist/main-a1.js.gz'), gzipSync('other()'))
  t.deepEqual(await run(root, 'verify'), {
    status: 1,
    stdout: `5 files of builds, 1 copy in mounts, 2 problems\nSee ${helpAt('troubleshooting.md')}\n`,
    stderr:
      '/static/lazy-d4.js is missing, and dist/list.json names it\n' +
      '/static/main-a1.js.gz does not decompress to the original\n'
  })
  t.deepEqual(await run(root, 'list'), {
    status: 0,
    stderr: '',
    stdout: `mount    directory  manifest
/static  dist       dist/list.json
/up      uploads    -

file                  source           size  br  zstd  gzip  entries
/static/admin-b2.js   src/admin.js      7 B   -     -     -  src/admin.js
/static/lazy-d4.js    src/lazy.js   missing   -     -     -  (src/main.js)
/static/main-a1.js    src/main.js       6 B   -     -  27 B  src/main.js
/static/main.css      -                 3 B   -     -     -  src/main.js
/static/shared-c3.js  _shared.js        8 B   -     -     -  src/main.js, src/admin.js
`
  })
  const listed = JSON.parse((await run(root, 'list --json')).stdout) as object[]
  t.is(listed.length, 7)
  const [mount, admin] = listed
  const itself = { path: '/static', source: 'dist', target: '/static', mount: '/static' }
  t.deepEqual(mount, { ...itself, directory: 'dist', manifest: 'dist/list.json' })
  t.deepEqual(admin, {
    path: '/static/admin-b2.js',
    source: 'src/admin.js',
    entries: ['src/admin.js'],
    usedBy: [],
    sizes: { identity: 7 },
    target: '/static/admin-b2.js',
    size: 7,
    mount: '/static',
    isMissing: false
  })
  rmSync(join(root, 'dist/list.json'))
  const { status, stderr } = await run(root, 'verify')
  t.is(status, 1)
  t.regex(stderr, /^\/static has no build: there is no .*dist[\\/]list\.json: build first\n/)
  t.regex((await run(root, 'list')).stdout, /there is no .*list\.json: build first\n/)
  rmSync(join(root, 'dist'), { recursive: true })
  t.is((await run(root, 'verify')).status, 1, 'nothing was built')
})
