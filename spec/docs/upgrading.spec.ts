// docs/upgrading.md: each row is a small project of 1.1. What the last cell of a row quotes is what happens to it, and
// what the row says to write works.
import { Readable } from 'node:stream'
import { readFileSync } from 'node:fs'
import { test, type ExecutionContext } from '../support/test.ts'
import { AssetError, PrecompileError } from '../../lib/runtime/errors.ts'
import { koaAssets, type KoaAssetsOptions } from '../../lib/koa-assets.ts'
import type { HttpCacheOptions } from '../../lib/koa-http-cache.ts'
import { installWithout, run as runCommand } from '../publishing/cli/run.ts'
import { openRoute } from '../support/cached-site.ts'
import { evaluate } from '../support/examples.ts'
import { makeFingerprinted, placed, readManifest, run } from '../support/fingerprinted.ts'
import { png } from '../support/images.ts'
import { makeProject, makeSite, type Files } from '../support/site.ts'

/** The code in each of the three cells of a row. */
type Row = readonly [had: readonly string[], now: readonly string[], told: readonly string[]]

const codes = (cell = '') => Array.from(cell.matchAll(/`([^`]+)`/g), ([, text = '']) => text)
const page = readFileSync('docs/upgrading.md', 'utf8')

/** The rows of the page by their first cell. */
const ROWS = new Map(
  Array.from(page.matchAll(/^\| (?!you have|---)(.*) \| (.*) \| (.*) \|$/gm), found => [
    found[1] ?? '',
    [codes(found[1]), codes(found[2]), codes(found[3])]
  ]) as [string, Row][]
)

/** Gets the first code of "you have" and of "write"; gives back what happens to the former. */
type Case = (t: ExecutionContext, had: string, now: string, row: Row) => Promise<string> | string

const optionsIn = (code: string) => evaluate(`return { ${code} }`, {}) as KoaAssetsOptions
const packageJson = (main: string, rest = {}) =>
  JSON.stringify({ name: 'tip', version: '1.0.0', main, ...rest })

const TIP: Files = {
  '/node_modules/tip/package.json': packageJson('dist/tip.cjs', { module: 'dist/tip.esm.js' }),
  '/node_modules/tip/dist/tip.cjs': 'exports.tip = 1',
  '/node_modules/tip/dist/tip.esm.js': 'export const tip = 1',
  'javascripts/app.js': "import { tip } from 'tip'\nconsole.log(tip)"
}
const PACKAGES = { packages: ['tip'] }

const told = (error: unknown) =>
  error instanceof AssetError ? `${error.code}: ${error.message}` : String(error)

/** What a precompile says: the names that it published, or what it found. */
async function built(t: ExecutionContext, files: Files, options: KoaAssetsOptions = {}) {
  const root = makeProject(t, placed(files))
  try {
    await run({ root, ...options })
  } catch (error) {
    return error instanceof PrecompileError ? error.problems.map(told).join('\n') : told(error)
  }
  return Object.keys(readManifest(root).assets).join('\n')
}

/** What a view writes in production, or the error that it gets. */
async function rendered(t: ExecutionContext, files: Files, view: string, options = {}) {
  const site = await makeFingerprinted(t, 'precompiled', files, options)
  return site.render(assets => evaluate(`return ${view}`, { assets }) as string).catch(told)
}

/** What starting a server with these options says. */
function started(t: ExecutionContext, code: string): string {
  const root = makeProject(t, { 'assets/app.css': '', 'lib/a.js': '', 'docs/a.txt': '' })
  const production = { env: 'production', fingerprint: false, compile: true }
  try {
    koaAssets({ root, serve: true, ...production, ...optionsIn(code) })
  } catch (error) {
    return told(error)
  }
  return 'started'
}

const options: Case = (t, had, now) => {
  t.is(started(t, now), 'started')
  return started(t, had)
}

/** What a route with this code sends, and what is reported. */
async function sent(t: ExecutionContext, code: string, given: HttpCacheOptions = {}, headers = {}) {
  const names = {
    seconds: 1_714_557_600,
    book: 1,
    etagOf: (id: number) => Promise.resolve(`${id}`)
  }
  const route = async (ctx: { body: unknown }) => {
    ctx.body = 'page'
    const stream = Readable.from(['page'])
    await evaluate(`return (async () => { ${code} })()`, { ...names, ctx, stream })
  }
  const site = await openRoute(t, route, given)
  const { status, headers: fields } = await site.get(headers)
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${String(value)}`)
  return [String(status), ...lines, ...site.errors.map(told)].join('\n')
}

