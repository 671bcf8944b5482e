// Files of earlier builds that open pages still ask for, kept in the next builds.
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Middleware } from 'koa'
import { run } from '../../publishing/cli/run.ts'
import { helpAt } from '../../../lib/runtime/errors.ts'
import { cleanKept, keep, verifyCopies } from '../../../lib/index.ts'
import type { KeepReport } from '../../../lib/index.ts'
import { attribute, COPIES, filesBelow, leadLink, makeProject } from '../../support/index.ts'
import { makeSite, test, viteBuild, viteMount, writeFiles } from '../../support/index.ts'
import type { ExecutionContext, Files } from '../../support/index.ts'

const LIST = '.koa-fresh-assets-kept.json'
const IMMUTABLE = 'public, max-age=31536000, immutable'
const WORDS = Array.from({ length: 2000 }, (_, at) => ((at * 7919) % 9973).toString(36)).join(' ')

/** The manifest of a build with these chunks, and the chunks. */
function chunks(...names: readonly string[]): Files {
  const manifest = names.map(name => {
    const [stem = ''] = name.split('-')
    return [`src/${stem}.ts`, { file: name, name: stem, src: `src/${stem}.ts`, isEntry: true }]
  })
  return {
    '.vite/manifest.json': JSON.stringify(Object.fromEntries(manifest)),
    ...Object.fromEntries(names.map(name => [name, `/* ${name} */ ${WORDS}`]))
  }
}

const [OLD, LAZY] = ['main-AbCd1234.js', 'lazy-EfGh5678.js'] as const
const [NEW, NEXT] = ['main-IjKl9012.js', 'main-MnOp3456.js'] as const

function makeBuilds(t: ExecutionContext, builds: Readonly<Record<string, Files>>) {
  const project = makeProject(t)
  for (const [name, files] of Object.entries(builds)) writeFiles(join(project, name), files)
  const at = (path: string) => join(project, path)
  return {
    at,
    run: (older = 'old', newer = 'new', options = {}) => keep(at(older), at(newer), options),
    /** What is kept, by build. */
    listed: () => {
      const text = readFileSync(at(`new/${LIST}`), 'utf8')
      const { builds } = JSON.parse(text) as { builds: { hashed: string[] }[] }
      return builds.map(({ hashed }) => hashed)
    },
    /** The files of the new build, each with what changes when it is written again. */
    state: () =>
      filesBelow(at('new')).map(path => {
        const { ino, mtimeMs } = statSync(at(`new/${path}`))
        return `${path} ${ino} ${mtimeMs}`
      })
  }
}

function list(...given: readonly (readonly [daysAgo: number, ...files: string[]])[]) {
  const builds = given.map(([days, ...hashed]) => {
    return { replaced: new Date(Date.now() - days * 86_400_000).toISOString(), hashed }
  })
  return JSON.stringify({ builds })
}

test('an open page finds the files of its build after two deploys, with the same Cache-Control', async t => {
  // Vite lists it beside its chunk, and what stands before a hash is not told: it counts as a name without one.
  const worker = 'worker-QrSt7890.js'
  const built = chunks(OLD, LAZY)
  const listed = `"assets":["${worker}"],"isEntry"`
  const manifest = String(built['.vite/manifest.json']).replace('"isEntry"', listed)
  const { at, run } = makeBuilds(t, {
    old: { ...built, '.vite/manifest.json': manifest, [worker]: WORDS },
    new: chunks(NEW),
    next: chunks(NEXT)
  })
  const kept = [LAZY, OLD, worker]
  t.like(await run(), { builds: 1, kept, copied: 3 })
  t.like(await run('new', 'next'), { builds: 2, kept: [...kept, NEW].toSorted(), copied: 4 })
  t.true(COPIES.every(extension => existsSync(at(`next/${LAZY}${extension}`))))
  leadLink(at('current'), 'old')
  const routes: Middleware = ctx => {
    if (ctx.path === '/') ctx.body = ctx.assets.entry('src/main.ts')
  }
  const options = { root: at(''), env: 'production', revalidate: 0, routes }
  const { ask } = await makeSite(t, {}, { ...options, mounts: { '/static': viteMount('current') } })
  for (const [build, main] of Object.entries({ old: OLD, new: NEW, next: NEXT })) {
    leadLink(at('current'), build)
    t.is(attribute('src', (await ask('/')).text), `/static/${main}`)
    for (const file of [OLD, LAZY, main])
      t.is((await ask(`/static/${file}`)).headers['cache-control'], IMMUTABLE, `${file}, ${build}`)
    const { status, headers } = await ask(`/static/${worker}`)
    t.deepEqual([status, headers['cache-control']], [200, 'public, max-age=0, must-revalidate'])
  }
  t.is((await ask(`/static/${LIST}`)).status, 404)
})

