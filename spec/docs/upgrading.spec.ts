// docs/upgrading.md: each row is a small project of 2.0. What the last cell of a row quotes is what happens to it, and
// what the row says to write works.
import { subscribe } from 'node:diagnostics_channel'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Middleware } from 'koa'
import { AssetError, PrecompileError } from '../../lib/runtime/errors.ts'
import type { KoaAssetsOptions } from '../../lib/koa-assets.ts'
import { run as runCommand } from '../publishing/cli/run.ts'
import { openRoute } from '../support/cached-site.ts'
import { evaluate } from '../support/examples.ts'
import { filesBelow, makeFingerprinted, makeProject, makeSite } from '../support/index.ts'
import { ONE_BY_ONE, placed, readManifest, run, test, writeFiles } from '../support/index.ts'
import type { ExecutionContext, Files, SiteOptions } from '../support/index.ts'

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>'

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

const DEPENDS = '{ "dependencies": { "tip": "*", "react": "*" } }'
const TIP: Files = {
  '/package.json': DEPENDS,
  '/node_modules/tip/package.json': packageJson('tip.js'),
  '/node_modules/tip/tip.js': 'export const tip = 1',
  'app.js': "import { tip } from 'tip'\nconsole.log(tip)"
}

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

/** What a browser gets of a file in development, and what is reported of it. */
async function sentFile(t: ExecutionContext, files: Files, path: string, given: SiteOptions = {}) {
  const site = await makeSite(t, files, given)
  const { status, text, headers } = await site.ask(path)
  return [status, text, JSON.stringify(headers), ...site.errors.map(told)].join('\n')
}

/** The same of a file of a mount with this code among its options. */
const mounted = (t: ExecutionContext, path: string, code: string, given: SiteOptions = {}) => {
  const mounts = { '/m': { dir: 'site', ...(optionsIn(code) as object) } }
  return sentFile(t, { [`/site/${path}`]: 'a' }, `/m/${path}`, { ...given, apps: false, mounts })
}

