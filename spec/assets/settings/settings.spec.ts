import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import type { KoaAssetsOptions } from '../../../lib/assets/settings/options.ts'
import { settle } from '../../../lib/assets/settings/settings.ts'
import { AssetError } from '../../../lib/errors.ts'
import { makeProject } from '../../support/site.ts'

function webOf(options: KoaAssetsOptions, env: NodeJS.ProcessEnv = {}) {
  const [web, ...others] = settle(options, env).apps
  if (!web || others.length > 0) throw new Error('the spec needs one app')
  return web
}

test('SET-01 without options and NODE_ENV it is development: compile, no fingerprints', t => {
  for (const env of [{}, { NODE_ENV: '' }, { NODE_ENV: 'development' }]) {
    const settings = settle(undefined, env)
    t.is(settings.env, 'development')
    t.is(settings.root, process.cwd())
    t.is(settings.publicDir, join(process.cwd(), 'public'))
    t.is(settings.prefix, '/assets')
    t.is(settings.host, undefined)
    t.is(settings.symlinks, 'inside')
    t.deepEqual(settings.memory, { maxBytes: 64 * 1024 * 1024, maxFileBytes: 1024 * 1024 })
    t.deepEqual(settings.index, { max: 10_000 })
    t.deepEqual(
      settings.apps.map(app => [app.compile, app.fingerprint, app.integrity, app.revalidate]),
      settings.apps.map(() => [true, false, [], 0])
    )
  }
})

for (const [name, compile, fingerprint] of [
  ['test', true, false],
  ['production', false, true],
  ['staging', false, false],
  ['Production', false, false],
  ['__proto__', false, false]
] as const) {
  test(`SET-02 in ${name} compile is ${compile} and fingerprint is ${fingerprint}`, t => {
    const root = makeProject(t)
    for (const app of [webOf({ root }, { NODE_ENV: name }), webOf({ root, env: name })]) {
      t.is(app.compile, compile)
      t.is(app.fingerprint, fingerprint)
      t.is(app.revalidate, compile ? 0 : 1)
      t.deepEqual(app.integrity, fingerprint ? ['sha384'] : [])
    }
    t.is(settle({ root, env: name }, { NODE_ENV: 'test' }).env, name)
  })
}

for (const [value, serve] of [
  ['true', true],
  ['1', false],
  ['True', false],
  ['true ', false],
  ['', false],
  [undefined, false]
] as const) {
  test(`SET-03 SERVE_STATIC_ASSETS=${value} ${serve ? 'serves' : 'does not serve'}`, t => {
    const env = value === undefined ? {} : { SERVE_STATIC_ASSETS: value }
    t.is(settle({ root: makeProject(t) }, env).serve, serve)
  })
}

test('SET-04 the option serve beats SERVE_STATIC_ASSETS, both ways', t => {
  const root = makeProject(t)
  t.true(settle({ root, serve: true }, {}).serve)
  t.false(settle({ root, serve: false }, { SERVE_STATIC_ASSETS: 'true' }).serve)
})

test('SET-05 a configure block holds in its environment only', t => {
  const options: KoaAssetsOptions = {
    root: makeProject(t),
    configure: { production: { compile: true } }
  }
  t.true(webOf({ ...options, env: 'production' }).compile)
  t.false(webOf({ ...options, env: 'staging' }).compile)
  t.false(webOf({ ...options, env: 'toString' }).compile)
})

test("SET-06 an app's configure beats the app, that the top's configure, and that the top", t => {
  const root = makeProject(t, { 'apps/web/assets/a.css': '' })
  const layers: KoaAssetsOptions[] = [
    { integrity: 'sha256' },
    { configure: { staging: { integrity: 'sha384' } } },
    { apps: { web: { integrity: 'sha512' } } },
    { apps: { web: { integrity: 'sha512', configure: { staging: { integrity: false } } } } }
  ]
  const expected = [['sha256'], ['sha384'], ['sha512'], []]
  layers.forEach((_, at) => {
    const options = Object.assign({ root, env: 'staging' }, ...layers.slice(0, at + 1))
    t.deepEqual(webOf(options).integrity, expected[at] as never)
  })
})

