// Which requests get a file, and unusual but valid requests over the wire.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Context } from 'koa'
import { ask, exchange, readAnswer, readAnswers } from '../../support/raw.ts'
import { ENVIRONMENTS, makeFront, makeFronts, makeProject, makeSite } from '../../support/index.ts'
import { test } from '../../support/index.ts'

const routes = (ctx: Context) => {
  if (ctx.path !== '/nobody') ctx.body = `${ctx.method} ${ctx.path}`
}

test('methods other than GET reach the route, even where there is a file', async t => {
  const files = { 'a.css': 'a{}', '/public/form': 'a file' }
  const site = await makeSite(t, files, { routes })
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
    for (const path of ['/form', '/assets/a.css']) {
      const { status, text, headers } = await site.ask(path, { method })
      t.deepEqual([status, text, headers.allow], [200, `${method} ${path}`, undefined])
    }
})

test('with compile off sources are neither served nor published', async t => {
  const site = await makeSite(t, { 'stylesheets/a.css': 'a{}' }, { compile: false, revalidate: 0 })
  for (const method of ['GET', 'HEAD', 'POST'])
    t.is((await site.ask('/assets/a.css', { method })).status, 404)
  t.false(existsSync(join(site.root, 'public')))
  site.write('/public/assets/a.css', 'published')
  site.write('stylesheets/a.css', 'edited{}')
  t.is((await site.ask('/assets/a.css')).text, 'published')
  t.is((await site.ask('/assets/a.css', { method: 'POST' })).status, 405)
  t.is(site.read('/public/assets/a.css'), 'published')
  t.deepEqual(readdirSync(site.at('/public/assets')), ['a.css'])
})

test('with `serve: false` the helpers work without any file being served or written', async t => {
  const files = { 'stylesheets/a.css': 'a{}', '/dist/b.js': 'b', '/public/robots.txt': 'x' }
  const site = await makeSite(t, files, {
    serve: false,
    mounts: { '/m': 'dist' },
    routes(ctx) {
      if (ctx.path === '/page') ctx.body = ctx.assets.stylesheet('a')
      if (ctx.path === '/assets/thrown.css') ctx.throw(404)
      if (ctx.path === '/assets/made.css') ctx.body = 'made'
      if (ctx.path === '/assets/gone.css') ctx.status = 410
    }
  })
  for (const [path, expected] of Object.entries({
    '/assets/a.css': [404, 'no-store'],
    '/assets/none.css': [404, 'no-store'],
    '/assets/%zz': [404, 'no-store'],
    '/assets/thrown.css': [404, 'no-store'],
    '/m/b.js': [404, 'no-store'],
    '/assets/made.css': [200, undefined],
    '/assets/gone.css': [410, undefined],
    '/robots.txt': [404, undefined],
    '/none': [404, undefined]
  })) {
    const { status, headers } = await site.ask(path)
    t.deepEqual([status, headers['cache-control']], expected, path)
  }
  t.deepEqual(readdirSync(site.at('/public')), ['robots.txt'])
  const tag = '<link href="/assets/a.css" type="text/css" rel="stylesheet">'
  t.is((await site.ask('/page')).text, tag)
})

const BIG = Buffer.alloc(1_200_000, 'big ')
const files = {
  'apps/web/assets/stylesheets/app.css': 'a{}',
  'apps/web/assets/films/film.bin': BIG,
  'apps/web/assets/images/empty.png': '',
  'public/robots.txt': 'robots',
  'public/big.bin': BIG,
  'public/empty.txt': '',
  'public/assets/app.css': 'a{}',
  'public/assets/film.bin': BIG,
  'public/assets/empty.png': ''
}
const paths = Object.keys(files)
  .filter(path => path.startsWith('public/'))
  .map(path => path.slice('public'.length))

const fieldsOf = ({ headers }: { readonly headers: object }) => ({ ...headers, date: '' })

