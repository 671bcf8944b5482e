// A front web server over what precompile wrote: the same names, the same bytes as in-process.
import { once } from 'node:events'
import { createServer, request, type IncomingHttpHeaders } from 'node:http'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { Middleware } from 'koa'
import { ask, makeProject, makeSite, open, placed, readManifest, run } from '../support/index.ts'
import { targetOf, test, viteBuild, viteMount, type ExecutionContext } from '../support/index.ts'
import { nginxInFront, type Ports, proxyInFront } from './in-front.ts'

const FILES_CONF = 'demo/deploy/nginx/files.conf'

test('nginx sends the same assets as the application, under the same URLs', async t => {
  const files = {
    'stylesheets/app.css.scss': 'a { background: url(logo.png) } '.repeat(50),
    'javascripts/app.js': 'go();'.repeat(100),
    'images/logo.png': 'logo',
    'images/a b ü.svg': '<svg/>'.repeat(100)
  }
  const root = makeProject(t, placed(files))
  await run({ root })
  const site = await makeSite(t, {}, { root, env: 'production' })
  const port = await nginxInFront(t, root, site.port)
  const entries = Object.entries(readManifest(root).assets)
  t.is(entries.length, 4)
  for (const path of entries.flatMap(([plain, { target }]) => [plain, target])) {
    for (const accept of ['br', 'gzip', 'identity']) {
      const headers = { 'Accept-Encoding': accept }
      const theirs = await ask(port, path, { headers })
      const ours = await site.ask(path, { headers })
      t.is(theirs.status, 200, path)
      t.is(ours.status, 200, path)
      t.is(theirs.headers['content-encoding'], ours.headers['content-encoding'], path)
      t.true(theirs.bytes.equals(ours.bytes), path)
      t.is(theirs.headers['last-modified'], ours.headers['last-modified'], path)
      t.is(theirs.headers['cache-control'], ours.headers['cache-control'])
      t.is(theirs.headers['x-content-type-options'], 'nosniff')
    }
  }
})

test('nginx allows every origin for the same responses as the application does with host', async t => {
  const root = makeProject(t, {
    ...placed({ 'stylesheets/app.css': 'a {}' }),
    'public/robots.txt': 'robots',
    ...viteBuild('dist', { 'src/a.js': 'assets/a-CZTearZk.js' }),
    'dist/plain.js': 'plain()',
    'dist/assets/no hash.js': 'none()'
  })
  await run({ root })
  const mounts = { '/static': viteMount() }
  const host = 'https://cdn.example'
  const site = await makeSite(t, {}, { root, env: 'production', host, mounts })
  const port = await nginxInFront(t, root, site.port)
  const css = targetOf(root, '/assets/app.css')
  const expected = new Map([
    ...[css, '/assets/app.css', '/static/assets/a-CZTearZk.js', '/static/plain.js'].map(
      path => [path, '*'] as const
    ),
    ['/static/assets/no%20hash.js', '*'],
    ['/robots.txt', undefined],
    [`/assets/app-${'0'.repeat(32)}.css`, undefined],
    ['/static/.vite/manifest.json', undefined]
  ])
  for (const [path, origin] of expected) {
    const { headers } = await site.ask(path)
    const since = headers['last-modified'] ?? ''
    for (const question of [{}, { Range: 'bytes=0-0' }, { 'If-Modified-Since': since }]) {
      const theirs = await ask(port, path, { headers: question })
      const ours = await site.ask(path, { headers: question })
      const what = `${path} ${JSON.stringify(question)}`
      t.is(theirs.status, ours.status, what)
      t.is(ours.headers['access-control-allow-origin'], origin, what)
      t.is(theirs.headers['access-control-allow-origin'], origin, what)
      if (ours.status < 400)
        t.is(theirs.headers['cache-control'], ours.headers['cache-control'], what)
    }
  }
})

test('behind nginx a mount without a location block needs serve: true', async t => {
  const root = makeProject(t, {
    ...placed({ 'a.txt': '' }),
    'dist/plain.js': 'plain()',
    'uploads/cat.txt': 'cat'
  })
  const mounts = { '/static': 'dist', '/uploads': 'uploads' }
  for (const serve of [false, true]) {
    const site = await makeSite(t, {}, { root, serve, mounts })
    const port = await nginxInFront(t, root, site.port)
    t.is((await ask(port, '/static/plain.js')).text, 'plain()')
    t.is((await ask(port, '/uploads/cat.txt')).status, serve ? 200 : 404)
  }
})

/** What becomes of a source. */
const PUBLISHED: Readonly<Record<string, string>> = {
  ...{ scss: 'css', less: 'css', ts: 'js', tsx: 'js' }
}

