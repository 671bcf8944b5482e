// Unusual but valid HTTP/1 requests.
import { createHash } from 'node:crypto'
import test from 'ava'
import { ENVIRONMENTS, makeFront, makeFronts } from '../../support/front.ts'
import { ask, exchange, readAnswer, readAnswers } from '../../support/raw.ts'
import { makeProject } from '../../support/site.ts'

const BIG = Buffer.alloc(3 * 1024 * 1024, 'big ')
const files = {
  'apps/web/assets/stylesheets/app.css': 'a{}',
  'apps/web/assets/stylesheets/sheet.css.scss': 'a { b: c }',
  'apps/web/assets/films/film.bin': BIG,
  'apps/web/assets/images/empty.png': '',
  'public/robots.txt': 'robots',
  'public/big.bin': BIG,
  'public/empty.txt': '',
  'public/assets/app.css': 'a{}',
  'public/assets/sheet.css': 'a {\n  b: c;\n}',
  'public/assets/film.bin': BIG,
  'public/assets/empty.png': ''
}
const paths = Object.keys(files)
  .filter(path => path.startsWith('public/'))
  .map(path => path.slice('public'.length))

test('HEAD has the headers of GET and not one byte of a body on the wire', async t => {
  for (const { front } of await makeFronts(t, makeProject(t, files))) {
    const unfound = ['/assets/none.css', '/none', '/assets/%00', '/assets/sub/']
    for (const path of [...paths, ...unfound]) {
      const get = await ask(front.port, 'GET', path)
      const tag = get.headers.etag ?? '"x"'
      const variants: Record<string, string>[] = [
        {},
        { Range: 'bytes=0-1' },
        { Range: 'bytes=99999999-' },
        { 'If-None-Match': tag },
        { 'If-Match': '"other"' },
        { 'If-Modified-Since': 'Thu, 01 Jan 2015 00:00:00 GMT' },
        { 'If-None-Match': '*', Range: 'bytes=0-0' }
      ]
      for (const headers of variants) {
        const head = await ask(front.port, 'HEAD', path, headers)
        t.is(head.body.length, 0, `${path} ${JSON.stringify(headers)}: ${head.text}`)
        const { Range: _, ...others } = headers
        const same = await ask(front.port, 'GET', path, others)
        t.is(head.status, same.status, path)
        // Koa's own 404 has fewer fields for HEAD.
        if (unfound.includes(path)) continue
        t.deepEqual({ ...head.headers, date: '' }, { ...same.headers, date: '' }, path)
      }
    }
    t.deepEqual(front.errors, [])
  }
})

test('several requests in one packet get their responses in order', async t => {
  for (const { front } of await makeFronts(t, makeProject(t, files))) {
    const wanted = [
      ...['/assets/film.bin', '/assets/app.css', '/big.bin', '/none', '/assets/sheet.css'],
      ...[
        '/assets/none.css',
        '/empty.txt',
        '/assets/%00',
        '/robots.txt',
        '/big.bin',
        '/assets/app.css'
      ]
    ]
    const methods = wanted.map((_, at) => ['GET', 'GET', 'HEAD', 'POST'][at % 4] ?? 'GET')
    const packet = wanted
      .map((path, at) => {
        const last = at === wanted.length - 1 ? 'Connection: close\r\n' : ''
        return `${methods[at]} ${path} HTTP/1.1\r\nHost: x\r\n${last}\r\n`
      })
      .join('')
    const responses = readAnswers(await exchange(front.port, packet), methods)
    for (const [at, response] of responses.entries()) {
      const alone = await ask(front.port, methods[at] ?? '', wanted[at] ?? '')
      t.is(response.status, alone.status, `${methods[at]} ${wanted[at]}`)
      t.is(digest(response.body), digest(alone.body), `${methods[at]} ${wanted[at]}`)
    }
  }
})

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

test('a body on GET and HEAD is skipped, and the next request is read where it begins', async t => {
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

test('HTTP/1.0 gets the same bytes, and the connection closed', async t => {
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

test('any other method on an asset is 405 without a body of the file, and writes nothing', async t => {
  const root = makeProject(t, files)
  const front = await makeFront(t, { root, ...ENVIRONMENTS.development })
  for (const path of paths) {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'PROPFIND', 'TRACE', 'OPTIONS']) {
      const response = await ask(front.port, method, path)
      t.is(response.status, method === 'OPTIONS' ? 204 : 405, `${method} ${path}`)
      t.is(response.headers.allow, 'GET, HEAD, OPTIONS')
      t.is(response.headers.etag, undefined)
    }
  }
  for (const method of ['get', 'Get', 'BREW']) {
    const bytes = await exchange(front.port, `${method} /robots.txt HTTP/1.1\r\nHost: x\r\n\r\n`)
    t.false(bytes.toString().includes('robots'), method)
  }
  t.deepEqual(front.errors, [])
})

test('headers that were set in front are kept beside those of the file', async t => {
  const root = makeProject(t, files)
  for (const environment of Object.values(ENVIRONMENTS)) {
    const front = await makeFront(t, {
      root,
      ...environment,
      inFront: [
        (ctx, next) => {
          ctx.set('X-Frame-Options', 'DENY')
          ctx.set('Vary', 'Origin')
          ctx.append('Set-Cookie', 'a=1')
          ctx.append('Set-Cookie', 'b=2')
          return next()
        }
      ]
    })
    for (const path of paths) {
      for (const method of ['GET', 'HEAD']) {
        const { head } = await ask(front.port, method, path)
        for (const line of ['X-Frame-Options: DENY', 'Set-Cookie: a=1', 'Set-Cookie: b=2']) {
          t.true(head.includes(line), `${path}: ${head}`)
        }
        t.regex(head, /\r\nVary: Origin/)
        t.is(head.match(/^content-type:/gim)?.length, 1)
        t.is(head.match(/^content-length:/gim)?.length, 1)
      }
    }
  }
})
