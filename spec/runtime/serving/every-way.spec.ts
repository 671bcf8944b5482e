// What the other specs say of one way of sending a file holds for all of them: each request of these tables is
// sent to a site for each way, and gets the same status, fields and bytes from all.
import { renameSync, rmSync, utimesSync } from 'node:fs'
import { Agent, STATUS_CODES, type RequestListener, type ServerResponse } from 'node:http'
import { connect, createServer } from 'node:http2'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import type { Context } from 'koa'
import Koa2 from 'koa2'
import { inParallel } from '../../../lib/runtime/concurrency.ts'
import { withFingerprint } from '../../../lib/runtime/urls/spelling.ts'
import { digestOf } from '../../../lib/runtime/files/digest.ts'
import { deltaFile, deltaName, offering } from '../../support/deltas.ts'
import { ENVIRONMENTS, passOn, WAYS } from '../../support/ways.ts'
import { askSession, cases, isWindows, leadLink, makeProject } from '../../support/index.ts'
import { makeSite, open, test, words, writeFiles, type Answer } from '../../support/index.ts'
import type { ExecutionContext, Question, SiteOptions } from '../../support/index.ts'

interface Way extends SiteOptions {
  readonly isHttp2?: boolean
}

const ALL: ReadonlyArray<readonly [way: string, options: Way]> = [
  ...WAYS,
  ['with memory off', { memory: { maxBytes: 0 } }],
  ['over HTTP/2', { isHttp2: true }],
  ['streamed over HTTP/2', { isHttp2: true, memory: { maxFileBytes: 0 } }],
  ['given to Koa, over HTTP/2', { isHttp2: true, front: passOn }],
  ['given to Koa 2, over HTTP/2', { isHttp2: true, front: passOn, koa: Koa2 }]
]

const THEN = 1_700_000_000
const DATE = 'Tue, 14 Nov 2023 22:13:20 GMT'
const BEFORE = 'Tue, 14 Nov 2023 22:13:19 GMT'
const TEXT = 'body { color: red }\n'.repeat(50)
const OLD = 'const answer = 42\n'.repeat(400)
const NEW = `${OLD}const question = '6 x 9'\n`
const PRINTED = withFingerprint('/assets/app.js', digestOf(NEW))

const SOURCE = 'apps/web/assets/css/source.css'
const TARGET = 'public/assets/source.css'

const copied = (path: string) => ({
  [path]: TEXT,
  [`${path}.br`]: brotliCompressSync(TEXT),
  [`${path}.gz`]: gzipSync(TEXT)
})
const FILES = {
  ...copied('public/a.css'),
  ...copied('build/app/app.js'),
  'public/logo.png': Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255, 254, 13, 10]),
  'public/empty.txt': '',
  'public/ünter wegs.html': '<p>é',
  'public/assets/plain.css': 'plain{}',
  'public/static/only-public.txt': 'only public',
  [`public${PRINTED}`]: NEW,
  [`public${deltaName(PRINTED, OLD)}`]: deltaFile(OLD, NEW),
  'build/app/js/deep/a b@2x.js': 'deep',
  'build/app/main-BcXr2f3k.js': 'hashed',
  'build/app/wrong.bin': 'its header is no header',
  'build/app-secret/app.js': 'secret',
  'html/index.html': 'home',
  'html/docs/index.html': 'docs',
  'html/empty/other.html': 'other',
  'html/blog': 'a file',
  'dist/index.html': '<title>shell</title>',
  'dist/about.html': 'about',
  'builds/1/v.txt': 'build 1',
  'builds/2/v.txt': 'build 2',
  [SOURCE]: 'source{}'
}

const OPTIONS: SiteOptions = {
  host: 'https://cdn.example',
  headers: { 'X-Both': 'top', 'Content-Disposition': 'filename=Århus\u0080\u00ff', Vary: 'Origin' },
  mounts: {
    '/static': {
      dir: 'build/app',
      immutable: /-\w{8}\.js$/,
      headers: path => ({
        'X-Both': path.endsWith('.bin') ? 'a\r\nX-B: c' : 'mount',
        'Content-Type': 'text/plain; charset=iso-8859-1'
      })
    },
    '/static/js': { dir: 'html', cacheControl: 'public, max-age=60' },
    '/site': { dir: 'html', index: 'index.html' },
    '/admin': { dir: 'dist', fallback: 'index.html' },
    '/build': { dir: isWindows ? 'builds/1' : 'current', symlinks: 'inside' },
    '/clean': { dir: 'html', extensions: ['html'], index: 'index.html' },
    '/up': 'data/uploads'
  },
  routes: (ctx, next) => {
    if (ctx.path === '/admin/api') ctx.body = 'api'
    else if (ctx.path === '/admin/gone') ctx.status = 410
    else if (ctx.path === '/admin/mine') Object.assign(ctx, { status: 404, body: 'my own 404' })
    else if (ctx.path === '/admin/thrown') ctx.throw(404, 'thrown')
    else if (ctx.path === '/page') ctx.body = `a page for ${ctx.method}`
    else if (ctx.path in BEHIND) BEHIND[ctx.path]?.(ctx)
    else return next()
    return undefined
  }
}