test('nginx sends the application’s Content-Type for every type of file in files.conf and the demo', async t => {
  const [, block = ''] = /^ {2}types \{(.*?)^ {2}\}/ms.exec(readFileSync(FILES_CONF, 'utf8')) ?? []
  const known = block
    .split('\n')
    .flatMap(line => /^ +(?:"[^"]+"|\S+) (.*);$/.exec(line)?.[1]?.split(' ') ?? [])
  const demo = ['apps/web/assets', 'apps/admin/assets', 'vite/src'].flatMap(folder =>
    readdirSync(join('demo', folder), { recursive: true, encoding: 'utf8' })
      .map(path => extname(path).slice(1))
      .filter(extension => extension !== '')
      .map(extension => PUBLISHED[extension] ?? extension)
  )
  const extensions = new Set(['mjs', 'none', ...demo, ...known])
  const files = [...extensions].map(extension => [`public/file.${extension}`, 'text'])
  const root = makeProject(t, { ...placed({ 'a.txt': '' }), ...Object.fromEntries(files) })
  const site = await makeSite(t, {}, { root })
  const port = await nginxInFront(t, root, site.port)
  for (const extension of extensions) {
    const path = `/file.${extension}`
    const [theirs, ours] = await Promise.all([ask(port, path), site.ask(path)])
    t.is(theirs.headers['content-type'], ours.headers['content-type'], path)
    t.true(extension === 'none' || known.includes(extension), `${path} is in files.conf`)
  }
})

test('nginx passes on requests for what public lacks, but none for the manifest or dotfiles', async t => {
  const hidden = `/assets/.hidden/x-${'0'.repeat(32)}.js`
  const root = makeProject(t, {
    ...placed({ 'stylesheets/app.css': 'a {}' }),
    'public/.env': 'secret',
    [`public${hidden}`]: 'secret',
    'public/.well-known/security.txt': 'mailto:'
  })
  await run({ root })
  const passed: string[] = []
  const routes: Middleware = ctx => {
    passed.push(`${ctx.method} ${ctx.host} ${ctx.url}`)
    ctx.body = 'page'
  }
  const options = { env: 'production', compile: false, fingerprint: false } as const
  const site = await makeSite(t, {}, { ...options, routes })
  const port = await nginxInFront(t, root, site.port)
  for (const path of ['/assets.json', '/.env', '/assets/.x', hidden]) {
    t.is((await ask(port, path)).status, 404, path)
  }
  t.is((await ask(port, '/.well-known/security.txt')).text, 'mailto:')
  t.deepEqual(passed, [])
  const headers = { host: 'a.example:8080' }
  t.is((await ask(port, '/books/7?x=1', { headers })).text, 'page')
  t.is((await ask(port, '/', { method: 'POST', headers })).text, 'page')
  t.deepEqual(passed, ['GET a.example:8080 /books/7?x=1', 'POST a.example:8080 /'])
})

async function upgrade(port: number, protocol: string): Promise<number | undefined> {
  const headers = { Connection: 'Upgrade, HTTP2-Settings', Upgrade: protocol }
  const asked = request({ port, host: '127.0.0.1', path: '/socket', headers }).end()
  const [{ statusCode }] = (await Promise.race([
    once(asked, 'response'),
    once(asked, 'upgrade')
  ])) as [{ statusCode?: number }]
  asked.destroy()
  return statusCode
}

const FRONTS = {
  files: (t: ExecutionContext, ...ports: Ports) => nginxInFront(t, makeProject(t), ...ports),
  proxy: proxyInFront
}

for (const [kind, inFront] of Object.entries(FRONTS)) {
  test(`nginx passes on a page with long headers: preload links, a policy and a cookie (${kind})`, async t => {
    const names = Array.from({ length: 60 }, (_, at) => `a-stylesheet-with-a-name-${at}.css`)
    const policy = `style-src ${'https://styles.example '.repeat(50)}`
    const site = await makeSite(t, Object.fromEntries(names.map(name => [`css/${name}`, ''])), {
      routes(ctx) {
        for (const name of names) ctx.preload(name)
        ctx.set({ 'Content-Security-Policy': policy, 'Set-Cookie': `session=${'s'.repeat(1000)}` })
        ctx.body = 'page'
      }
    })
    const port = await inFront(t, site.port)
    const [theirs, ours] = await Promise.all([ask(port, '/'), site.ask('/')])
    const { link } = ours.headers
    t.true((link?.length ?? 0) > 2900)
    t.deepEqual([theirs.status, theirs.text, theirs.headers.link], [200, 'page', link])
  })

  test(`nginx finds a fingerprinted file on whichever replica has it (${kind})`, async t => {
    const texts = ['one', 'two', 'three'].map(text => `a { content: "${text}" }`)
    const roots = texts.map(text => makeProject(t, placed({ 'stylesheets/app.css': text })))
    const sites = await Promise.all(
      roots.map(async root => {
        await run({ root })
        return makeSite(t, {}, { root, env: 'production' })
      })
    )
    const [one = 0, two = 0, three = 0] = sites.map(site => site.port)
    const port = await (kind === 'files'
      ? nginxInFront(t, roots[0] ?? '', one, two, three)
      : proxyInFront(t, one, two, three))
    for (const [at, text] of texts.entries()) {
      const path = targetOf(roots[at] ?? '', '/assets/app.css')
      for (let round = 0; round < 4; round++) {
        const answer = await ask(port, path)
        t.is(answer.text, text)
        t.is(answer.headers['cache-control'], 'public, max-age=31536000, immutable')
      }
    }
    const missing = await ask(port, `/assets/app-${'0'.repeat(32)}.css`)
    t.is(missing.status, 404)
    t.is(missing.headers['cache-control'], 'no-store')
  })

  // base.spec.ts has an edit that Vite in the process sends through a WebSocket.
  test(`of upgrades nginx passes on only those to a WebSocket (${kind})`, async t => {
    const seen: IncomingHttpHeaders[] = []
    const server = createServer((_, res) => res.end('page'))
    server.on('upgrade', ({ headers }, socket) => {
      seen.push(headers)
      const fields = 'Connection: Upgrade\r\nUpgrade: websocket'
      socket.end(`HTTP/1.1 101 Switching Protocols\r\n${fields}\r\n\r\n`)
    })
    const port = await inFront(t, await open(t, server))
    t.is(await upgrade(port, 'websocket'), 101)
    t.is(await upgrade(port, 'WebSocket'), 101)
    t.is(await upgrade(port, 'h2c'), 200)
    const passed = seen.map(({ connection, upgrade: to }) => `${connection} ${to}`)
    t.deepEqual(passed, ['upgrade websocket', 'upgrade websocket'])
  })
}
