// What an answer tells when something is broken, missing or of another digest.
import { chmodSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Middleware } from 'koa'
import Koa2 from 'koa2'
import { assetSources } from '../../lib/runtime/settings/third-party.ts'
import { CompileError } from '../../lib/runtime/errors.ts'
import { digestOf } from '../../lib/runtime/files/digest.ts'
import { ask } from '../support/raw.ts'
import { ENVIRONMENTS, makeFront, makeProject, METHODS, run, test } from '../support/index.ts'
import { writeFiles } from '../support/index.ts'
import { PLACES } from './places.ts'
import { makeStronghold } from './stronghold.ts'

const OTHER = '0123456789abcdef0123456789abcdef'

const broken = {
  'apps/web/assets/stylesheets/sass.css.scss': 'a { color: $none }',
  'apps/web/assets/stylesheets/missing.css.scss': '@use "nowhere";',
  'apps/web/assets/stylesheets/sheet.css.less': 'a { color: @none }',
  'apps/web/assets/javascripts/script.js.ts': 'const a: = 1',
  'apps/web/assets/stylesheets/own.css.own': 'x'
}
const names = ['sass.css', 'missing.css', 'sheet.css', 'script.js', 'own.css']

/** A compiler whose error names its source in a message, and as the file. */
const makeFailing = (namesOf: (path: string) => readonly [named: string, file: string]) => ({
  extensions: '.own',
  target: '.css',
  compile: ({ path }: { path: string }): never => {
    const [named, file] = namesOf(path)
    throw new CompileError(`cannot read ${named}`, { file, excerpt: `in ${path}` })
  }
})