test('SET-06 undefined in a later layer does not unset an option', t => {
  const root = makeProject(t, { 'apps/web/assets/a.css': '' })
  const unset = { compile: undefined } as object
  t.true(webOf({ root, env: 'production', compile: true, apps: { web: unset } }).compile)
})

test('SET-06 an app, an environment or an option that is undefined is not set', t => {
  const root = makeProject(t, { 'apps/web/assets/a.css': '' })
  const unset = { sources: undefined, compilers: undefined, missing: undefined, dir: undefined }
  const apps = { web: { ...unset, path: undefined, configure: undefined }, admin: undefined }
  const configure = { development: undefined, test: { integrity: undefined } }
  const top = { serve: undefined, public: undefined, apps, configure, tails: undefined }
  const more = { memory: { maxBytes: undefined }, index: { max: undefined }, revalidate: undefined }
  const plain = settle({ root, apps: { web: {} } }, {})
  t.deepEqual(settle({ root, ...top, ...more }, {}), plain)
})

test('SET-07 sources of top, configure and app append, in that order, each once', t => {
  const root = makeProject(t, { 'apps/web/assets/a.css': '' })
  for (const name of ['top', 'topConfigure', 'app', 'appConfigure']) mkdirSync(join(root, name))
  symlinkSync(join(root, 'top'), join(root, 'link-to-top'))
  const at = (name: string) => join(root, name)
  const topSources = [at('top')]
  const web = webOf({
    root,
    env: 'production',
    sources: topSources,
    configure: {
      production: { sources: at('topConfigure') },
      test: { sources: at('nowhere') }
    },
    apps: {
      web: {
        sources: [at('app'), at('link-to-top'), at('top')],
        configure: { production: { sources: [at('appConfigure'), at('app')] } }
      }
    }
  })
  t.deepEqual(web.sources, [
    at('apps/web/assets'),
    at('top'),
    at('topConfigure'),
    at('app'),
    at('appConfigure')
  ])
  t.deepEqual(topSources, [at('top')])
})

test("SET-08 a relative source starts at the app's directory, an absolute one is used as it is", t => {
  const root = makeProject(t, { 'apps/web/more/a.css': '', 'elsewhere/b.css': '' })
  mkdirSync(join(root, 'apps/web/assets'))
  const { sources } = webOf({ root, sources: ['more', join(root, 'elsewhere')] })
  t.deepEqual(
    sources,
    ['apps/web/assets', 'apps/web/more', 'elsewhere'].map(at => join(root, at))
  )
})

test('SET-09 an extra source that is missing is an error at start', t => {
  const root = makeProject(t, { 'apps/web/assets/a.css': '', 'apps/web/file': '' })
  for (const source of ['nowhere', 'file']) {
    t.throws(() => settle({ root, sources: [source] }), {
      instanceOf: AssetError,
      code: 'source-missing',
      message: `sources names ${source}, but ${root}/apps/web/${source} is not a directory: create it, or remove it from sources`
    })
  }
})

test('SET-09 an extra source need not be there where nothing reads it', t => {
  const root = makeProject(t)
  const options = { root, sources: ['more'], apps: { web: {} } }
  const sources = ['assets', 'more'].map(name => join(root, 'apps/web', name))
  t.deepEqual(webOf({ ...options, env: 'production', compile: false }).sources, sources)
  t.throws(() => settle({ ...options, env: 'production', compile: true }), {
    code: 'source-missing'
  })
})

test('SET-09 an app without an assets folder is fine', t => {
  const root = makeProject(t, { 'apps/web/app.js': '' })
  t.deepEqual(webOf({ root, apps: { web: {} } }).sources, [join(root, 'apps/web/assets')])
  t.deepEqual(
    settle({ root: makeProject(t) }, {}).apps.map(({ name, path }) => [name, path]),
    [['web', '/']]
  )
})

test('SET-09 an app in a directory that does not exist is an error at start', t => {
  const root = makeProject(t)
  t.throws(() => settle({ root, env: 'development', apps: { web: { dir: 'src/web' } } }), {
    instanceOf: AssetError,
    code: 'source-missing',
    message: `apps.web is at ${root}/src/web, which is not a directory: create it, or set apps.web.dir`
  })
})