const SHARED = { cacheControl: 'public, max-age=60' }
const PUBLIC = 'cache-control: public, max-age=60'

const route =
  (expected: string): Case =>
  async (t, had, now) => {
    t.true((await sent(t, now)).includes(expected))
    return sent(t, had)
  }

/** A default, in a row whose second cell has what a route writes for itself. */
const byDefault =
  (code: string, expected = PUBLIC, headers = {}): Case =>
  async (t, _, now) => {
    const own = await sent(t, `${code}; ${now}`, SHARED, headers)
    t.true(own.includes(expected), own)
    return sent(t, code, SHARED, headers)
  }

const CASES: Readonly<Record<string, Case>> = {
  "`packages: ['tip']`, without Rolldown": async (t, had, now) => {
    const config = `export default { ${had} }`
    const root = makeProject(t, placed({ ...TIP, '/assets.config.mjs': config }))
    const { stderr } = await installWithout(root, 'rolldown')('precompile')
    t.regex(await built(t, TIP, PACKAGES), /app\.js/)
    t.true(stderr.includes(now), stderr)
    return stderr
  },
  "`assets.path('npm/tip/dist/tip.esm.js')`": async (t, had, now) => {
    const views = { views: 'views/*.ejs', ...PACKAGES }
    const files = { ...TIP, '/views/a.ejs': `<%- ${now} %>` }
    t.regex(await rendered(t, files, now, views), /\/npm\/tip-\w+\.js$/)
    return rendered(t, files, had, views)
  },
  "`imports: { tip: 'npm/tip/dist/tip.esm.js' }`": async (t, had, now) => {
    for (const main of ['dist/tip.cjs', 'dist/tip.esm.js']) {
      const files = { ...TIP, '/node_modules/tip/package.json': packageJson(main) }
      t.regex(await built(t, files, optionsIn(now)), /app\.js/)
    }
    return built(t, TIP, { ...PACKAGES, ...optionsIn(had) })
  },
  "`imports: { other: 'npm/tip/dist/tip.esm.js' }`, for another name": async (t, had, now) => {
    for (const imported of ['', "import { tip } from 'other'\nconsole.log(tip)"]) {
      const files = { ...TIP, 'javascripts/app.js': imported }
      t.regex(await built(t, files, { ...PACKAGES, ...optionsIn(now) }), /app\.js/)
    }
    return built(t, TIP, { ...PACKAGES, ...optionsIn(had) })
  },
  "a list of the URLs of packages' files": async (t, _, now) => {
    const files = { ...TIP, '/node_modules/tip/package.json': packageJson('dist/tip.cjs') }
    const single = await built(t, files, { ...PACKAGES, ...optionsIn(now) })
    t.regex(single, /^\/assets\/npm\/tip\.js$/m)
    return built(t, files, PACKAGES)
  },
  "`importMap({ entry: 'app' })`, and a view whose own script imports `tip`": async (
    t,
    had,
    now
  ) => {
    const map = (code: string) =>
      rendered(t, TIP, `assets.${code} + 'tip'`, { ...PACKAGES, bundle: false })
    t.regex(await map(now), /"tip":"\/assets\/npm\/tip-/)
    t.notRegex(await map(had), /"tip"/)
    return map(had)
  },
  "`import 'tip'`, where nothing maps it": async (t, had) => {
    const files = { ...TIP, 'javascripts/app.js': had }
    const imports = { tip: 'https://cdn.example/tip.js' }
    for (const given of [PACKAGES, { imports }, { missing: 'warn' } as const])
      t.regex(await built(t, files, given), /^\/assets\/app\.js$/m)
    return built(t, files)
  },
  "`import './look.css'` (or JSON)": async (t, had, now) => {
    const files = { 'look.css': 'p {}', 'books.json': '{}' }
    const app = (code: string) => built(t, { ...files, 'app.js': `${code}\nconsole.log(1)` })
    t.regex(await app(now), /^\/assets\/app\.js$/m)
    t.regex(await app("import books from './books.json'"), /reference-missing/)
    return app(had)
  },
  "`import url from './a.svg?url'`": async (t, had, now) => {
    const app = (code: string) => built(t, { 'a.svg': '<svg/>', 'app.js': `${code}\nf(url)` })
    t.regex(await app(`const url = ${now}`), /^\/assets\/app\.js$/m)
    return app(had)
  },
  'JSX, and `"jsx": "react-jsx"` in `tsconfig.json`': async (t, had, now) => {
    const files = {
      '/tsconfig.json': `{ "compilerOptions": { ${had} } }`,
      '/node_modules/react/package.json': '{ "name": "react", "version": "1.0.0" }',
      '/node_modules/react/jsx-runtime.js': 'exports.jsx = () => 1',
      'app.js.tsx': 'console.log(<p/>)'
    }
    t.regex(await built(t, files, optionsIn(now)), /^\/assets\/app\.js$/m)
    return built(t, files)
  },
  '`money.mts` or `money.cts`, as they are': async (t, mts, now, [names]) => {
    for (const name of names)
      t.regex(await rendered(t, { [name]: 'const a: 1 = 1' }, now), /money-\w+\.js$/)
    return rendered(t, { [mts]: '' }, `assets.path('${mts}')`)
  },
  '`apps/web/assets/images/admin/x.svg`, beside the app `admin`': async (t, had) => {
    const admin = { '/apps/admin/assets/a.css': '' }
    t.regex(await built(t, { ...admin, 'images/back/x.svg': '<svg/>' }), /back\/x\.svg/)
    return built(t, { ...admin, [`/${had}`]: '<svg/>' })
  },
  'a folder named `-` in the assets': async t => {
    const names = await built(t, { '-/live.js': '', 'app.js': '' })
    t.is(names, '/assets/app.js')
    return names
  },
  "`sources: { dir: 'lib', at: '-/lib' }`": options,
  "`sources: { dir: 'lib', exclude: '../private' }`": options,
  "`sources: { dir: 'lib', exclude: '/private/' }`": async (t, had) => {
    const files = { 'a.css': '', '/apps/web/lib/private/b.css': '', '/apps/web/lib/c.css': '' }
    const names = await built(t, files, optionsIn(had))
    t.is(names, '/assets/a.css\n/assets/c.css')
    return names
  },
  '`configure: { prodction: { fingerprint: true } }`': options,
  "`mounts: { '/docs': { dir: 'docs', cacheControl: 'max-age: 60' } }`": options,
  "`fallback: 'index.html'`, and an API that Node's `fetch` calls below it": async (
    t,
    had,
    now
  ) => {
    const headers = { accept: '*/*', 'sec-fetch-mode': 'cors' }
    for (const [code, expected] of [
      [had, 200],
      [now, 404]
    ] as const) {
      const given: object = { apps: false, mounts: { '/': { dir: 'dist', ...optionsIn(code) } } }
      const site = await makeSite(t, { '/dist/index.html': 'page' }, given)
      t.is((await site.ask('/api/none', { headers })).status, expected)
    }
    return ''
  },
  '`host`, and pages of another machine in development': async (t, _, now) => {
    const headers = { origin: 'http://phone.lan:3000' }
    const fieldOf = async (given: KoaAssetsOptions) => {
      const site = await makeSite(t, { 'a.css': '' }, { host: 'https://cdn.example', ...given })
      return (await site.ask('/assets/a.css', { headers })).headers['access-control-allow-origin']
    }
    t.is(await fieldOf(optionsIn(now)), headers.origin)
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
  "`assets.video('a.mp4', { tracks: [{ src: 'a.vtt' }] })`": async (t, had, now) => {
    const files = { 'a.mp4': '', 'a.vtt': '' }
    t.regex(await rendered(t, files, now), /<track src="\/assets\/a-\w+\.vtt">/)
    const said = await rendered(t, files, had)
    t.regex(said, /^TypeError: .*tracks/)
    return said
  },
  "`assets.audio('a.mp3', { content: 'None' })`": async (t, had, now) => {
    t.regex(await rendered(t, { 'a.mp3': '' }, now), /^<audio src="[^"]+">None<\/audio>$/)
    return rendered(t, { 'a.mp3': '' }, had)
  },
  "`views: 'views/*.ejs'`, several apps, and `assets.path('x.css')` of one": async (
    t,
    views,
    now,
    [[, call = ''], [, folder = '']]
  ) => {
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
    t.regex(await verified('views/a.ejs', now), /^0 /)
    t.regex(await verified(`${folder}/views/a.ejs`, call), /^0 /)
    return `verify: ${await verified('views/a.ejs', call)}`
  },
  "`assets.image('logo.png')`, and `img { max-width: 100% }`": async (t, had) => {
    const files = { 'logo.png': png(320, 80) }
    const without = await rendered(t, files, "assets.image('logo.png', { width: false })")
    t.notRegex(without, /width|height/)
    return rendered(t, files, had)
  },
  "`assets.javascript('app', { type: 'module' })`, and links to what it imports": async (
    t,
    had
  ) => {
    const files = { 'app.js': "import './a.js'", 'a.js': 'console.log(1)' }
    const without = had.replace(' })', ', modulepreload: false })')
    t.notRegex(await rendered(t, files, without, { bundle: false }), /<link/)
    return rendered(t, files, had, { bundle: false })
  },
  '`await ctx.fresh({ lastModified: seconds })`': route(
    'last-modified: Wed, 01 May 2024 10:00:00 GMT'
  ),
  '`await ctx.fresh(etagOf(book))`, a promise': route('etag: "1"'),
  "`await ctx.fresh('2024-05-01T10:00:00Z')`, as an ETag": route('etag: "2024-05-01T10:00:00Z"'),
  "`ctx.cacheControl = 'no-store'`": route('cache-control: no-store'),
  "`ctx.cacheControl('public', { maxAge: 60 }); ctx.status = 404`": route(PUBLIC),
  "`ctx.etag = 'a'`, with `autoEtag`": (t, had) =>
    sent(t, had, { autoEtag: true }, { 'if-none-match': '"a"' }),
  'a default for every page': async (t, _, now) => {
    const given = { ...SHARED, ...(optionsIn(now) as HttpCacheOptions) }
    t.notRegex(await sent(t, '', given), /^vary/m)
    return sent(t, '', SHARED)
  },
  'a visitor with `Authorization` or a cookie that was read': async (t, ...row) => {
    const expected = 'cache-control: private, max-age=60'
    const withField = await byDefault('', expected, { authorization: 'Bearer a' })(t, ...row)
    const withCookie = await byDefault("ctx.cookies.get('a')", expected)(t, ...row)
    t.regex(withCookie, /private, no-cache/)
    return `${withField}; it was private, max-age=60`
  },
  '`ctx.body = stream`': byDefault('ctx.body = stream'),
  'a nonce in the Content-Security-Policy': byDefault(
    "ctx.set('Content-Security-Policy', \"script-src 'nonce-a'\")"
  )
}

test('every row of docs/upgrading.md is a case here', t => {
  t.deepEqual([...ROWS.keys()], Object.keys(CASES))
})

for (const [cell, row] of ROWS) {
  test(`of 1.1: ${cell}`, async t => {
    const [[had = ''], [now = ''], told] = row
    const observed = await CASES[cell]?.(t, had, now, row)
    for (const quoted of told) t.true(observed?.includes(quoted), `${quoted}: ${observed}`)
  })
}