test('HEAD gets the headers of GET without one byte of a body', async t => {
  for (const { front } of await makeFronts(t, makeProject(t, files))) {
    const unfound = ['/assets/none.css', '/none', '/assets/%00']
    for (const path of [...paths, ...unfound]) {
      for (const headers of [{}, { 'If-Match': '"other"' }, { 'If-None-Match': '*' }]) {
        let get = await ask(front.port, 'GET', path, headers)
        let head = get
        // Once the second is over in which a file was published, it has a Last-Modified.
        for (let isSteady = false; !isSteady;) {
          const before = get
          head = await ask(front.port, 'HEAD', path, { ...headers, Range: 'bytes=0-1' })
          get = await ask(front.port, 'GET', path, headers)
          isSteady = isDeepStrictEqual(fieldsOf(before), fieldsOf(get))
        }
        t.deepEqual([head.status, head.body.length], [get.status, 0], path)
        // Koa's own 404 has fewer fields for HEAD.
        if (unfound.includes(path)) continue
        t.deepEqual(fieldsOf(head), fieldsOf(get), path)
      }
    }
    t.deepEqual(front.errors, [])
  }
})

test('the body of a GET or HEAD is never read as the next request', async t => {
  for (const { front } of await makeFronts(t, makeProject(t, files))) {
    const smuggled = 'GET /none HTTP/1.1\r\nHost: x\r\n\r\n'
    const bodies = [
      `Content-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
      `Transfer-Encoding: chunked\r\n\r\n${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`,
      `Content-Length: 200000\r\n\r\n${'x'.repeat(200_000)}`
    ]
    for (const path of ['/assets/app.css', '/big.bin', '/none']) {
      for (const method of ['GET', 'HEAD']) {
        for (const body of bodies) {
          const packet =
            `${method} ${path} HTTP/1.1\r\nHost: x\r\n${body}` +
            `GET /robots.txt HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`
          const bytes = await exchange(front.port, packet)
          const [first, second] = readAnswers(bytes, [method, 'GET'])
          t.is(first?.status, path === '/none' ? 404 : 200, `${method} ${path}`)
          t.is(second?.text, 'robots', `${method} ${path}`)
        }
      }
    }
    t.deepEqual(front.errors, [])
  }
})

test('a client of HTTP/1.0 gets the same status and body as one of HTTP/1.1', async t => {
  for (const { front } of await makeFronts(t, makeProject(t, files))) {
    for (const path of [...paths, '/none', '/assets/none.css']) {
      const modern = await ask(front.port, 'GET', path)
      for (const more of ['', 'Host: x\r\n', 'Connection: close\r\n']) {
        const response = readAnswer(
          await exchange(front.port, `GET ${path} HTTP/1.0\r\n${more}\r\n`)
        )
        t.is(response.status, modern.status, path)
        t.true(response.body.equals(modern.body), path)
        t.is(response.headers['transfer-encoding'], undefined)
      }
      const head = readAnswer(await exchange(front.port, `HEAD ${path} HTTP/1.0\r\n\r\n`))
      t.is(head.body.length, 0)
      t.is(head.status, modern.status)
    }
  }
})

test('a file only allows GET, HEAD and OPTIONS where no route takes another method', async t => {
  const root = makeProject(t, files)
  const front = await makeFront(t, { root, ...ENVIRONMENTS.development })
  const missing = await ask(front.port, 'POST', '/assets/none.css')
  t.deepEqual([missing.status, missing.headers['allow']], [404, undefined])
  rmSync(join(root, 'public/assets'), { recursive: true })
  for (const path of paths) {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'PROPFIND', 'TRACE', 'OPTIONS']) {
      const { status, text, headers } = await ask(front.port, method, path)
      t.is(status, method === 'OPTIONS' ? 204 : 405, `${method} ${path}`)
      t.deepEqual([headers['allow'], headers['etag']], ['GET, HEAD, OPTIONS', undefined])
      if (method === 'OPTIONS') t.is(text, '')
    }
  }
  t.false(existsSync(join(root, 'public/assets')), 'nothing is published for a POST')
  for (const method of ['get', 'Get', 'BREW']) {
    const bytes = await exchange(front.port, `${method} /robots.txt HTTP/1.1\r\nHost: x\r\n\r\n`)
    t.false(bytes.toString().includes('robots'), method)
  }
  t.deepEqual(front.errors, [])
})
