// What a visitor can make a server remember or write.
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { Middleware } from 'koa'
import { MtimeIndex } from '../../lib/publishing/building/mtime-index.ts'
import { drive, heldBytes } from '../support/in-process.ts'
import { ask, request, signature } from '../support/raw.ts'
import { PLACES } from './places.ts'
import { makeStronghold } from './stronghold.ts'
import { cases, ENVIRONMENTS, makeFront, makeProject, METHODS, test } from '../support/index.ts'
import { textsBelow, until, words, writeFiles, type ExecutionContext } from '../support/index.ts'

const MIB = 1024 * 1024
const PADDING = 'x'.repeat(200)

function* numbered(count: number, url: (at: number) => string): Generator<string> {
  for (let at = 0; at < count; at++) yield url(at)
}

const FLOOD = cases(1500, 10_000)
const WARM_UP = cases(200, 2000)

const ways: Readonly<Record<string, (at: number) => string>> = {
  'missing names': at => `/assets/${PADDING}/${at}-${PADDING}.css`,
  '?v=': at => `/assets/app.css?v=${at}-${PADDING}${PADDING}`,
  'missing folders': at => `/assets/${at}-${PADDING}/${PADDING}/app.css`,
  'missing fingerprints': at => `/assets/app-${at.toString(16).padStart(32, '0')}.css`,
  'missing files of public': at => `/${at}-${PADDING}/${PADDING}/x.html`
}

const atRoot = PLACES.filter(({ at }) => at === '').slice(0, cases(1, 2))
const environments = Object.entries(ENVIRONMENTS).slice(0, cases(1, 2))
const placed = atRoot.flatMap(place => environments.map(([name, env]) => ({ ...place, name, env })))

for (const { name, where, env, options } of placed) {
  test.serial(`thousands of URLs take no memory or disk, in ${name}${where}`, async t => {
    const root = makeStronghold(t)
    const { app, port, errors } = await makeFront(t, { root, ...env, ...options, alone: true })
    await ask(port, 'GET', '/assets/app.css')
    for (const url of Object.values(ways)) await drive(app, numbered(WARM_UP, url))
    const files = textsBelow(join(root, 'public'))
    const before = await heldBytes()
    for (const [what, url] of Object.entries(ways)) {
      const statuses = await drive(app, numbered(FLOOD, url))
      t.deepEqual([...statuses], [what === '?v=' ? 200 : 404], what)
      // Nearly every name would be more than 400 bytes, and an entry for it as much again.
      await until(async () => (await heldBytes()) - before < MIB, `${what}: 1 MiB more is held`)
    }
    t.deepEqual(textsBelow(join(root, 'public')), files)
    t.deepEqual(errors, [])
  })
}

test.serial('long names cost no more memory than short ones', async t => {
  const root = makeStronghold(t)
  const { app } = await makeFront(t, { root, ...ENVIRONMENTS.production, alone: true })
  const flood = (end: string) =>
    drive(
      app,
      numbered(WARM_UP, at => `/assets/${at}${end}.css`)
    )
  await flood('')
  const before = await heldBytes()
  t.deepEqual([...(await flood('x'.repeat(15_000)))], [404])
  await until(async () => (await heldBytes()) - before < MIB, 'less than 1 MiB more is held')
})

test.serial('the options index.max and memory.maxBytes limit what is held in memory', async t => {
  const root = makeProject(t)
  for (let at = 0; at < 120; at++)
    writeFiles(root, { [`apps/web/assets/images/${at}.bin`]: Buffer.alloc(64 * 1024, at) })
  const options = { root, env: 'development', index: { max: 20 }, memory: { maxBytes: MIB } }
  const { app } = await makeFront(t, options)
  const urls = [...numbered(120, at => `/assets/${at}.bin`)]
  const before = await heldBytes()
  t.deepEqual([...(await drive(app, urls, 20))], [200])
  t.deepEqual([...(await drive(app, urls, 20))], [200])
  await until(async () => (await heldBytes()) - before < 4 * MIB, '4 of 7.5 MiB are held')
  const index = new MtimeIndex(20)
  const entry = { source: '', inputs: [], targets: [], generation: 0 }
  for (let at = 0; at < 1000; at++) index.set(String(at), entry)
  t.is(index.size, 20)
})

