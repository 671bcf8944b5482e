// A new build while the server runs, and what a page costs the disk.
import { createHook } from 'node:async_hooks'
import fs, { readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import test from 'ava'
import { build } from 'vite'
import type { KoaAssetsOptions } from '../../../lib/assets/settings/options.ts'
import {
  attribute,
  makeBundlerProject,
  pagesOf,
  PAGES,
  sha384,
  summary
} from '../../support/bundler-project.ts'
import { makeProject, writeFiles } from '../../support/site.ts'
import { until } from '../../support/until.ts'
import { warningsAbout } from '../../support/warnings.ts'

// Each synchronous call by name, and each asynchronous one as the resource that it is to Node.
const calls: string[] = []
const patched = fs as unknown as Record<string, (...args: unknown[]) => unknown>
for (const name of ['statSync', 'readFileSync', 'readdirSync', 'openSync', 'stat']) {
  const original = patched[name]
  patched[name] = (...args) => {
    calls.push(`${name} ${String(args[0])}`)
    return original?.(...args)
  }
}
syncBuiltinESMExports()
createHook({
  init: (_, type) => {
    if (/^FS|^FILEHANDLE/.test(type)) calls.push(type)
  }
}).enable()

const { root, remove } = makeBundlerProject(PAGES)
test.after.always(remove)

const run = (outDir: string, more: object = {}) =>
  build({
    root,
    base: '/static/',
    configFile: false,
    logLevel: 'error',
    build: {
      outDir,
      manifest: true,
      rollupOptions: { input: ['src/main.ts', 'src/admin.ts'] },
      ...more
    }
  })

/** The URL and the integrity of each tag. */
const tagsOf = (html: string) =>
  html.split('\n').map(tag => ({
    file: (attribute('href', tag) ?? attribute('src', tag) ?? '').replace('/static/', ''),
    integrity: attribute('integrity', tag)
  }))

const options = (dir: string): KoaAssetsOptions => ({
  root,
  revalidate: 0,
  mounts: { '/static': { dir, manifest: `${dir}/.vite/manifest.json` } }
})

test.serial(
  'BND-05 a new build is seen without restart: the new tags with the new integrity, never half of each',
  async t => {
    await run('dist')
    const pages = pagesOf(options('dist'))
    const before = (await pages()).entry('src/main.ts', 'src/admin.ts')
    writeFiles(root, {
      'src/deep.ts': "import './deep.css'\nexport const deep = () => 'deeper ' + location.href",
      'src/shared.css': '.shared { color: blue }'
    })
    await run('dist')
    const seen = new Set([before])
    await until(async () => {
      const page = await pages()
      seen.add(page.entry('src/main.ts', 'src/admin.ts'))
      return seen.size > 1
    }, 'the new tags')
    const [, after = ''] = [...seen]
    t.is(seen.size, 2)
    t.not(after, before)
    for (const { file, integrity } of tagsOf(after))
      t.is(integrity, sha384(join(root, 'dist', file)))
    t.is((await pages()).entry('src/main.ts', 'src/admin.ts'), after)
  }
)

test.serial(
  'BND-05 names without hashes: the integrity follows the bytes, and so does version',
  async t => {
    const names = {
      entryFileNames: '[name].js',
      chunkFileNames: '[name].js',
      assetFileNames: '[name][extname]'
    }
    const build = () => run('plain', { rollupOptions: { input: ['src/main.ts'], output: names } })
    await build()
    const pages = pagesOf(options('plain'))
    const first = await pages()
    const [before, version] = [first.entry('src/main.ts'), first.version]
    writeFiles(root, { 'src/main.css': '.main { color: green }' })
    await build()
    const file = join(root, 'plain/main.css')
    await until(async () => (await pages()).entry('src/main.ts') !== before, 'the new tags')
    const last = await pages()
    const after = last.entry('src/main.ts')
    t.deepEqual(summary(after), summary(before))
    t.is(tagsOf(after).find(tag => tag.file === 'main.css')?.integrity, sha384(file))
    t.not(last.version, version)
  }
)

test.serial(
  'BND-05 while a build lacks files, or its manifest is broken, the last one stays, and the log says so once',
  async t => {
    await run('slow', { emptyOutDir: false })
    const pages = pagesOf(options('slow'))
    const before = (await pages()).entry('src/main.ts')
    const manifest = join(root, 'slow/.vite/manifest.json')
    const text = readFileSync(manifest, 'utf8')
    const replace = (content: string) => {
      writeFileSync(`${manifest}.next`, content)
      renameSync(`${manifest}.next`, manifest)
    }
    replace(text.slice(0, 100))
    await until(async () => {
      await pages()
      return warningsAbout('slow').some(warning => warning.includes('JSON'))
    }, 'the warning')
    t.is((await pages()).entry('src/main.ts'), before)
    // A later chunk of the new build, which even no tag names.
    const lazy = /"assets\/(lazy-[\w-]+\.js)"/.exec(text)?.[1] ?? ''
    replace(text.replaceAll(lazy, 'lazy-N0tYetWr.js'))
    await until(async () => {
      await pages()
      return warningsAbout('slow').some(warning => warning.includes('lazy-N0tYetWr.js'))
    }, 'the warning')
    t.is((await pages()).entry('src/main.ts'), before)
    const main = /"assets\/(main-[\w-]+\.js)"/.exec(text)?.[1] ?? ''
    const complete = text.replaceAll(lazy, 'lazy-N0tYetWr.js').replaceAll(main, 'main-N3wOnE4x.js')
    replace(complete)
    writeFiles(root, {
      'slow/assets/main-N3wOnE4x.js': 'new()',
      'slow/assets/lazy-N0tYetWr.js': 'lazy()'
    })
    await until(
      async () => (await pages()).entry('src/main.ts').includes('main-N3wOnE4x.js'),
      'the new tags'
    )
    t.is(warningsAbout('JSON').length, 1)
  }
)

test.serial('BND-05 a file that is still being written is waited for', async t => {
  const project = makeProject(t, {
    'dist/a.js': 'old()',
    'manifest.json': '{ "a": { "file": "a.js", "isEntry": true } }'
  })
  const pages = pagesOf({
    root: project,
    revalidate: 0,
    mounts: { '/static': { dir: 'dist', manifest: 'manifest.json' } }
  })
  const before = (await pages()).entry('a')
  // The manifest is new, and a chunk grows for a while: pages never get the hash of a part of it.
  writeFiles(project, {
    'manifest.json': '{ "a": { "file": "a.js", "isEntry": true, "css": [] } }'
  })
  const seen = new Set<string>()
  let text = ''
  for (let piece = 0; piece < 12; piece++) {
    text += `piece(${piece});`
    writeFiles(project, { 'dist/a.js': text })
    for (let page = 0; page < 10; page++) {
      seen.add((await pages()).entry('a'))
      await setTimeout(10)
    }
  }
  t.deepEqual([...seen], [before])
  await until(async () => (await pages()).entry('a') !== before, 'the new tags')
  t.is(tagsOf((await pages()).entry('a'))[0]?.integrity, sha384(join(project, 'dist/a.js')))
})

test.serial('a page costs one stat of the manifest for each revalidate, and no read', async t => {
  await run('cost')
  const manifest = join(root, 'cost/.vite/manifest.json')
  // A file that was just written is read once more.
  await until(() => Date.now() - statSync(manifest).ctimeMs > 1100, 'the files have rested')
  // Without fingerprints koaAssets has no manifest of its own.
  const cost = { ...options('cost'), fingerprint: false, integrity: 'sha384' } as const
  const often = pagesOf(cost)
  const once = pagesOf({ ...cost, revalidate: 3600 })
  calls.length = 0
  for (let page = 0; page < 50; page++) t.regex((await once()).entry('src/main.ts'), /integrity/)
  await until(() => calls.length > 1, 'the stat')
  t.deepEqual(calls, [`stat ${manifest}`, 'FSREQCALLBACK'])
  calls.length = 0
  for (let page = 0; page < 50; page++) {
    t.regex((await often()).entry('src/main.ts'), /integrity/)
    await setTimeout(1)
  }
  t.true(calls.length > 2)
  t.deepEqual(new Set(calls), new Set([`stat ${manifest}`, 'FSREQCALLBACK']))
})

test.serial('a manifest that is gone, or as it was, changes nothing', async t => {
  await run('gone')
  const manifest = join(root, 'gone/.vite/manifest.json')
  const pages = pagesOf(options('gone'))
  const before = (await pages()).entry('src/main.ts')
  utimesSync(manifest, 1, 1)
  for (let page = 0; page < 10; page++) t.is((await pages()).entry('src/main.ts'), before)
  rmSync(manifest)
  for (let page = 0; page < 10; page++) {
    t.is((await pages()).entry('src/main.ts'), before)
    await setTimeout(1)
  }
  t.deepEqual(warningsAbout('gone'), [])
})

test.serial(
  'S61 a manifest of any size is read at start; one above 2 MiB is not taken over while requests wait',
  async t => {
    const big = (file: string) =>
      JSON.stringify({
        outputs: {
          [`dist/${file}`]: {
            entryPoint: 'a.ts',
            imports: [],
            padding: 'x'.repeat(3 * 1024 * 1024)
          }
        }
      })
    const project = makeProject(t, { 'dist/a.js': 'a', 'dist/b.js': 'b', 'big.json': big('a.js') })
    const pages = pagesOf({
      root: project,
      revalidate: 0,
      mounts: { '/static': { dir: 'dist', manifest: 'big.json' } }
    })
    t.deepEqual(summary((await pages()).entry('a.ts')), ['module /static/a.js'])
    writeFiles(project, { 'big.json': big('b.js') })
    await until(async () => {
      await pages()
      return warningsAbout('are too many to parse while requests wait').length > 0
    }, 'the warning')
    t.deepEqual(summary((await pages()).entry('a.ts')), ['module /static/a.js'])
  }
)
