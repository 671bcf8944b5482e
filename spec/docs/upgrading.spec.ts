// docs/upgrading.md: each row is a small project of 1.1. What the last cell of a row quotes is what happens to it, and
// what the row says to write works.
import { Readable } from 'node:stream'
import { readFileSync } from 'node:fs'
import { test, type ExecutionContext } from '../support/test.ts'
import type { Context } from 'koa'
import { AssetError, PrecompileError } from '../../lib/runtime/errors.ts'
import { koaAssets, type KoaAssetsOptions } from '../../lib/koa-assets.ts'
import type { HttpCacheOptions } from '../../lib/koa-http-cache.ts'
import type { ViewHelpers } from '../../lib/runtime/views/view-helpers.ts'
import { installWithout, run as runCommand } from '../publishing/cli/run.ts'
import { openRoute } from '../support/cached-site.ts'
import { evaluate } from '../support/examples.ts'
import { makeFingerprinted, placed, readManifest, run } from '../support/fingerprinted.ts'
import { png } from '../support/images.ts'
import { makeProject, makeSite, type Files } from '../support/site.ts'

const page = readFileSync('docs/upgrading.md', 'utf8')

/** The rows of the page by their first cell. */
const ROWS = new Map(
  Array.from(
    page.matchAll(/^\| (.*) \| (.*) \| (.*) \|$/gm),
    ([, had = '', now = '', told = '']) => [had, { had, now, told }]
  ).filter(([had]) => had !== 'you have' && had !== '---') as Array<[string, Row]>
)

interface Row {
  readonly had: string
  readonly now: string
  readonly told: string
}

const codes = (cell: string) => Array.from(cell.matchAll(/`([^`]+)`/g), ([, text = '']) => text)
const optionsIn = (cell: string) => evaluate(`return { ${codes(cell)[0]} }`, {}) as KoaAssetsOptions

const TIP: Files = {
  '/node_modules/tip/package.json': JSON.stringify({
    name: 'tip',
    version: '1.0.0',
    main: 'dist/tip.cjs',
    module: 'dist/tip.esm.js'
  }),
  '/node_modules/tip/dist/tip.cjs': 'exports.tip = 1',
  '/node_modules/tip/dist/tip.esm.js': 'export const tip = 1'
}
const APP: Files = { 'javascripts/app.js': "import { tip } from 'tip'\nconsole.log(tip)" }
const PACKAGES = { packages: ['tip'] }

/** What a precompile says: the names that it published, or what it found. */
async function built(t: ExecutionContext, files: Files, options: KoaAssetsOptions = {}) {
  const root = makeProject(t, placed(files))
  try {
    await run({ root, ...options })
  } catch (error) {
    if (!(error instanceof PrecompileError)) return told(error)
    return error.problems.map(told).join('\n')
  }
  return Object.keys(readManifest(root).assets).join('\n')
}

const told = (error: unknown) =>
  error instanceof AssetError ? `${error.code}: ${error.message}` : String(error)

/** What a view writes in production, or the error that it gets. */
async function rendered(
  t: ExecutionContext,
  files: Files,
  view: string | ((assets: ViewHelpers) => string),
  options: KoaAssetsOptions = {}
) {
  const site = await makeFingerprinted(t, 'precompiled', files, options)
  const write = (assets: ViewHelpers) =>
    typeof view === 'string' ? (evaluate(`return ${view}`, { assets }) as string) : view(assets)
  return site.render(write).catch(told)
}

/** What starting a server with the options of a cell says. */
function started(t: ExecutionContext, cell: string): string {
  const root = makeProject(t, { 'assets/app.css': '', 'lib/a.js': '', 'docs/a.txt': '' })
  try {
    koaAssets({
      root,
      serve: true,
      env: 'production',
      fingerprint: false,
      compile: true,
      ...optionsIn(cell)
    })
  } catch (error) {
    return told(error)
  }
  return 'started'
}

/** What a route whose code is in a cell sends, in front and behind. */
async function sent(
  t: ExecutionContext,
  code: string,
  options: HttpCacheOptions = {},
  headers: Readonly<Record<string, string>> = {}
) {
  const site = await openRoute(
    t,
    async (ctx: Context) => {
      ctx.body = 'page'
      const names = {
        ctx,
        seconds: 1_714_557_600,
        book: 1,
        etagOf: (id: number) => Promise.resolve(`${id}`)
      }
      await evaluate(`return (async () => { ${code} })()`, {
        ...names,
        stream: Readable.from(['page'])
      })
    },
    options
  )
  const { status, headers: fields } = await site.get(headers)
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${String(value)}`)
  return [String(status), ...lines, ...site.errors.map(told)].join('\n')
}