/** Routes for paths without a file that leave a 404, each in its own way. */
const BEHIND: Readonly<Record<string, (ctx: Context) => unknown>> = {
  '/assets/status.css': ctx => (ctx.status = 404),
  '/assets/type.css': ctx => (ctx.type = 'json'),
  '/assets/cookie.css': ctx => ctx.cookies.set('a', 'b'),
  '/static/field.js': ctx => ctx.set('Cache-Control', 'max-age=60')
}

/** What a server sets before any middleware sees a request that asks for it. */
const setBefore: RequestListener = (req, res) => {
  if (req.headers['x-set-before'] === undefined) return
  res.setHeader('Cache-Control', 'private')
  res.setHeader('Set-Cookie', ['a=1', 'b=2'])
  // Koa writes the fields of its own 404 in UTF-8.
  res.setHeader('X-Both', req.url === '/none.txt' ? 'before' : 'vorhër')
  res.setHeader('Vary', 'Cookie')
  res.setHeader('ETag', '"before"')
  res.setHeader('Expires', AFTER)
  res.setHeader('CDN-Cache-Control', 'max-age=60')
}

type Request = readonly [path: string, question?: Question]

const headersOf = (name: string, values: readonly string[], more = {}) =>
  values.map(value => ({ [name]: value, ...more }))
// `{etag}` stands for the tag that the site sends with this representation.
const TAGS = ['{etag}', 'W/{etag}', '"x", {etag} , "y"', '"x"', '*', '', '"x{etag}']
const AFTER = 'Thu, 14 Nov 2999 22:13:20 GMT'
const DATES = [DATE, BEFORE, AFTER, 'Tuesday, 14-Nov-23 22:13:20 GMT', '?']
const BYTES = words('0-3 -3 -3000 4- 8-99999999999999999999 1000- -0 0-1,3-4 - 5-2')
const RANGES = BYTES.map(range => `bytes=${range}`)
const CODINGS = [
  ...['br', 'gzip', 'br;q=0.1, gzip;q=1', 'gzip;q=0', '*', 'br;q=0, *', '*;q=0', 'identity'],
  ...['GZIP', 'x-gzip', 'gzip;q=nonsense', '', 'zstd']
]
const FIELDS = [
  {},
  ...headersOf('accept-encoding', CODINGS),
  ...headersOf('if-none-match', TAGS),
  ...headersOf('if-none-match', TAGS, { 'if-modified-since': DATE, 'accept-encoding': 'gzip' }),
  ...headersOf('if-modified-since', DATES),
  ...headersOf('if-match', TAGS),
  ...headersOf('if-unmodified-since', DATES),
  ...headersOf('range', [...RANGES, 'BYTES=0-0', 'lines=0-1', 'bytes=']),
  ...headersOf('if-range', [...TAGS, ...DATES], { range: 'bytes=0-3' }),
  { range: 'bytes=0-1', 'accept-encoding': 'br' },
  ...headersOf('authorization', ['Basic YTpi']),
  ...[{}, { 'if-match': '"x"' }, { range: 'bytes=1000-' }].map(more => ({
    'x-set-before': 'yes',
    ...more
  }))
]
const NAVIGATION = { 'sec-fetch-mode': 'navigate', accept: 'text/html,*/*;q=0.8' }

const PATHS = [
  ...['/a.css', '/a.css?v=1', '/logo.png', '/empty.txt', '/%C3%BCnter%20wegs.html', PRINTED],
  ...['plain.css', 'source.css', 'none.css', '%zz', ''].map(name => `/assets/${name}`),
  ...['/none', '/page', '/', '/static', '/static%2fapp.js', '/build/v.txt'],
  ...['app.js', 'js/deep/a%20b@2x.js', 'main-BcXr2f3k.js', 'none.js', '%zz', 'only-public.txt']
    .concat('js/blog', '../app-secret/app.js', '/app.js')
    .map(name => `/static/${name}`),
  ...['', '/', '/docs', '/docs?q=1', '/docs/', '/empty', '/blog/'].map(end => `/site${end}`),
  ...words('/admin /admin/about.html /admin/users/23 /admin/missing.js /admin/api /admin/gone'),
  '/admin/mine',
  ...Object.keys(BEHIND),
  ...['/clean/docs/index', '/clean/docs']
]