test('keep, run again, copies only what is missing, such as after an interrupted run', async t => {
  const { at, run, state } = makeBuilds(t, { old: chunks(OLD, LAZY), new: chunks(NEW) })
  const signal = AbortSignal.abort('stopped')
  t.is(await run('old', 'new', { signal }).catch((error: unknown) => error), 'stopped')
  t.deepEqual(readdirSync(at('new')).toSorted(), [LIST, '.vite', NEW], 'the list comes first')
  writeFileSync(at(`new/${OLD}`), readFileSync(at(`old/${OLD}`)))
  const { copied, kept } = await run()
  t.deepEqual([copied, kept], [1, [LAZY, OLD]])
  const before = state()
  t.true(before.length >= 4 + 3 * COPIES.length)
  const again = await run()
  t.deepEqual([again.copied, again.kept], [0, kept])
  t.deepEqual(state(), before)
})

test('a file that the new build has is never kept from the old one', async t => {
  const [other, link] = ['other-QrSt7890.js', 'link-UvWx1234.js'] as const
  const { at, run } = makeBuilds(t, {
    old: { ...chunks(OLD, LAZY, other, link), 'plain.js': 'plain()', 'sub/x.css': 'x{}' },
    new: { ...chunks(NEW, LAZY), [LAZY]: 'mine()', [other]: 'mine()' }
  })
  symlinkSync('/nowhere', at(`new/${link}`))
  t.deepEqual((await run()).kept, [OLD])
  t.is(readFileSync(at(`new/${LAZY}`), 'utf8'), 'mine()')
  t.is(readFileSync(at(`new/${other}`), 'utf8'), 'mine()')
  t.true(lstatSync(at(`new/${link}`)).isSymbolicLink())
  t.false(existsSync(at('new/plain.js')), 'its name has no hash')
})

test('keep follows no link in the old build or out of the new one', async t => {
  const chunk = 'sub/chunk-QrSt7890.js'
  const outside = { 'secret.js': WORDS }
  const { at, run } = makeBuilds(t, { old: chunks(OLD, LAZY, chunk), new: chunks(NEW), outside })
  rmSync(at(`old/${LAZY}`))
  symlinkSync(at('outside/secret.js'), at(`old/${LAZY}`))
  symlinkSync(at('outside'), at('new/sub'))
  await t.throwsAsync(run(), { code: 'publish-failed', message: /contains a symbolic link/ })
  t.deepEqual(readdirSync(at('outside')), ['secret.js'])
  rmSync(at('new/sub'))
  t.deepEqual((await run()).kept, [OLD, chunk])
})

test('keep and clean drop the builds that are neither among the newest nor younger than the age', async t => {
  const [a, b, c] = ['a-AbCd1234.js', 'b-AbCd1234.js', 'c-AbCd1234.js'] as const
  const kept = { [a]: 'a()', [b]: 'b()', [c]: 'c()', [LIST]: list([2, a], [8, b], [9, c]) }
  const { at, run, listed } = makeBuilds(t, { old: { ...chunks(OLD), ...kept }, new: chunks(NEW) })
  t.deepEqual((await run('old', 'new', { keep: 2 })).kept, [a, OLD])
  t.deepEqual((await run('old', 'new', { keep: 2, age: '9d' })).kept, [a, b, OLD])
  t.deepEqual((await run()).kept, [a, b, OLD], 'the third build is the last that is kept')
  t.deepEqual(listed(), [[OLD], [a], [b]])
  t.deepEqual((await cleanKept(at('new'))).removed, [])
  writeFiles(at('new'), { [`${b}.gz/own.js`]: 'own()' })
  t.deepEqual((await cleanKept(at('new'), { keep: 1 })).removed, [b])
  t.true(existsSync(at(`new/${b}.gz/own.js`)), 'a folder is no copy')
  t.deepEqual((await cleanKept(at('new'), { keep: 1, age: '1d' })).removed, [a])
  t.deepEqual((await cleanKept(at('new'), { keep: 0, age: 0 })).removed, [OLD])
  t.false(existsSync(at(`new/${LIST}`)))
  t.deepEqual(await cleanKept(at('new')), { removed: [], bytes: 0, kept: 0, dryRun: false })
})

