// A server that restarts knows what the last one has published: node_modules/.cache keeps the index.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { existsSync, readFileSync, statSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { DiagnosticMessages } from '../../../../lib/diagnostics.ts'
import { makeCounter } from '../../../support/counting-compiler.ts'
import { filesBelow } from '../../../support/fingerprinted.ts'
import { type Files, type SiteOptions, makeProject, makeSite } from '../../../support/site.ts'
import { until } from '../../../support/until.ts'
import { cases } from '../../../support/soak.ts'

const FILES = {
  'css/app.css.scss': '@use "part"; a { color: part.$color }',
  'css/theme/_part.scss': '$color: red;',
  'css/other.css.less': 'b { color: red }',
  'css/plain.css': 'c { color: red }',
  '/node_modules/x.txt': ''
}
const PATHS = ['/assets/app.css', '/assets/other.css', '/assets/plain.css']
const OPTIONS = { apps: { web: { sources: ['assets/css/theme'] } } }

interface Given {
  readonly files?: Files
  readonly options?: SiteOptions
  /** What is awaited in the cache. */
  readonly kept?: readonly string[]
}

const memory = (root: string) => {
  const folder = join(root, 'node_modules/.cache/koa-fresh-assets')
  const file = filesBelow(folder).find(name => name.endsWith('.json'))
  return file === undefined ? undefined : join(folder, file)
}

/** A project whose server has published everything, and has kept its index. */
async function makeKept(
  t: ExecutionContext,
  { files = FILES, options = OPTIONS, kept = PATHS }: Given = {}
): Promise<string> {
  const { root, ask } = await makeSite(t, files, options)
  const isKept = (path: string) => readFileSync(memory(root) ?? '', 'utf8').includes(`"${path}"`)
  await until(async () => {
    // What was edited a moment ago is compiled once more.
    for (const path of PATHS) t.is((await ask(path)).status, 200, path)
    return memory(root) !== undefined && kept.every(isKept)
  }, 'the index has been kept')
  return root
}

/** What the next server publishes and compiles, by the names of the sources. */
async function restart(t: ExecutionContext, root: string, options: SiteOptions = OPTIONS) {
  const [published, compiled]: string[][] = [[], []]
  const onPublished = (message: unknown) =>
    void published?.push((message as DiagnosticMessages['published']).path)
  const onCompiled = (message: unknown) =>
    void compiled?.push((message as DiagnosticMessages['compiled']).source)
  subscribe('koa-fresh-assets:published', onPublished)
  subscribe('koa-fresh-assets:compiled', onCompiled)
  const site = await makeSite(t, {}, { ...options, root })
  const texts: string[] = []
  for (const path of PATHS) texts.push((await site.ask(path)).text)
  unsubscribe('koa-fresh-assets:published', onPublished)
  unsubscribe('koa-fresh-assets:compiled', onCompiled)
  return { published, compiled: compiled?.length, texts }
}

test.serial('a server that restarts compiles and publishes nothing again', async t => {
  const root = await makeKept(t)
  const stats = statSync(join(root, 'public/assets/app.css'))
  const { published, compiled, texts } = await restart(t, root)
  t.deepEqual([published, compiled], [[], 0])
  t.regex(texts[0] ?? '', /a \{\s*color: red/)
  t.deepEqual(statSync(join(root, 'public/assets/app.css')).ino, stats.ino)
})

const changes: Record<string, readonly [path: string, change: (root: string) => void]> = {
  'a source was edited': [
    '/assets/plain.css',
    root => writeFileSync(join(root, 'apps/web/assets/css/plain.css'), 'c { color: BLUE }')
  ],
  'a source was replaced by an older one': [
    '/assets/plain.css',
    root => utimesSync(join(root, 'apps/web/assets/css/plain.css'), 1e9, 1e9)
  ],
  'a partial was put before another': [
    '/assets/app.css',
    root => writeFileSync(join(root, 'apps/web/assets/css/_part.scss'), '$color: BLUE;')
  ],
  'a target was removed': [
    '/assets/app.css',
    root => unlinkSync(join(root, 'public/assets/app.css'))
  ],
  'a target was edited by hand': [
    '/assets/other.css',
    root => writeFileSync(join(root, 'public/assets/other.css'), 'by hand')
  ],
  'a partial was edited': [
    '/assets/app.css',
    root => writeFileSync(join(root, 'apps/web/assets/css/theme/_part.scss'), '$color: BLUE;')
  ]
}

for (const [what, [path, change]] of Object.entries(changes).slice(cases(-2, 0))) {
  test.serial(`what changed while the server was down is published again: ${what}`, async t => {
    const root = await makeKept(t)
    change(root)
    const { published, texts } = await restart(t, root)
    t.deepEqual(published, [path])
    const written = readFileSync(join(root, 'public', path), 'utf8')
    t.is(texts[PATHS.indexOf(path)], written)
    if (what.endsWith('edited') || what.includes('before')) t.regex(written, /BLUE/)
    else t.notRegex(written, /by hand/)
  })
}

const circumstances: Record<string, (root: string) => SiteOptions> = {
  'a new source': root => {
    writeFileSync(join(root, 'apps/web/assets/css/new.css'), '')
    return OPTIONS
  },
  'another environment': () => ({ ...OPTIONS, env: 'test' }),
  'a compiler of the application': () => ({
    ...OPTIONS,
    compilers: [{ extensions: '.less', target: '.css', compile: () => ({ code: 'own{}' }) }]
  }),
  'a damaged cache': root => {
    const file = memory(root) ?? ''
    writeFileSync(file, readFileSync(file, 'utf8').replace('app.css', 'APP.css'))
    return OPTIONS
  }
}

for (const [what, change] of Object.entries(circumstances).slice(cases(-2, 0))) {
  test.serial(`nothing of the last server is believed after ${what}`, async t => {
    const root = await makeKept(t)
    const { published } = await restart(t, root, change(root))
    t.deepEqual(published, PATHS)
  })
}

test.serial(
  'what a compiler of the application made is compiled again, as its code may have changed',
  async t => {
    const { compiler } = makeCounter('.less')
    const options = { ...OPTIONS, compilers: [compiler] }
    const root = await makeKept(t, { options, kept: ['/assets/app.css', '/assets/plain.css'] })
    const { published } = await restart(t, root, options)
    t.deepEqual(published, ['/assets/other.css'])
  }
)

test.serial('what was warned of is warned of again', async t => {
  const files = { ...FILES, 'css/plain.css': 'a { background: url(none.png) }' }
  const root = await makeKept(t, { files, kept: ['/assets/app.css', '/assets/other.css'] })
  t.deepEqual((await restart(t, root)).published, ['/assets/plain.css'])
})

test.serial(
  'without node_modules nothing is kept, and a cache that cannot be written stops nothing',
  async t => {
    const { '/node_modules/x.txt': _, ...files } = FILES
    const bare = await makeSite(t, files, OPTIONS)
    const blocked = await makeSite(t, { ...files, '/node_modules/.cache': 'a file' }, OPTIONS)
    const kept = await makeSite(t, FILES, { ...OPTIONS, root: makeProject(t) })
    for (const site of [bare, blocked, kept]) {
      for (const path of PATHS) t.is((await site.ask(path)).status, 200)
    }
    await until(() => memory(kept.root) !== undefined, 'the last one has kept its index')
    t.false(existsSync(join(bare.root, 'node_modules')))
    t.is(readFileSync(join(blocked.root, 'node_modules/.cache'), 'utf8'), 'a file')
    t.is((await blocked.ask(PATHS[0] ?? '')).status, 200)
  }
)