const REQUESTS: readonly Request[] = [
  // Koa never ends its response to a HEAD over HTTP/2 that fails.
  ...['/static/wrong.bin', '/admin/thrown'].map(path => [path, { headers: NAVIGATION }] as const),
  ...['/a.css', '/static/app.js'].flatMap(path =>
    FIELDS.filter((_, at) => path === '/a.css' || at % 6 === 0 || at === FIELDS.length - 1).map(
      headers => [path, { headers }] as const
    )
  ),
  ...PATHS.flatMap((path, at) =>
    ['GET', 'HEAD', at % 2 === 0 ? 'POST' : 'OPTIONS'].map(method => [path, { method }] as const)
  ),
  ...PATHS.filter(path => path.startsWith('/admin')).flatMap(path =>
    ['GET', 'HEAD', 'POST'].map(method => [path, { method, headers: NAVIGATION }] as const)
  ),
  ...[{}, { range: 'bytes=8-39' }, { 'if-none-match': '{etag}' }, { 'if-match': '"x"' }].map(
    headers => [PRINTED, { headers: { ...offering(OLD), ...headers } }] as const
  ),
  [PRINTED, { method: 'HEAD', headers: offering(OLD) }]
]

const maybe = (...values: readonly string[]) =>
  fc.option(fc.constantFrom(...values), { nil: undefined, freq: 2 })
const DRAWN = fc.record({
  method: fc.constantFrom('GET', 'GET', 'HEAD'),
  path: fc.constantFrom('/empty.txt', '/logo.png', '/a.css', PRINTED, '/none.txt'),
  headers: fc.record({
    range: maybe(...RANGES, 'bytes=0-299', 'bytes=a-b', 'BYTES=0-1', 'bytes= 0-1'),
    'if-range': maybe(...TAGS, ...DATES),
    'if-match': maybe(...TAGS),
    'if-none-match': maybe(...TAGS),
    'if-modified-since': maybe(...DATES),
    'if-unmodified-since': maybe(...DATES),
    'x-set-before': maybe('yes'),
    'accept-encoding': maybe(...CODINGS)
  })
})

/** Conditions, ranges and codings in any combination. */
function drawn(seed: number): Request[] {
  const numRuns = cases(40, 20_000)
  return fc.sample(DRAWN, { numRuns, seed }).map(({ path, method, headers }) => {
    const given = Object.entries(headers).filter(([, value]) => value !== undefined)
    return [path, { method, headers: Object.fromEntries(given) }]
  })
}

const EDITED = words(`/a.css /static/app.js /static/new.js /build/v.txt /assets/source.css
  /up/a.txt`)

const lead = isWindows ? () => undefined : leadLink

/** What happens to the files while the sites run; each time the paths above are asked for. */
const EDITS: Readonly<Record<string, (root: string) => void>> = {
  'a file that is added': root => writeFiles(root, { 'build/app/new.js': 'one' }),
  'one that is replaced': root => writeFiles(root, { 'build/app/new.js': 'two' }),
  'one of the same size and mtime'(root) {
    writeFiles(root, { 'build/next.js': 'old' })
    utimesSync(join(root, 'build/next.js'), THEN, THEN)
    renameSync(join(root, 'build/next.js'), join(root, 'build/app/new.js'))
  },
  'one that is removed': root => rmSync(join(root, 'build/app/new.js')),
  'copies that are older than their file': root => utimesSync(join(root, 'public/a.css'), 2e9, 2e9),
  'a copy that is gone': root => rmSync(join(root, 'build/app/app.js.br')),
  'a source that is edited': root => writeFiles(root, { [SOURCE]: 'new{}' }),
  'a target that is removed': root => rmSync(join(root, TARGET), { force: true }),
  'a directory that is made': root => writeFiles(root, { 'data/uploads/a.txt': 'up' }),
  'a link that leads elsewhere': root => lead(join(root, 'current'), 'builds/2'),
  'a link that leads out': root => lead(join(root, 'current'), '..'),
  'a mount that is gone': root => renameSync(join(root, 'build/app'), join(root, 'build/old')),
  'a mount that comes back': root => renameSync(join(root, 'build/old'), join(root, 'build/app'))
}