const PLACE_IN_CODE =
  /node_modules(?!\/koa-fresh-assets\/docs\/errors\.md#)|\.(?:js|ts):\d+:\d+\)|\bat .*:\d+/

test('an error response shows no paths but those within the project, in development alone', async t => {
  const root = makeProject(t, broken)
  const compilers = [makeFailing(path => [path, path])]
  for (const env of ['development', 'test', 'staging', 'production']) {
    const options = { root, env, compile: true, fingerprint: false, compilers, alone: true }
    const { port, errors } = await makeFront(t, options)
    for (const name of names) {
      for (const accept of ['text/html', 'text/css', '*/*']) {
        const answer = await ask(port, 'GET', `/assets/${name}`, { Accept: accept })
        t.is(answer.status, 500)
        t.false(answer.head.includes(root), answer.head)
        t.false(answer.text.includes(root), answer.text)
        t.notRegex(answer.text, PLACE_IN_CODE)
        t.is(answer.headers.etag ?? answer.headers['last-modified'], undefined)
        if (env === 'development') t.true(answer.text.includes('apps/web/assets/'), answer.text)
        else t.is(answer.text, 'Internal Server Error')
      }
    }
    t.is(errors.length, names.length * 3)
  }
})

test.serial('an error page exposes neither markup nor absolute paths of third parties', async t => {
  const outside = makeProject(t, {
    'third/stylesheets/third.css.scss': 'a { color: $none; /*<script>alert(1)</script>*/ }',
    'extra/stylesheets/extra.css.scss': 'a { color: $none }',
    'node_modules/hoisted/_index.scss': 'a { color: $none }',
    'node_modules/hoisted/package.json': '{ "name": "hoisted", "sass": "_index.scss" }',
    'site/apps/web/assets/stylesheets/hoisted.css.scss': '@use "pkg:hoisted";'
  })
  assetSources.append(join(outside, 'third'))
  const sources = [join(outside, 'extra')]
  const { port } = await makeFront(t, {
    root: join(outside, 'site'),
    env: 'development',
    sources
  })
  for (const [name, shown] of [
    ['third.css', 'third'],
    ['extra.css', 'extra'],
    ['hoisted.css', '../node_modules/hoisted/_index.scss:1:12']
  ]) {
    const answer = await ask(port, 'GET', `/assets/${name}`, { Accept: 'text/html' })
    t.is(answer.status, 500)
    t.true(answer.text.includes(`<code>${shown}`), answer.text)
    t.false(answer.text.includes('<script>'), answer.text)
    if (name === 'third.css') t.true(answer.text.includes('&lt;script&gt;'), answer.text)
    t.false(answer.text.includes(outside), answer.text)
  }
})

test('where root, its app or a source is a link, an error shows no absolute path', async t => {
  const outside = makeProject(t, {
    'the project/package.json': '{}',
    'the project/node_modules/inner/_index.scss': 'a { color: $none }',
    'the project/node_modules/inner/package.json': '{ "name": "inner", "sass": "_index.scss" }',
    'node_modules/hoisted/_index.scss': 'a { color: $none }',
    'node_modules/hoisted/package.json': '{ "name": "hoisted", "sass": "_index.scss" }',
    'shared/stylesheets/shared.css.scss': 'a { color: $none }',
    'shared/stylesheets/hoisted.css.scss': '@use "pkg:hoisted";',
    'shared/stylesheets/inner.css.scss': '@use "pkg:inner";'
  })
  const real = join(outside, 'the project')
  for (const [path, text] of Object.entries(broken))
    writeFiles(outside, { [path.replace('apps/', '')]: text })
  mkdirSync(join(real, 'apps'))
  symlinkSync(join(outside, 'web'), join(real, 'apps/web'))
  symlinkSync(join(outside, 'shared'), join(real, 'shared'))
  symlinkSync(real, join(outside, 'current'))
  const own = makeFailing(path => [pathToFileURL(realpathSync(path)).href, realpathSync(path)])
  const root = join(outside, 'current')
  const options = { root, env: 'development', sources: [join(root, 'shared')], compilers: [own] }
  const { port } = await makeFront(t, { ...options, alone: true })
  for (const name of [...names, 'shared.css', 'hoisted.css', 'inner.css']) {
    const answer = await ask(port, 'GET', `/assets/${name}`, { Accept: 'text/plain' })
    t.is(answer.status, 500, name)
    t.false(answer.text.includes(outside), answer.text)
    t.false(answer.text.includes(encodeURI(outside)), answer.text)
    t.regex(answer.text, /^(?:apps\/web\/assets|shared|(?:\.\.\/)?node_modules)\//m, answer.text)
  }
})

const allowKeeping: Middleware = (ctx, next) => {
  ctx.set('Cache-Control', 'public, max-age=600')
  ctx.set('Expires', 'Thu, 01 Jan 2099 00:00:00 GMT')
  ctx.set({ 'CDN-Cache-Control': 'max-age=600', 'Surrogate-Control': 'max-age=600' })
  return next()
}

const throwing =
  (thrown: object = { status: 404 }) =>
  (assets: Middleware): Middleware => {
    const fail = () => Promise.reject(Object.assign(new Error('none'), thrown))
    return (ctx, next) => assets(ctx, () => next().then(fail))
  }

const errorPage: Middleware = async (ctx, next) => {
  try {
    await allowKeeping(ctx, next)
  } catch (error) {
    ctx.status = (error as { status?: number }).status ?? 500
    ctx.body = 'sorry'
  }
}

for (const { where, at, options } of PLACES) {
  test(`an unknown asset is a 404 that no cache stores${where}`, async t => {
    const root = makeStronghold(t)
    for (const environment of Object.values(ENVIRONMENTS)) {
      const given = { root, ...environment, ...options }
      const silent = await makeFront(t, { ...given, alone: true })
      const eager = await makeFront(t, { ...given, inFront: [allowKeeping] })
      const thrown = await makeFront(t, { ...given, wrap: throwing() })
      const byHttpErrors = await makeFront(t, { ...given, wrap: throwing({ statusCode: 404 }) })
      const byDisk = await makeFront(t, { ...given, wrap: throwing({ code: 'ENOENT' }), koa: Koa2 })
      const rendered = await makeFront(t, { ...given, inFront: [errorPage], wrap: throwing() })
      const unknown = ['x.css', 'account/x.css', 'app.css/x.css', `app-${OTHER}.css`, '']
      const targets = unknown.map(name => `${at || '/assets'}/${name}`)
      for (const { port } of [silent, eager, thrown, byHttpErrors, byDisk, rendered]) {
        for (const method of METHODS) {
          for (const target of targets) {
            const { status, headers } = await ask(port, method, target)
            t.is(status, 404)
            t.is(headers['cache-control'], 'no-store', `${method} ${target}`)
            for (const name of ['expires', 'cdn-cache-control', 'surrogate-control'])
              t.is(headers[name], undefined)
          }
        }
      }
      t.is((await ask(silent.port, 'GET', '/x')).headers['cache-control'], undefined)
    }
  })
}

const modes = {
  'compiled with fingerprints': { env: 'production', compile: true, fingerprint: true },
  'compiled without': { env: 'development', fingerprint: false },
  'neither compiled nor with a manifest': ENVIRONMENTS.production,
  'with a manifest': { env: 'production', compile: false, fingerprint: true }
} as const

for (const [mode, options] of Object.entries(modes)) {
  test(`a fingerprinted name only ever sends the bytes of its digest: ${mode}`, async t => {
    const root = makeStronghold(t)
    if (mode === 'with a manifest') {
      // Names that Windows reads otherwise stop a precompile.
      for (const name of ['nul.css', 'app.js.'])
        rmSync(join(root, 'apps/web/assets/stylesheets', name), { force: true })
      await run({ root })
    }
    const bodies = [Buffer.from('small'), Buffer.alloc(1_500_000, 2), Buffer.alloc(0)]
    const { port } = await makeFront(t, { root, ...options })
    mkdirSync(join(root, 'public/assets/own'), { recursive: true })
    writeFileSync(join(root, 'public/assets/own/file.bin'), 'plain')
    for (const body of bodies) {
      const name = `own/file-${digestOf(body)}.bin`
      const file = join(root, 'public/assets', name)
      const other = Buffer.concat([body, Buffer.from('!')])
      writeFileSync(file, other)
      for (const method of ['GET', 'HEAD']) {
        const wrong = await ask(port, method, `/assets/${name}`)
        t.deepEqual([wrong.status, wrong.headers['cache-control']], [404, 'no-store'], method)
      }
      writeFileSync(file, body)
      const good = await ask(port, 'GET', `/assets/${name}`)
      t.is(good.status, 200)
      t.true(good.body.equals(body))
      t.is(good.headers['cache-control'], 'public, max-age=31536000, immutable')
      writeFileSync(file, other)
      const changed = await ask(port, 'GET', `/assets/${name}`)
      t.true(changed.status === 404 || changed.body.equals(body), 'never other bytes')
      writeFileSync(file, body)
      chmodSync(file, 0o600)
      const again = await ask(port, 'GET', `/assets/${name}`)
      t.is(again.status, 200, `${body.length} bytes that came back`)
      t.true(again.body.equals(body))
    }
  })
}
