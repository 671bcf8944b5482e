// Names that are properties of every object: S50.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { precompile } from '../../lib/index.ts'
import { isNotOurs, makeFront, makeFronts } from '../support/front.ts'
import { ask } from '../support/raw.ts'
import { makeProject } from '../support/site.ts'
import { PLACES } from './places.ts'
import { makeStronghold } from './stronghold.ts'

const keys = [
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf'],
  ...[
    '__proto__/polluted',
    'constructor/prototype',
    'x.__proto__',
    'x.constructor',
    'app.__proto__'
  ]
]

for (const { where, at, options } of PLACES) {
  test(`S50 names of object properties are not found where they are no files${where}`, async t => {
    const fronts = await makeFronts(t, makeStronghold(t), options)
    for (const key of keys) {
      await isNotOurs(t, fronts, `${at}/assets/${key}`)
      await isNotOurs(t, fronts, `${at}/${key}`)
    }
  })
}

test('S50 names of object properties are names like any other', async t => {
  // An app of the project has that name.
  const names = keys.filter(key => !key.includes('/') && key !== '__proto__')
  const root = makeProject(
    t,
    Object.fromEntries([
      ...names.map(name => [`apps/web/assets/x/${name}`, `the file ${name}`] as const),
      ['apps/web/assets/x/__proto__.d/polluted', 'a folder'] as const,
      ['apps/__proto__/assets/x/app.css', 'an app'] as const
    ])
  )
  const { port, errors } = await makeFront(t, { root, env: 'development' })
  for (const name of names) {
    const answer = await ask(port, 'GET', `/assets/${name}`)
    t.is(answer.text, `the file ${name}`)
    t.is(answer.headers['content-type'], 'application/octet-stream', name)
  }
  t.is((await ask(port, 'GET', '/assets/__proto__.d/polluted')).text, 'a folder')
  t.is((await ask(port, 'GET', '/assets/__proto__/app.css')).text, 'an app')
  t.deepEqual(errors, [])
  t.is(({} as Record<string, unknown>).polluted, undefined)
})

test('S50 a manifest with such keys touches no prototype', async t => {
  const root = makeProject(t, {
    'apps/web/assets/x/constructor': 'constructor',
    'apps/web/assets/x/toString.js': 'toString'
  })
  const options = { root, env: 'production' }
  await precompile(options)
  const file = join(root, 'public/assets.json')
  const entry = '{ "target": "/x", "source": "x", "integrity": [], "size": 1, "polluted": 1 }'
  const evil = `"__proto__": ${entry}, "/assets/__proto__": ${entry}, "/assets/hasOwnProperty"`
  writeFileSync(
    file,
    readFileSync(file, 'utf8')
      .replace('{', `{ "__proto__": { "polluted": 1 }, "constructor": { "prototype": ${entry} },`)
      .replace('"assets": {', `"assets": { ${evil}: ${entry},`)
  )
  const { port, errors } = await makeFront(t, {
    ...options,
    wrap: assets => (ctx, next) =>
      assets(ctx, async () => {
        const { assets } = ctx as unknown as { assets: { path(name: string): string } }
        if (ctx.path.startsWith('/path/')) ctx.body = assets.path(ctx.path.slice(6))
        await next()
      })
  })
  const pathOf = async (name: string) => (await ask(port, 'GET', `/path/${name}`)).text
  t.regex(await pathOf('constructor'), /^\/assets\/constructor-[0-9a-f]{32}$/)
  t.regex(await pathOf('toString.js'), /^\/assets\/toString-[0-9a-f]{32}\.js$/)
  t.is((await ask(port, 'GET', await pathOf('constructor'))).text, 'constructor')
  t.is(await pathOf('__proto__'), '/x')
  t.deepEqual(errors, [])
  for (const name of ['valueOf', 'prototype', 'polluted']) {
    t.is(await pathOf(name), 'Internal Server Error', `${name} is not in the manifest`)
  }
  t.is(({} as Record<string, unknown>).polluted, undefined)
})