const SHARED = { cacheControl: 'public, max-age=60' }
const PUBLIC = 'cache-control: public, max-age=60'

type Case = (t: ExecutionContext, row: Row) => Promise<string> | string

const options: Case = (t, { had, now }) => {
  t.is(started(t, now), 'started')
  return started(t, had)
}

const route =
  (expected: string, given: HttpCacheOptions = {}, headers = {}): Case =>
  async (t, { had, now }) => {
    t.true((await sent(t, codes(now)[0] ?? '', given, headers)).includes(expected))
    return sent(t, codes(had)[0] ?? '', given, headers)
  }

/** A default, in a row whose second cell has what a route writes for itself. */
const byDefault =
  (code: string, expected: string, headers = {}): Case =>
  async (t, { now }) => {
    const own = await sent(t, `${code}; ${codes(now)[0]}`, SHARED, headers)
    t.true(own.includes(expected), own)
    return sent(t, code, SHARED, headers)
  }

const CASES: Readonly<Record<string, Case>> = {
  "`packages: ['tip']`, without Rolldown": async (t, { had, now }) => {
    const config = `export default { ${codes(had)[0]} }`
    const root = makeProject(t, placed({ ...TIP, ...APP, '/assets.config.mjs': config }))
    const { stderr } = await installWithout(root, 'rolldown')('precompile')
    t.regex(await built(t, { ...TIP, ...APP }, PACKAGES), /app\.js/)
    t.true(stderr.includes(codes(now)[0] ?? '-'), stderr)
    return stderr
  },
  "`assets.path('npm/tip/dist/tip.esm.js')`": async (t, { had, now }) => {
    const views = { views: 'views/*.ejs', ...PACKAGES }
    const files = { ...TIP, ...APP, '/views/a.ejs': `<%- ${codes(now)[0]} %>` }
    t.regex(await rendered(t, files, codes(now)[0] ?? '', views), /\/npm\/tip-\w+\.js$/)
    return rendered(t, files, codes(had)[0] ?? '', views)
  },
  "`imports: { tip: 'npm/tip/dist/tip.esm.js' }`": async (t, { had, now }) => {
    for (const main of ['dist/tip.cjs', 'dist/tip.esm.js']) {
      const json = JSON.stringify({ name: 'tip', version: '1.0.0', main })
      const files = { ...TIP, ...APP, '/node_modules/tip/package.json': json }
      t.regex(await built(t, files, optionsIn(now)), /app\.js/)
    }
    return built(t, { ...TIP, ...APP }, { ...PACKAGES, ...optionsIn(had) })
  },
  "`imports: { other: 'npm/tip/dist/tip.esm.js' }`, for another name": async (t, { had, now }) => {
    for (const imported of ['', "import { tip } from 'other'\nconsole.log(tip)"]) {
      const files = { ...TIP, 'javascripts/app.js': imported }
      t.regex(await built(t, files, { ...PACKAGES, ...optionsIn(now) }), /app\.js/)
    }
    return built(t, { ...TIP, ...APP }, { ...PACKAGES, ...optionsIn(had) })
  },
  "a list of the URLs of packages' files": async (t, { now }) => {
    const json = JSON.stringify({ name: 'tip', version: '1.0.0', main: 'dist/tip.cjs' })
    const files = { ...TIP, ...APP, '/node_modules/tip/package.json': json }
    const single = await built(t, files, { ...PACKAGES, ...optionsIn(now) })
    t.regex(single, /^\/assets\/npm\/tip\.js$/m)
    return built(t, files, PACKAGES)
  },
  "`importMap({ entry: 'app' })`, and a view whose own script imports `tip`": async (
    t,
    { had, now }
  ) => {
    const given = { ...PACKAGES, bundle: false }
    const view = (cell: string) => `assets.${codes(cell)[0]} + 'tip'`
    t.regex(await rendered(t, { ...TIP, ...APP }, view(now), given), /"tip":"\/assets\/npm\/tip-/)
    const map = await rendered(t, { ...TIP, ...APP }, view(had), given)
    t.notRegex(map, /"tip"/)
    return map
  },
  "`import 'tip'`, where nothing maps it": async (t, { had }) => {
    const files = { ...TIP, 'javascripts/app.js': codes(had)[0] ?? '' }
    for (const given of [
      PACKAGES,
      { imports: { tip: 'https://cdn.example/tip.js' } },
      { missing: 'warn' }
    ])
      t.regex(await built(t, files, given as KoaAssetsOptions), /^\/assets\/app\.js$/m)
    return built(t, files)
  },
  "`import './look.css'` (or JSON)": async (t, { had, now }) => {
    const files = (cell: string) => ({
      'app.js': `${codes(cell)[0]}\nconsole.log(1)`,
      'look.css': 'p {}'
    })
    t.regex(await built(t, files(now)), /^\/assets\/app\.js$/m)
    const json = { 'app.js': "import books from './books.json'", 'books.json': '{}' }
    t.regex(await built(t, json), /reference-missing/)
    return built(t, files(had))
  },
  'JSX, and `"jsx": "react-jsx"` in `tsconfig.json`': async (t, { had, now }) => {
    const files = {
      '/tsconfig.json': `{ "compilerOptions": { ${codes(had)[0]} } }`,
      '/node_modules/react/package.json': '{ "name": "react", "version": "1.0.0" }',
      '/node_modules/react/jsx-runtime.js': 'exports.jsx = () => 1',
      'app.js.tsx': 'console.log(<p/>)'
    }
    t.regex(await built(t, files, optionsIn(now)), /^\/assets\/app\.js$/m)
    return built(t, files)
  },
  '`money.mts` or `money.cts`, as they are': async (t, { had, now }) => {
    const [mts = '', cts = ''] = codes(had)
    for (const name of [mts, cts])
      t.regex(
        await rendered(t, { [name]: 'const a: 1 = 1' }, codes(now)[0] ?? ''),
        /money-\w+\.js$/
      )
    return rendered(t, { [mts]: '' }, `assets.path('${mts}')`)
  },
  '`apps/web/assets/images/admin/x.svg`, beside the app `admin`': async (t, { had }) => {
    const admin = { '/apps/admin/assets/a.css': '' }
    t.regex(await built(t, { ...admin, 'images/back/x.svg': '<svg/>' }), /back\/x\.svg/)
    return built(t, { ...admin, [`/${codes(had)[0]}`]: '<svg/>' })
  },
  'a folder named `-` in the assets': async t => {
    const names = await built(t, { '-/live.js': '', 'app.js': '' })
    t.is(names, '/assets/app.js')
    return names
  },
  "`sources: { dir: 'lib', at: '-/lib' }`": options,
  "`sources: { dir: 'lib', exclude: '../private' }`": options,
  "`sources: { dir: 'lib', exclude: '/private/' }`": async (t, { had }) => {
    const files = { 'a.css': '', '/apps/web/lib/private/b.css': '', '/apps/web/lib/c.css': '' }
    const names = await built(t, files, optionsIn(had))
    t.is(names, '/assets/a.css\n/assets/c.css')
    return names
  },
  '`configure: { prodction: { fingerprint: true } }`': options,
  "`mounts: { '/docs': { dir: 'docs', cacheControl: 'max-age: 60' } }`": options,
  "`fallback: 'index.html'`, and an API that Node's `fetch` calls below it": async (
    t,
    { had, now }
  ) => {
    const statusOf = async (cell: string) => {
      const mount = { dir: 'dist', ...optionsIn(cell) }
      const given: object = { apps: false, mounts: { '/': mount } }
      const site = await makeSite(t, { '/dist/index.html': 'page' }, given)
      return (await site.ask('/api/none', { headers: { accept: '*/*', 'sec-fetch-mode': 'cors' } }))
        .status
    }
    t.is(await statusOf(now), 404)
    t.is(await statusOf(had), 200)
    return ''
  },
  '`host`, and pages of another machine in development': async (t, { now }) => {
    const fieldOf = async (given: KoaAssetsOptions) => {
      const site = await makeSite(t, { 'a.css': '' }, { host: 'https://cdn.example', ...given })
      const { headers } = await site.ask('/assets/a.css', {
        headers: { origin: 'http://phone.lan:3000' }
      })
      return headers['access-control-allow-origin']
    }
    t.is(await fieldOf(optionsIn(now)), 'http://phone.lan:3000')
    t.is(await fieldOf({}), undefined)
    return 'access-control-allow-origin'
  },
  'a configuration that reads `NODE_ENV`, and `precompile` without it': async t => {
    const config = "export default { prefix: '/' + process.env.NODE_ENV }"
    const precompiled = async (line: string) => {
      const root = makeProject(t, { 'assets/a.css': '', 'assets.config.mjs': config })
      return (await runCommand(root, line)).stdout
    }
    t.regex(await precompiled('precompile --env staging'), /\+ \/staging\/a\.css/)
    return precompiled('precompile')
  },
  "`assets.video('a.mp4', { tracks: [{ src: 'a.vtt' }] })`": async (t, { had, now }) => {
    const files = { 'a.mp4': '', 'a.vtt': '' }
    t.regex(await rendered(t, files, codes(now)[0] ?? ''), /<track src="\/assets\/a-\w+\.vtt">/)
    const said = await rendered(t, files, codes(had)[0] ?? '')
    t.regex(said, /^TypeError: .*tracks/)
    return said
  },
  "`assets.audio('a.mp3', { content: 'None' })`": async (t, { had, now }) => {
    const files = { 'a.mp3': '' }
    t.regex(await rendered(t, files, codes(now)[0] ?? ''), /^<audio src="[^"]+">None<\/audio>$/)
    return rendered(t, files, codes(had)[0] ?? '')
  },
  "`views: 'views/*.ejs'`, several apps, and `assets.path('x.css')` of one": async (
    t,
    { had, now }
  ) => {
    const [views = '', call = ''] = codes(had)
    const verified = async (view: string, code: string) => {
      const root = makeProject(t, {
        'apps/web/assets/x.css': '',
        'apps/admin/assets/admin.css': '',
        [view]: `<%- ${code} %>`,
        'assets.config.mjs': `export default { ${views.replace('views/', '**/')} }`
      })
      await runCommand(root, 'precompile')
      const { status, stdout, stderr } = await runCommand(root, 'verify')
      return `${status} ${stdout}${stderr}`
    }
    t.regex(await verified('views/a.ejs', codes(now)[0] ?? ''), /^0 /)
    t.regex(await verified(`${codes(now)[1]}/views/a.ejs`, call), /^0 /)
    return `verify: ${await verified('views/a.ejs', call)}`
  },
  "`assets.image('logo.png')`, and `img { max-width: 100% }`": async (t, { had }) => {
    const files = { 'logo.png': png(320, 80) }
    const without = await rendered(t, files, assets => assets.image('logo.png', { width: false }))
    t.notRegex(without, /width|height/)
    return rendered(t, files, codes(had)[0] ?? '')
  },
  "`assets.javascript('app', { type: 'module' })`, and links to what it imports": async (
    t,
    { had }
  ) => {
    const files = { 'app.js': "import './a.js'", 'a.js': 'console.log(1)' }
    const given = { bundle: false }
    const without = await rendered(
      t,
      files,
      assets => assets.javascript('app', { type: 'module', modulepreload: false }),
      given
    )
    t.notRegex(without, /<link/)
    return rendered(t, files, codes(had)[0] ?? '', given)
  },
  '`await ctx.fresh({ lastModified: seconds })`': route(
    'last-modified: Wed, 01 May 2024 10:00:00 GMT'
  ),
  '`await ctx.fresh(etagOf(book))`, a promise': route('etag: "1"'),
  "`await ctx.fresh('2024-05-01T10:00:00Z')`, as an ETag": route('etag: "2024-05-01T10:00:00Z"'),
  "`ctx.cacheControl = 'no-store'`": route('cache-control: no-store'),
  "`ctx.cacheControl('public', { maxAge: 60 }); ctx.status = 404`": route(PUBLIC),
  "`ctx.etag = 'a'`, with `autoEtag`": async (t, { had }) =>
    sent(t, codes(had)[0] ?? '', { autoEtag: true }, { 'if-none-match': '"a"' }),
  'a default for every page': async (t, { now }) => {
    const given = { ...SHARED, ...(optionsIn(now) as HttpCacheOptions) }
    t.notRegex(await sent(t, '', given), /^vary/m)
    return sent(t, '', SHARED)
  },
  'a visitor with `Authorization` or a cookie that was read': async (t, row) => {
    const expected = 'cache-control: private, max-age=60'
    const withField = await byDefault('', expected, { authorization: 'Bearer a' })(t, row)
    const withCookie = await byDefault("ctx.cookies.get('a')", expected)(t, row)
    t.regex(withCookie, /private, no-cache/)
    return `${withField}; it was private, max-age=60`
  },
  '`ctx.body = stream`': byDefault('ctx.body = stream', PUBLIC),
  'a nonce in the Content-Security-Policy': byDefault(
    "ctx.set('Content-Security-Policy', \"script-src 'nonce-a'\")",
    PUBLIC
  )
}

test('every row of docs/upgrading.md is a case here', t => {
  t.deepEqual([...ROWS.keys()], Object.keys(CASES))
})

for (const row of ROWS.values()) {
  test(`of 1.1: ${row.had}`, async t => {
    const observed = await CASES[row.had]?.(t, row)
    for (const quoted of codes(row.told))
      t.true(observed?.includes(quoted), `${quoted}: ${observed}`)
  })
}