test('clean leaves a kept file that the next build has again', async t => {
  const { at, run } = makeBuilds(t, { old: chunks(OLD), new: chunks(NEW), next: chunks(OLD) })
  await run()
  t.deepEqual((await run('new', 'next')).kept, [NEW])
  writeFileSync(at(`next/${LIST}`), list([30, OLD, NEW, 'gone-AbCd1234.js']))
  t.deepEqual((await cleanKept(at('next'), { keep: 0 })).removed, [NEW])
  t.true(existsSync(at(`next/${OLD}`)))
})

const PICTURE = 'logo-QrSt7890.png'

test('keep repairs the kept files that verify reports as damaged or missing', async t => {
  const builds = { old: chunks(OLD, LAZY, PICTURE), new: chunks(NEW) }
  const { at, run, state } = makeBuilds(t, builds)
  const problems = async () => (await verifyCopies(at('new'))).problems
  await run()
  const whole = state().length
  t.deepEqual(await problems(), [])
  const advice =
    "and was kept from an earlier build: run 'npx koa-fresh-assets keep' with that build again"
  for (const bytes of ['', 'other()', `${readFileSync(at(`old/${PICTURE}`), 'utf8')} `]) {
    writeFileSync(at(`new/${PICTURE}`), bytes)
    t.deepEqual(await problems(), [{ path: PICTURE, message: `is damaged, ${advice}` }])
    t.is((await run()).copied, 1)
    t.deepEqual(await problems(), [], 'repaired')
  }
  writeFileSync(at(`new/${LAZY}`), 'lazy(')
  rmSync(at(`new/${PICTURE}`))
  t.true((await problems()).some(({ message }) => message === `is missing, ${advice}`))
  t.is((await run()).copied, 2)
  t.deepEqual([await problems(), state().length], [[], whole])
})

test('keep, clean and verify say what to do about a list of kept files that is damaged or lost', async t => {
  const builds = { older: chunks(OLD, LAZY), old: chunks(NEW), new: chunks(NEXT) }
  const { at, run } = makeBuilds(t, builds)
  await run('older', 'old')
  writeFileSync(at('outside.js'), WORDS)
  const good = readFileSync(at(`old/${LIST}`))
  const broken =
    /kept\.json is not a list of kept files .*: restore it, or remove it and run .*keep/
  const lost = /contains main-AbCd1234\.js of an earlier build, and no .*: copy/
  for (const [bytes, code, says] of [
    ['', 'manifest-broken', broken],
    [list([1, '../outside.js']), 'manifest-broken', broken],
    [good.subarray(0, -20), 'manifest-broken', broken],
    [undefined, 'manifest-missing', lost]
  ] as const) {
    if (bytes === undefined) rmSync(at(`old/${LIST}`))
    else writeFileSync(at(`old/${LIST}`), bytes)
    await t.throwsAsync(run('old', 'new'), { code, message: says })
    await t.throwsAsync(cleanKept(at('old')), { code, message: says })
    const [problem, ...others] = (await verifyCopies(at('old'))).problems
    t.deepEqual([problem?.path, others], [LIST, []])
    t.regex(problem?.message ?? '', says)
  }
  t.deepEqual(readdirSync(at('new')).toSorted(), ['.vite', NEXT], 'nothing was kept in part')
  t.true(existsSync(at('outside.js')))
  writeFileSync(at(`old/${LIST}`), '{"builds":[]}')
  t.deepEqual((await run('old', 'new')).kept, [NEW], 'as the message says')
})

const TEXT = 'body { color: red }\n'.repeat(200)