for (const [where, environment] of ENVIRONMENTS) {
  test(`every way of sending gives the same responses, also after edits, ${where}`, async t => {
    const root = makeProject(t, FILES)
    lead(join(root, 'current'), 'builds/1')
    for (const path of Object.keys(FILES)) utimesSync(join(root, path), THEN, THEN)
    const sites = await Promise.all(
      ALL.filter((_, at) => at % cases(3, 1) === 0).map(async ([way, options]) => ({
        way,
        ...(await makeAsked(t, { ...environment, ...OPTIONS, ...options, root }))
      }))
    )
    const statuses = new Set<number>()
    const check = async ([path, question = {}]: Request, when = '') => {
      const isAsked = ({ hasHead = true }) => hasHead || question.method !== 'HEAD'
      const [first, ...others] = sites.filter(isAsked)
      const expected = await first?.ask(path, question)
      if (expected) statuses.add(expected.status)
      await Promise.all(
        others.map(async ({ way, ask }) => {
          const about = `${JSON.stringify([path, question])}, ${way} ${when}`
          t.deepEqual(await ask(path, question), expected, about)
        })
      )
    }
    for (const asked of REQUESTS) await check(asked)
    const seen = [...statuses].toSorted((a, b) => a - b)
    t.deepEqual(seen, [200, 204, 206, 301, 304, 400, 404, 405, 410, 412, 416, 500])
    const seed = Date.now()
    await inParallel(drawn(seed), 8, asked => check(asked, `seed ${seed}`))
    for (const [when, edit] of Object.entries(EDITS)) {
      edit(root)
      const headers = { 'accept-encoding': 'br, gzip' }
      for (const path of EDITED) await check([path, { headers }], when)
    }
    const [count] = sites.map(({ errors }) => errors.length)
    for (const { way, errors } of sites)
      t.true(way.includes('Koa 2, over') || errors.length === count, `${way}: ${errors.join()}`)
  })
}

async function makeAsked(t: ExecutionContext, { isHttp2 = false, ...options }: Way) {
  const site = await makeSite(t, {}, options)
  const [respond] = site.server.listeners('request') as [RequestListener]
  site.server.removeAllListeners('request').on('request', (req, res) => {
    setBefore(req, res)
    respond(req, res)
  })
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  const send = isHttp2
    ? await overHttp2(t, site.app.callback())
    : (path: string, question: Question) => site.ask(path, { ...question, agent })
  const ask = async (path: string, { method = 'GET', headers = {} }: Question) => {
    const fields = Object.entries(headers)
    const negotiated = fields.filter(([name]) => /^(?:accept-|available-)/.test(name))
    const { etag = '' } = JSON.stringify(headers).includes('{etag}')
      ? (await send(path, { headers: Object.fromEntries(negotiated) })).headers
      : {}
    const own = fields.map(([name, value]) => [name, String(value).replace('{etag}', etag)])
    return comparable(await send(path, { method, headers: Object.fromEntries(own) }), etag)
  }
  return { ask, errors: site.errors, hasHead: !isHttp2 || options.koa === undefined }
}

async function overHttp2(t: ExecutionContext, answer: ReturnType<SiteApp['callback']>) {
  const server = createServer((req, res) => {
    if (req.headers['x-set-before']) setBefore(req as never, res as never)
    void answer(req, res)
  })
  const session = connect(`http://127.0.0.1:${await open(t, server)}`)
  t.teardown(() => session.destroy())
  return (path: string, question: Question) => askSession(session, path, question)
}

type SiteApp = Awaited<ReturnType<typeof makeSite>>['app']

/** Without what differs from site to site, or between the versions of HTTP. */
function comparable({ status, headers, text, bytes }: Answer, etag: string) {
  const { date, connection: _, 'keep-alive': __, 'server-timing': ___, ...fields } = headers
  // Koa's own text of a status.
  const isKoas = text === STATUS_CODES[status] || text === String(status)
  if (isKoas) delete fields['content-length']
  if (fields.etag === etag) fields.etag = '{etag}'
  else if (fields.etag) fields.etag = fields.etag.replace(/^"[^"]+"$/, 'strong')
  const body = isKoas ? '' : bytes.toString('latin1')
  // Without the symbols of HTTP/2.
  const named = Object.fromEntries(Object.entries(fields))
  return { status, fields: named, hasDate: date !== undefined, body }
}

test('a listener that the server gets after the application may set a field of each response', async t => {
  const options = { env: 'production', fingerprint: false, root: makeProject(t, FILES) }
  const site = await makeSite(t, {}, options)
  site.server.on('request', (_, res: ServerResponse) => void res.setHeader('X-Late', 'yes'))
  for (const path of ['/a.css', '/a.css', '/logo.png', '/logo.png', '/assets/none.css'])
    t.is((await site.ask(path)).headers['x-late'], 'yes', path)
})
