// Test runners such as Jest load a library in a realm of its own: Node's errors are not its errors.
import { createRequire } from 'node:module'
import { createContext, runInContext } from 'node:vm'
import { build } from 'esbuild'
import Koa from 'koa'
import { open } from './support/cached-site.ts'
import { ask } from './support/raw.ts'
import { makeProject, test, writeFiles } from './support/index.ts'

/** What a file of lib exports in another realm, which has Node's globals as Jest gives them to it. */
async function loadElsewhere<Exports>(
  file: string,
  without: readonly string[] = []
): Promise<Exports> {
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'node',
    external: ['sass', 'sass-embedded', 'less', 'esbuild'],
    logLevel: 'error'
  })
  const context = createContext({})
  const own = new Set<PropertyKey>(runInContext('Object.getOwnPropertyNames(globalThis)', context))
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (own.has(name) || name === 'globalThis' || without.includes(name)) continue
    Object.defineProperty(context, name, { value: globalThis[name as keyof typeof globalThis] })
  }
  const module = { exports: {} as Exports }
  const wrapped = `(function (module, exports, require) {${outputFiles[0]?.text}})`
  const run = runInContext(wrapped, context) as (...given: unknown[]) => void
  run(module, module.exports, createRequire(import.meta.url))
  return module.exports
}

test('in another realm koaAssets starts without public, serves, and reports failures as in this one', async t => {
  const elsewhere = await loadElsewhere<typeof import('../lib/koa-assets.ts')>('lib/koa-assets.ts')
  const root = makeProject(t, {
    'apps/web/assets/stylesheets/app.css': 'a{}',
    'apps/web/assets/stylesheets/broken.css.own': '',
    'apps/web/assets/stylesheets/taken.css': 'b{}'
  })
  const compile = () => Promise.reject(new Error('no luck'))
  const compilers = [{ extensions: '.own', target: '.css', compile }]
  const app = new Koa()
  app.use(elsewhere.koaAssets({ root, env: 'development', serve: true, compilers }))
  const { port, errors } = await open(t, app)
  for (const [target, status] of [
    ['/assets/app.css', 200],
    ['/assets/nowhere.css', 404],
    ['/assets/%zz', 400],
    [`/${'a'.repeat(300)}`, 404],
    ['http://%zz@127.0.0.1/assets/app.css', 404]
  ] as const) {
    t.is((await ask(port, 'GET', target)).status, status, target)
  }
  t.deepEqual(errors, [])
  writeFiles(root, { 'public/assets/taken.css/in-the-way': '' })
  for (const [name, reason] of [
    ['taken.css', 'a directory exists where the file belongs\n'],
    ['broken.css', 'broken.css.own\n\nno luck\n']
  ] as const) {
    const { status, text } = await ask(port, 'GET', `/assets/${name}`)
    t.is(status, 500)
    t.true(text.endsWith(reason), text)
  }
  t.is(errors.length, 2)
})

test('in a realm without Blob, ReadableStream and Response, as of Jest 27, bodies have ETags', async t => {
  const { koaHttpCache } = await loadElsewhere<typeof import('../lib/koa-http-cache.ts')>(
    'lib/koa-http-cache.ts',
    ['Blob', 'ReadableStream', 'Response']
  )
  const app = new Koa().use(koaHttpCache({ autoEtag: true }))
  app.use(async ctx => {
    ctx.body = { page: true }
    if (ctx.path === '/fresh') await ctx.fresh('x')
  })
  const site = await open(t, app)
  for (const path of ['/', '/fresh']) {
    const { status, headers } = await site.get({}, path)
    const again = await site.get({ 'if-none-match': headers.etag ?? '' }, path)
    t.deepEqual([status, again.status], [200, 304])
  }
  t.deepEqual(site.errors, [])
})