function freezeDeep<T extends object>(value: T): T {
  for (const part of Object.values(value)) {
    if (typeof part === 'object' && part !== null) freezeDeep(part as object)
  }
  return Object.freeze(value)
}

test('SET-12 options are never modified', t => {
  const root = makeProject(t, { 'apps/web/assets/a.css': '', 'apps/web/more/a.css': '' })
  const options: KoaAssetsOptions = {
    root,
    sources: ['more'],
    memory: {},
    index: {},
    integrity: ['sha256'],
    compilers: [{ extensions: ['.x'], target: '.css', compile: ({ code }) => ({ code }) }],
    apps: { web: { sources: ['more'], configure: { test: { sources: 'more' } } } },
    configure: { test: { integrity: ['sha512'] } }
  }
  const before = structuredClone({ ...options, compilers: undefined })
  t.notThrows(() => settle(freezeDeep(options), { NODE_ENV: 'test' }))
  t.deepEqual(structuredClone({ ...options, compilers: undefined }), before)
})

test('SET-12 settings are frozen, and do not change with the options', t => {
  const root = makeProject(t, { 'apps/web/assets/a.css': '', 'apps/web/more/a.css': '' })
  const sources = ['more']
  const integrity: Array<'sha256' | 'sha512'> = ['sha256']
  const memory = { maxBytes: 1 }
  const settings = settle({ root, sources, integrity, memory }, {})
  sources.push('nowhere')
  integrity.push('sha512')
  memory.maxBytes = 2
  const [web] = settings.apps
  t.is(web?.sources.length, 2)
  t.deepEqual(web?.integrity, ['sha256'])
  t.is(settings.memory.maxBytes, 1)
  const parts = [settings, settings.apps, settings.memory, settings.index, web, web?.sources]
  for (const part of [...parts, web?.integrity]) t.true(Object.isFrozen(part))
})

test('SET-13 the longest prefix comes first, whatever the order of declaration', t => {
  const root = makeProject(t, { 'apps/web/assets/a.css': '', 'apps/admin/assets/a.css': '' })
  for (const apps of [
    { web: {}, admin: {} },
    { admin: {}, web: {} }
  ]) {
    t.deepEqual(
      settle({ root, apps }, {}).apps.map(({ name, urlPrefix }) => [name, urlPrefix]),
      [
        ['admin', '/assets/admin'],
        ['web', '/assets']
      ]
    )
  }
})

test('every apps/<name> that has an assets folder is an app, mounted at its name', t => {
  const root = makeProject(t, {
    'apps/shop/assets/a.css': '',
    'apps/admin/assets/a.css': '',
    'apps/api/server.js': '',
    'apps/README.md': '',
    'apps/.trash/assets/a.css': ''
  })
  t.deepEqual(
    settle({ root }, {}).apps.map(({ name, path, dir }) => [name, path, dir]),
    [
      ['admin', '/admin', join(root, 'apps/admin')],
      ['shop', '/shop', join(root, 'apps/shop')]
    ]
  )
})

test('without apps/<name>/assets a plain assets folder is that of an app called web', t => {
  const root = makeProject(t, { 'assets/a.css': '', 'more/b.css': '', 'apps/api/server.js': '' })
  const web = webOf({ root, sources: ['more'] })
  t.deepEqual([web.name, web.path, web.dir], ['web', '/', root])
  t.deepEqual(web.sources, [join(root, 'assets'), join(root, 'more')])
  mkdirSync(join(root, 'apps/shop/assets'), { recursive: true })
  t.deepEqual(webOf({ root }).sources, [join(root, 'apps/shop/assets')])
})

test('an only app is mounted at /, whatever its name', t => {
  const root = makeProject(t, { 'apps/shop/assets/a.css': '' })
  t.is(webOf({ root }).path, '/')
  t.is(webOf({ root, apps: { shop: { path: '/shop/' } } }).urlPrefix, '/assets/shop')
})