test.serial('keep and clean <dir> print what they did without the configuration', async t => {
  const root = makeProject(t, {
    'assets.config.mjs': 'throw new Error("loaded")',
    ...viteBuild('old', { 'src/main.js': 'main-AbCd1234.js' }),
    ...viteBuild('new', { 'src/main.js': 'main-EfGh5678.js' }),
    'old/main-AbCd1234.js': TEXT,
    'new/main-EfGh5678.js': `${TEXT}\n`
  })
  const { status, stdout, stderr } = await run(root, 'keep old new')
  t.deepEqual([status, stderr], [0, 'Compressing 2 files\n'])
  t.regex(stdout, /^Kept: 1 file of 1 earlier build, 4\.0 kB; 1 copied$/m)
  const report = JSON.parse((await run(root, 'keep old new --json')).stdout) as KeepReport
  t.deepEqual([report.kept, report.copied], [['main-AbCd1234.js'], 0])
  t.is((await run(root, 'clean new')).stdout, '0 files removed, 0 B; 1 kept\n')
  const dry = await run(root, 'clean new --keep 0 --age 0s --dry-run')
  t.regex(dry.stdout, /^main-AbCd1234\.js\n1 file would be removed, 4\.\d kB; 0 kept\n$/)
  t.is((await run(root, 'verify new -q')).status, 0)
  t.is((await run(root, 'clean --root new . --keep 0 --age 0s -q')).status, 0)
  t.notRegex(readdirSync(join(root, 'new')).join(), /AbCd|kept/)
  t.regex((await run(root, 'clean --manifest a.json')).stderr, /clean <dir> --manifest FILE/)
})

test.serial('keep and clean read the manifest that --manifest names', async t => {
  const buildOf = (file: string) => ({
    [file]: TEXT,
    'build/list.json': chunks(file)['.vite/manifest.json'] ?? ''
  })
  const { at } = makeBuilds(t, { old: buildOf(OLD), new: buildOf(NEW) })
  const clean = 'clean new --keep 0 --age 0s'
  for (const line of ['keep old new', clean]) {
    t.regex((await run(at(''), line)).stderr, /there is no manifest .*stats\.json/, line)
    const { stdout } = await run(at(''), `${line} --manifest build/list.json --json`)
    const { kept, removed } = JSON.parse(stdout) as { kept: unknown; removed: unknown }
    t.deepEqual(line === clean ? [removed, kept] : kept, line === clean ? [[OLD], 0] : [OLD])
  }
})

test.serial('verify <dir> names each damaged or unneeded copy and each missing file', async t => {
  const manifest = { 'src/main.js': { file: 'main-AbCd1234.js', isEntry: true, css: ['a.css'] } }
  const root = makeProject(t, {
    'dist/.vite/manifest.json': JSON.stringify(manifest),
    'dist/main-AbCd1234.js': TEXT,
    'dist/a.css': TEXT,
    'dist/gone.css': TEXT,
    // It describes a web application, and no bundle.
    'site/manifest.json': '{ "name": "Shop" }',
    'site/a.css': TEXT,
    'site/a.css.zst': 'no zstd'
  })
  await run(root, 'compress dist -q')
  const codings = COPIES.length
  const fine = `2 files of the build, ${3 * codings} copies, no problems\n`
  t.deepEqual(await run(root, 'verify dist'), { status: 0, stdout: fine, stderr: '' })
  truncateSync(join(root, 'dist/main-AbCd1234.js.br'), 20)
  rmSync(join(root, 'dist/a.css'))
  rmSync(join(root, 'dist/gone.css'))
  const { status, stdout, stderr } = await run(root, 'verify dist')
  const problems = 2 + 2 * codings
  t.is(status, 1)
  const help = `See ${helpAt('troubleshooting.md')}\n`
  t.is(stdout, `2 files of the build, ${3 * codings} copies, ${problems} problems\n${help}`)
  const unneeded = ['a.css', 'gone.css'].flatMap(name =>
    COPIES.map(copy => `dist/${name}${copy} has no original, so it is not needed: remove it`)
  )
  const missing = 'dist/a.css is missing, and .vite/manifest.json names it'
  const damaged = 'dist/main-AbCd1234.js.br cannot be decompressed'
  const told = stderr.trimEnd().split('\n')
  t.deepEqual(told.toSorted(), [missing, damaged, ...unneeded].toSorted())
  const site = await run(root, 'verify site')
  const unread = `1 copy (1 not read, as Node ${process.versions.node} lacks the coding), no problems\n`
  const expected = COPIES.includes('.zst') ? [1, '1 copy, 1 problem\n'] : [0, unread]
  t.deepEqual([site.status, site.stdout], expected)
})