/** What a route with this code sends behind a default, and what is reported. */
async function sent(t: ExecutionContext, code: string) {
  const run = async (ctx: { body: unknown }) => {
    ctx.body = 'page'
    await evaluate(`return (async () => { ${code} })()`, { ctx })
  }
  const site = await openRoute(t, run, { cacheControl: 'public, max-age=60' })
  const { status, headers } = await site.get({})
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`)
  return [String(status), ...lines, ...site.errors.map(told)].join('\n')
}

/** Behind a default; what the row says to write comes after what there was. */
const route: Case = async (t, had, now) => {
  const own = await sent(t, `${had}; ${now}`)
  t.true(own.includes('cache-control: public, max-age=60'), own)
  return sent(t, had)
}

const CASES: Readonly<Record<string, Case>> = {
  "`import './gone.js'` or `url(gone.svg)`, in development": async (t, had, now, [[, url]]) => {
    const files = { 'app.js': had, 'app.css': `a { background: ${url} }` }
    for (const name of Object.keys(files))
      t.regex(await sentFile(t, files, `/assets/${name}`, optionsIn(now)), /^200/)
    t.regex(await sentFile(t, files, '/assets/app.css'), /^500.*reference-missing/s)
    return sentFile(t, files, '/assets/app.js')
  },
  "`new URL('gone.svg', import.meta.url)`, with `fingerprint: false`": (t, had, _, [[, given]]) =>
    built(t, { 'app.js': had }, optionsIn(given ?? '')),
  "`import 'tip'`, a dependency that the page's own import map names": async (t, _, now) => {
    t.is(await built(t, TIP, optionsIn(now)), '/assets/app.js')
    return built(t, TIP, ONE_BY_ONE)
  },
  "`assets.path('part.js')`, which a module imports, in a view elsewhere": async (
    t,
    had,
    _,
    [, options]
  ) => {
    const files = {
      'app.js': "import './part.js'",
      'part.js': 'console.log(1)',
      '/pages/a.ejs': `<%- ${had} %>`
    }
    for (const given of options)
      t.regex(await rendered(t, files, had, { bundle: true, ...optionsIn(given) }), /part-/)
    return rendered(t, files, had, { bundle: true })
  },
  'JSX for a global `React`, without `jsx` in `tsconfig.json`': async (t, _, now) => {
    const files = {
      '/package.json': DEPENDS,
      '/node_modules/react/package.json': '{ "name": "react", "version": "1.0.0" }',
      '/node_modules/react/jsx-runtime.js': 'exports.jsx = () => 1',
      'app.js.tsx': 'console.log(<p/>)'
    }
    const config = { '/tsconfig.json': `{ "compilerOptions": { ${now} } }` }
    const classic = await sentFile(t, { ...files, ...config }, '/assets/app.js')
    t.regex(classic, /React\.createElement/)
    return sentFile(t, files, '/assets/app.js')
  },
  '`process.env.NODE_ENV` or `import.meta.env.MODE` of a script of your own': async (
    t,
    _,
    __,
    [names]
  ) => {
    for (const name of names) {
      const site = await makeFingerprinted(t, 'precompiled', { 'app.js': `f(${name})` })
      t.is((await site.text('app.js')).trim(), 'f("production")')
    }
    return '"production"'
  },
  'a package whose field `browser` leads out of it, or to `.env`': async t => {
    for (const browser of ['../../secret.js', './.env']) {
      const files = { '/secret.js': 'export {}', '/node_modules/tip/.env': 'export {}' }
      const packed = { '/node_modules/tip/package.json': packageJson('tip.js', { browser }) }
      t.regex(await built(t, { ...TIP, ...files, ...packed }), /package-unusable/)
    }
    return 'package-unusable'
  },
  '`minify: true`, and source maps for everybody': async (t, had, now, [, , [folder = '']]) => {
    const places = async (given: object) => {
      const root = makeProject(t, placed({ 'app.js': 'console.log( 1 )' }))
      await run({ root, ...optionsIn(had), ...given })
      return filesBelow(root).filter(path => path.endsWith('.map'))
    }
    const maps = await places(optionsIn(now))
    t.true(maps.length > 0 && maps.every(path => path.startsWith('public/assets/')))
    const hidden = await places({})
    t.true(hidden.length > 0 && hidden.every(path => path.startsWith(`${folder}/`)))
    return folder
  },
  'SVG files in `icons` that no page contains': async (t, _, now) => {
    const written = async (given: object) => {
      const root = makeProject(t, placed({ 'images/icons/a.svg': SVG }))
      await run({ root, ...given })
      return JSON.stringify(readManifest(root))
    }
    t.notRegex(await written(optionsIn(now)), /"svg"/)
    return written({})
  },
  '`<image HREF="https://cdn.example/a.png"/>` in a file of `inline`': async (t, had, now) => {
    const files = { 'images/icons/a.svg': SVG.replace('/>', `>${had}</svg>`) }
    t.regex(await rendered(t, files, now), /^<img /)
    return rendered(t, files, "assets.inline('icons/a.svg')")
  },
  "`main-ABCDEFGH.js`, named by hand, the only script of esbuild's build": async (t, had, now) => {
    const metafile = {
      inputs: { 'src/main.js': { bytes: 1, imports: [] } },
      outputs: {
        [`dist/${had}`]: {
          entryPoint: 'src/main.js',
          inputs: {},
          imports: [],
          exports: [],
          bytes: 1
        }
      }
    }
    const files = { [`/dist/${had}`]: '1', '/dist/meta.json': JSON.stringify(metafile) }
    const asked = (given: object) => {
      const mounts = { '/static': { dir: 'dist', manifest: 'dist/meta.json', ...given } }
      const options = { env: 'production', apps: false, mounts } as const
      return sentFile(t, files, `/static/${had}`, options)
    }
    t.notRegex(await asked(optionsIn(now)), /immutable/)
    return asked({})
  },
  "`cacheControl: 'max-age=ten'` or `'maxage=60'` in a mount": async (t, had, now, [[, other]]) => {
    const asked = (code: string) => mounted(t, 'a.txt', code)
    t.regex(await asked(now), /"cache-control":"max-age=60"/)
    t.regex(await asked(`cacheControl: ${other}`).catch(told), /cacheControl must be directives/)
    return asked(had).catch(told)
  },
  "`prefix: '/a%20b'`": async (t, had, now) => {
    const asked = (code: string) => sentFile(t, { 'a.css': '' }, '/a%20b/a.css', optionsIn(code))
    t.regex(await asked(now), /^200/)
    return asked(had).catch(told)
  },
  "`exclude: 'privat'` in a mount with a folder `private`": async (t, had, now) => {
    t.regex(await mounted(t, 'private/a.txt', now), /^404/)
    return mounted(t, 'private/a.txt', had)
  },
  'a default of `koaHttpCache`, and `ctx.status = 404`': (t, ...row) =>
    route(t, 'ctx.status = 404', row[1], row[2]),
  "`ctx.body = { toJSON: () => ({ user: ctx.cookies.get('user') }) }`, with a default": route,
  "`ctx.type = 'text/plain'` in front of a mount": (t, had) => {
    const front: Middleware = (ctx, next) =>
      evaluate(`${had}; return next()`, { ctx, next }) as Promise<void>
    return mounted(t, 'a.html', '', { front })
  },
  "`headers['server-timing']` of a file, in development": async (t, had, now) => {
    const paths: string[] = []
    const tell = (message: unknown) => paths.push((message as { path: string }).path)
    evaluate(now, { subscribe, tell })
    const site = await makeSite(t, { 'upgraded.css': '' })
    const { headers } = await site.ask('/assets/upgraded.css')
    t.true(paths.includes('/assets/upgraded.css'))
    return String(evaluate(`return ${had}`, { headers }))
  }
}

/** These have the directory of the process, for their commands. */
const OF_COMMANDS: typeof CASES = {
  "`assets.stylesheeet('app')` in a view": async (t, had, now, [, , [, failure = '']]) => {
    const root = makeProject(t, { 'assets/app.css': '', 'views/a.ejs': `<%- ${had} %>` })
    const { status } = await runCommand(root, 'verify --views views/*.ejs')
    t.is(status, 0)
    t.regex(await rendered(t, { 'app.css': '' }, now), /^<link /)
    const said = await rendered(t, { 'app.css': '' }, had)
    t.true(said.includes(failure), said)
    return `verify: ${said}`
  },
  '`/assets/-/weight?entry=app` or `/assets/-/mounts` in development': async (
    t,
    _,
    __,
    [pages, commands]
  ) => {
    const files = { 'app.js': 'console.log(1)', '/docs/a.html': 'a' }
    const { root, ask } = await makeSite(t, files, { mounts: { '/docs': 'docs' } })
    const config = "module.exports = { mounts: { '/docs': 'docs' } }"
    writeFileSync(join(root, 'assets.config.cjs'), config)
    await run({ root })
    const expected = [/^\/assets\/app\.js, precompiled at /, /^\/docs +docs/m]
    for (const [at, command] of commands.entries()) {
      const { stdout } = await runCommand(root, command.replace('npx koa-fresh-assets ', ''))
      t.regex(stdout, expected[at] ?? /^$/)
    }
    return (await Promise.all(pages.map(async path => (await ask(path)).text))).join('\n')
  },
  '`list --entry app` before a precompile': async (t, had, now) => {
    const root = makeProject(t, placed({ 'app.js': 'console.log(1)' }))
    const { stderr } = await runCommand(root, had)
    t.is((await runCommand(root, now)).status, 0)
    t.is((await runCommand(root, had)).status, 0)
    return stderr
  },
  'the `visits` of `list --entry app --json`': async (t, had, _, [[, list = ''], members]) => {
    const root = makeProject(t, placed({ 'app.js': 'console.log(1)' }))
    await run({ root })
    const weight = JSON.parse((await runCommand(root, list)).stdout) as Record<string, unknown>
    for (const member of members) t.is(typeof weight[member], 'number', member)
    return String(weight[had])
  },
  'the `deltas` of `list --json`': async (t, had, now, [[, list = '']]) => {
    const root = makeProject(t, placed({ 'app.js': 'console.log(1)' }))
    await run({ root })
    writeFiles(root, placed({ 'app.js': 'console.log(2)' }))
    const json = async (command: string) =>
      JSON.parse((await runCommand(root, command)).stdout) as Record<string, unknown>
    t.true(had in (await json(now)))
    const [asset] = Object.values(await json(list)) as Record<string, unknown>[]
    return String(asset?.[had])
  },
  'the `usedBy` of `list --json`': async (t, had, _, [[, list = '']]) => {
    const manifest = JSON.stringify({ 'a.js': { file: 'a-1.js', isEntry: true } })
    const config = JSON.stringify({ mounts: { '/x': { dir: 'x', manifest: 'x/m.json' } } })
    const files = { 'x/m.json': manifest, 'x/a-1.js': 'a', 'assets.config.json': config }
    const { stdout } = await runCommand(makeProject(t, files), list)
    const listed = JSON.parse(stdout) as Record<string, unknown>[]
    t.deepEqual(listed.at(-1)?.['entries'], ['a.js'])
    return String(listed.at(-1)?.[had])
  }
}

test('every row of docs/upgrading.md is tested', t => {
  t.deepEqual([...ROWS.keys()], [...Object.keys(CASES), ...Object.keys(OF_COMMANDS)])
})

for (const [cell, row] of ROWS) {
  const checkRow = async (t: ExecutionContext) => {
    const [[had = ''], [now = ''], told] = row
    const observed = await (OF_COMMANDS[cell] ?? CASES[cell])?.(t, had, now, row)
    for (const quoted of told) t.true(observed?.includes(quoted), `${quoted}: ${observed}`)
  }
  if (cell in OF_COMMANDS) test.serial(`of 2.0: ${cell}`, checkRow)
  else test(`of 2.0: ${cell}`, checkRow)
}