test('requests make a server write no files but the published ones of its sources', async t => {
  const root = makeProject(t, {
    'apps/web/assets/stylesheets/app.css.scss': '@use "part"; a { b: c }',
    'apps/web/assets/stylesheets/_part.scss': '.part { a: b }',
    'apps/web/assets/stylesheets/sub/_deep.scss': '.deep { a: b }',
    'apps/web/assets/stylesheets/sub/menu.css': 'm{}',
    'apps/web/assets/stylesheets/_mixins.less': '.mixin() { a: b }',
    'apps/web/assets/stylesheets/_indented.sass': 'a\n  b: c',
    'apps/web/assets/stylesheets/APP.CSS.SCSS': 'a { b: c }',
    'apps/web/assets/javascripts/main.js.ts': 'export const a: number = 1',
    'apps/web/assets/javascripts/types.d.ts': 'export type A = 1',
    'apps/web/assets/javascripts/main.js.ts~': 'old',
    'apps/web/assets/javascripts/.main.js.swp': 'swap',
    'apps/web/assets/javascripts/#main.js#': 'emacs',
    'apps/web/views/page.css': 'view',
    'README.css': 'readme'
  })
  const { port, errors } = await makeFront(t, { root, env: 'development' })
  const refused = words(`
    _part.css _part.scss part.css app.css.scss app.scss stylesheets/_part.scss stylesheets/_part.css
    stylesheets/app.css.scss sub/_deep.css sub/_deep.scss _deep.scss sub/deep.css main.js.ts main.ts
    types.d.ts types.d.js types.js main.js.ts~ main.js~ .main.js.swp %23main.js%23 page.css
    views/page.css ../views/page.css README.css app.css.map web/assets/stylesheets/app.css
    assets/app.css apps/web/assets/app.css _mixins.css _mixins.less _indented.css _indented.sass
    APP.CSS.SCSS app.css.css sub/menu.css.css tylesheets/app.css enu.css
    ub/menu.css app.css.tmp app-0123456789abcdef0123456789abcdef.css app.css.gz app.css.br app.cs
    app
  `)
  for (const name of refused) {
    for (const method of METHODS) {
      t.is((await ask(port, method, `/assets/${name}`)).status, 404, `${method} ${name}`)
    }
  }
  t.deepEqual(readdirSync(root).toSorted(), ['README.css', 'apps'])
  const names = ['app.css', 'main.js', 'menu.css', 'stylesheets/sub/menu.css', 'sub/menu.css']
  for (const name of names) t.is((await ask(port, 'POST', `/assets/${name}`)).status, 405)
  t.deepEqual(readdirSync(root).toSorted(), ['README.css', 'apps'])
  for (const name of names) t.is((await ask(port, 'GET', `/assets/${name}`)).status, 200, name)
  t.deepEqual(Object.keys(textsBelow(join(root, 'public/assets'))), names)
  t.deepEqual(errors, [])
})

const SOURCE = 'apps/web/assets/stylesheets/slow.css.slow'
const CROWD = 200
const EDITS = cases(8, 60)

/** A site whose compiler waits until it is let go, and that counts the requests that have come. */
async function makeSlowSite(t: ExecutionContext, env: string) {
  const root = makeProject(t, { [SOURCE]: 'one' })
  const state = { compiles: 0, arrived: 0, go: () => {}, gate: Promise.resolve() }
  const close = () => {
    state.gate = new Promise(resolve => (state.go = resolve))
  }
  const slow = {
    extensions: '.slow',
    target: '.css',
    async compile({ code }: { code: string }) {
      state.compiles++
      await state.gate
      if (code === 'broken') throw new Error('it is broken')
      return { code: `${code} compiled` }
    }
  }
  const count: Middleware = (_, next) => {
    state.arrived++
    return next()
  }
  const options = { root, env, compile: true, fingerprint: false, compilers: [slow] }
  const front = await makeFront(t, { ...options, inFront: [count] })
  const crowd = async (size: number) => {
    const expected = state.arrived + size
    const asked = Array.from({ length: size }, () => ask(front.port, 'GET', '/assets/slow.css'))
    await until(() => state.arrived === expected, 'the requests have come')
    return { answers: Promise.all(asked) }
  }
  return { ...front, state, close, crowd }
}

for (const [whoLeaves, before] of [
  ['the first', 0],
  ['one in the middle', CROWD / 2],
  ['the last', CROWD - 1]
] as const) {
  test(`when ${whoLeaves} of ${CROWD} clients disconnects, one compile still answers all others`, async t => {
    const { port, state, close, crowd, errors } = await makeSlowSite(t, 'development')
    close()
    const early = await crowd(before)
    const leaving = connect(port, '127.0.0.1')
    leaving.write(request('GET', '/assets/slow.css'))
    await until(() => state.arrived === before + 1, 'the request has come')
    const late = await crowd(CROWD - 1 - before)
    leaving.destroy()
    await once(leaving, 'close')
    state.go()
    const answers = [...(await early.answers), ...(await late.answers)]
    t.is(answers.length, CROWD - 1)
    const [first = ''] = answers.map(signature)
    for (const answer of answers) {
      t.deepEqual([answer.status, answer.text], [200, 'one compiled'])
      t.is(signature(answer), first)
    }
    t.is(state.compiles, 1)
    t.deepEqual(errors, [])
  })
}

test('many requests for a broken source all get its error without a compile for each', async t => {
  const { root, port, state, close, crowd, errors } = await makeSlowSite(t, 'production')
  writeFiles(root, { [SOURCE]: 'broken' })
  close()
  const { answers } = await crowd(CROWD)
  state.go()
  for (const { status, text } of await answers)
    t.deepEqual([status, text], [500, 'Internal Server Error'])
  t.true(state.compiles <= 2, `${state.compiles} compiles`)
  t.is(errors.length, CROWD)
  writeFiles(root, { [SOURCE]: 'fixed' })
  t.is((await ask(port, 'GET', '/assets/slow.css')).text, 'fixed compiled')
})

test(`however many requests come, each of ${EDITS} edits is compiled once`, async t => {
  const { root, app, state } = await makeSlowSite(t, 'development')
  for (let edit = 1; edit <= EDITS; edit++) {
    writeFiles(root, { [SOURCE]: `edit ${edit}` })
    const asked: Promise<Set<number>>[] = []
    // Some come before the compile, some in its midst, some in the very moment in which it ends.
    for (let count = 0; count < 30; count++) {
      asked.push(drive(app, ['/assets/slow.css']))
      await new Promise(resolve => setImmediate(resolve))
    }
    for (const statuses of await Promise.all(asked)) t.deepEqual([...statuses], [200])
    t.is(state.compiles, edit)
  }
})
