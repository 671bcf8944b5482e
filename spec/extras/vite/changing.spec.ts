// A new build while the server runs.
import { renameSync, rmSync, symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import type { KoaAssetsOptions } from '../../../lib/runtime/settings/options.ts'
import { SECRET } from '../../security/stronghold.ts'
import { ask } from '../../support/raw.ts'
import { areOf, cases, checkMiss, makeFronts, makeProject, makeSite } from '../../support/index.ts'
import { pagesOf, summary, test, viteMount, warningsAbout } from '../../support/index.ts'
import { writeFiles, type ExecutionContext, type Files } from '../../support/index.ts'

const MOUNT = viteMount()
const MANIFEST = MOUNT.manifest

interface Written {
  /** What is in its files; by default also in their names. */
  readonly text: string
  readonly hash?: string
  /** The chunk of a dynamic import. */
  readonly lazy?: string
}

/** What Vite would write, the manifest last. */
function build(root: string, { text, hash = `-${text.padEnd(8, 'X9')}`, lazy = 'lazy' }: Written) {
  const chunk = { file: `main${hash}.js`, isEntry: true, css: [`main${hash}.css`] }
  const manifest = { 'src/main.ts': chunk, 'src/lazy.ts': { file: `${lazy}${hash}.js` } }
  rmSync(join(root, 'dist'), { recursive: true, force: true })
  writeFiles(root, {
    [`dist/main${hash}.js`]: `main('${text}')`,
    [`dist/main${hash}.css`]: `main { content: '${text}' }`,
    [`dist/lazy${hash}.js`]: `lazy('${text}')`,
    [`${MANIFEST}.next`]: JSON.stringify(manifest)
  })
  renameSync(join(root, `${MANIFEST}.next`), join(root, MANIFEST))
}

function makeBuild(t: ExecutionContext, written: Written = { text: 'first' }) {
  const root = makeProject(t)
  build(root, written)
  return root
}

function optionsOf(root: string, more: KoaAssetsOptions = {}): KoaAssetsOptions {
  return { root, revalidate: 0, apps: false, mounts: { '/static': MOUNT }, ...more }
}

for (const [env, more] of Object.entries<KoaAssetsOptions>({
  production: {},
  development: { integrity: 'sha384', revalidate: 3600 }
})) {
  test(`the first page after a build that emptied dist has the new tags, in ${env}`, async t => {
    const root = makeBuild(t)
    const pages = pagesOf(optionsOf(root, { env, ...more }))
    const before = (await pages()).entry('src/main.ts')
    build(root, { text: 'next' })
    const asked = Array.from({ length: 20 }, async () => (await pages()).entry('src/main.ts'))
    const [after = '', ...others] = await Promise.all(asked)
    t.not(after, before)
    t.true(areOf(root, 'dist', after), after)
    t.deepEqual(new Set(others), new Set([after]))
  })
}

test('integrity and version follow the bytes of files without hashes in their names', async t => {
  const root = makeBuild(t, { text: 'first', hash: '' })
  const pages = pagesOf(optionsOf(root))
  const first = await pages()
  const [before, version] = [first.entry('src/main.ts'), first.version]
  build(root, { text: 'next', hash: '' })
  const last = await pages()
  const after = last.entry('src/main.ts')
  t.not(after, before)
  t.deepEqual(summary(after), summary(before))
  t.true(areOf(root, 'dist', after), after)
  t.not(last.version, version)
})

test('a build that a bundler is still writing is in no page', async t => {
  const root = makeBuild(t)
  const pages = pagesOf(optionsOf(root))
  const before = (await pages()).entry('src/main.ts')
  build(root, { text: 'next' })
  const write = () => writeFiles(root, { 'dist/main-nextX9X9.js': `main(${Date.now()})` })
  const writing = setInterval(write, 100)
  const meanwhile = await pages().finally(() => clearInterval(writing))
  t.is(meanwhile.entry('src/main.ts'), before)
  const after = (await pages()).entry('src/main.ts')
  t.true(areOf(root, 'dist', after), after)
})

test('while a build is incomplete, pages have the last good one, with one warning', async t => {
  const root = makeBuild(t)
  const pages = pagesOf(optionsOf(root))
  const before = (await pages()).entry('src/main.ts')
  const unusable = [
    ['JSON', () => writeFiles(root, { [MANIFEST]: '{ "src/main.ts": {' })],
    // A chunk that no tag names.
    ['missing-nextX9X9.js', () => build(root, { text: 'next', lazy: 'missing' })]
  ] as const
  for (const [reason, change] of unusable) {
    change()
    for (let page = 0; page < 2; page++) t.is((await pages()).entry('src/main.ts'), before)
    t.true(warningsAbout(root).at(-1)?.includes(reason))
  }
  writeFiles(root, { 'dist/missing-nextX9X9.js': 'lazy()' })
  const after = (await pages()).entry('src/main.ts')
  t.true(areOf(root, 'dist', after), after)
  utimesSync(join(root, MANIFEST), 1, 1)
  t.is((await pages()).entry('src/main.ts'), after)
  rmSync(join(root, MANIFEST))
  t.is((await pages()).entry('src/main.ts'), after)
  t.is(warningsAbout(root).length, 2)
})

const FILES: Files = {
  '/dist/a.js': 'a text',
  '/dist/manifest.json': JSON.stringify({ 'a.js': { file: 'a.js', isEntry: true } }),
  '/public/assets.json': '{}'
}
const DIST = { dir: 'dist', manifest: 'dist/manifest.json' }

test('a manifest is not served without its extension either', async t => {
  const extensions = ['json']
  const mounts = { '/': { ...DIST, extensions }, '/p': { dir: 'public', extensions } }
  const site = await makeSite(t, FILES, { mounts })
  for (const path of ['/manifest', '/manifest.json', '/p/assets', '/assets'])
    t.is((await site.ask(path)).status, 404, path)
})

const SERVED_MANIFEST = JSON.stringify({
  'src/main.js': { file: 'main.js', src: `src/${SECRET}.js`, isEntry: true }
})
const NEIGHBOURS = ['', '.br', '.gz', '.zst']

test('a bundler’s manifest is never served, under any name, in any mount or in public', async t => {
  const names = ['me\u0301ta', 'Manifest.JSON', 'manifest.json', 'build-info.txt', 'x.js']
  for (const name of names.slice(0, cases(1, 5))) {
    const decoy = name.normalize('NFC').toUpperCase()
    const root = makeProject(t, { 'public/dist/main.js': 'main', 'public/dist/page.html': 'page' })
    for (const extension of NEIGHBOURS) {
      writeFiles(root, { [`public/dist/${decoy}${extension}`]: SECRET })
      writeFiles(root, { [`public/dist/${name}${extension}`]: SERVED_MANIFEST })
    }
    symlinkSync('dist', join(root, 'public/current'))
    symlinkSync(name, join(root, 'public/dist/link.json'))
    symlinkSync(`${name}.br`, join(root, 'public/dist/link.json.br'))
    const paths = [name, decoy].flatMap(each =>
      NEIGHBOURS.map(extension => encodeURIComponent(each) + extension)
    )
    for (const folder of ['current', 'dist'].slice(0, cases(1, 2))) {
      const manifest = `public/${folder}/${name}`
      const mount = { dir: 'public/dist', manifest, immutable: true }
      const others = { '/current': 'public/current', '/all': 'public', '/': 'public/dist' }
      const fronts = await makeFronts(t, root, { mounts: { '/static': mount, ...others } })
      for (const at of ['/static', '/current', '/all/dist', '/all/current', '/dist', ''])
        for (const path of [...paths, 'link.json', 'link.json.br'])
          await checkMiss(t, fronts, `${at}/${path}`)
      for (const { front } of fronts)
        for (const at of ['/static', '/current', '/all/current', '/dist', ''])
          t.is((await ask(front.port, 'GET', `${at}/page.html`)).text, 'page')
    }
  }
})
