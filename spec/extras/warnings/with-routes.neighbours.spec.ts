import type { Middleware } from 'koa'
import compose from 'koa-compose'
import range from 'koa-range'
import { makeSite, test, warningsAbout, type ExecutionContext } from '../../support/index.ts'
import type { SiteOptions } from '../../support/index.ts'

const TEXT = '0123456789'

/** One file, of a name that no other spec here has, so that warnings can be told apart. */
function siteOf(t: ExecutionContext, name: string, options: SiteOptions) {
  const files = { [`/files/${name}.txt`]: TEXT, [`/files/${name}-2.txt`]: TEXT }
  return makeSite(t, files, { apps: false, mounts: { '/f': { dir: 'files' } }, ...options })
}

/** Sets its cookie on the way back, as a session does that was changed. */
const lateCookie: Middleware = async (ctx, next) => {
  await next()
  ctx.cookies.set('seen', 'yes')
}

const earlyCookie: Middleware = (ctx, next) => {
  ctx.cookies.set('seen', 'yes')
  return next()
}
const cached = (cacheControl: string) => ({ '/f': { dir: 'files', cacheControl } })

const guard =
  (cacheControl?: string): Middleware =>
  (ctx, next) => {
    if (!ctx.cookies.get('user')) ctx.throw(401)
    if (cacheControl !== undefined) ctx.set('Cache-Control', cacheControl)
    return next()
  }

const FOR_ALL = cached('public, max-age=60')
const FOR_ONE = cached('private, max-age=60')
const PRODUCTION = { env: 'production' }
const COOKIE = /GET \/f\/\S+ .*Set-Cookie.*Register koaAssets before/
const GUARD = /GET \/f\/\S+ .*set Cache-Control to private, no-cache/

const BESIDE_FILES: Readonly<Record<string, readonly [SiteOptions, said?: RegExp]>> = {
  'a cookie that is added beside a file': [{ front: lateCookie }, COOKIE],
  'a cookie beside a public file': [{ front: lateCookie, mounts: FOR_ALL }, COOKIE],
  'a cookie beside a private file': [{ front: lateCookie, mounts: FOR_ONE }],
  'a cookie that is set before the file': [{ front: earlyCookie }],
  'a guard by cookie without Cache-Control': [{ front: guard() }, GUARD],
  'a guard by cookie with a private Cache-Control': [{ front: guard('private, no-cache') }],
  'a guard before a private mount': [{ front: guard(), mounts: FOR_ONE }],
  'a guard behind koaAssets': [{ routes: guard() }],
  'a guard in production': [{ front: guard(), ...PRODUCTION }]
}

for (const [what, [options, expected]] of Object.entries(BESIDE_FILES)) {
  test(`${what} is reported ${expected ? 'once' : 'never'}`, async t => {
    const name = what.replaceAll(' ', '-')
    const site = await siteOf(t, name, options)
    for (const path of [`/f/${name}.txt`, `/f/${name}.txt`, `/f/${name}-2.txt`])
      t.is((await site.ask(path, { headers: { cookie: 'user=ann' } })).status, 200)
    const [said = '', ...others] = warningsAbout(name)
    t.regex(said, expected ?? /^$/)
    t.deepEqual(others, [])
  })
}

const sending: Middleware = ctx => ctx.sendFile(ctx.path.slice(3), { root: 'files' })

const RANGES: Readonly<Record<string, readonly [SiteOptions, asked: string, count: number]>> = {
  'around koaAssets': [{ front: range }, '/f/', 1],
  'in front of ctx.sendFile': [{ routes: compose([range, sending]) }, '/s/', 1],
  'behind koaAssets': [{ routes: compose([range, ctx => void (ctx.body = TEXT)]) }, '/f/', 0],
  'in production': [{ front: range, env: 'production' }, '/f/', 0]
}

for (const [place, [options, path, count]] of Object.entries(RANGES)) {
  test(`a koa-range ${place} is reported ${count === 1 ? 'once' : 'never'}`, async t => {
    const name = `range-${place.replaceAll(' ', '-')}`
    const site = await siteOf(t, name, options)
    const ask = (range: string) => site.ask(`${path}${name}.txt`, { headers: { range } })
    for (let round = 0; round < 2; round++) t.is((await ask('bytes=0-3')).text, '0123')
    // It announces four bytes, and sends none.
    if (place !== 'behind koaAssets') await t.throwsAsync(ask('bytes=4-7'), { code: 'ECONNRESET' })
    const said = warningsAbout(name)
    t.is(said.length, count)
    if (count > 0)
      t.regex(said[0] ?? '', /koa-range, took 'bytes 0-3\/4' out of the part 'bytes 0-3\/10'/)
  })
}

test('a koa-range in front of a file that changed since is reported', async t => {
  const site = await siteOf(t, 'range-changed', { front: range })
  const headers = { range: 'bytes=4-7', 'if-range': '"other"' }
  t.is((await site.ask('/f/range-changed.txt', { headers })).text, '4567', 'of another file')
  t.regex(warningsAbout('range-changed')[0] ?? '', /out of the whole file/)
})
