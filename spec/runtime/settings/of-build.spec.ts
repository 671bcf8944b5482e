// A server and the precompile of its release have the same options, or the server says which differ.
import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { assert, property, subarray } from 'fast-check'
import { koaAssets, precompile } from '../../../lib/koa-assets.ts'
import type { CompilerInput } from '../../../lib/runtime/settings/compiler.ts'
import type { KoaAssetsOptions } from '../../../lib/runtime/settings/options.ts'
import { settleForPrecompile } from '../../../lib/runtime/app/extras.ts'
import { APP, TOP } from '../../../lib/runtime/settings/table.ts'
import { Names as Manifest } from '../../../lib/runtime/urls/manifest.ts'
import { ReloadedNames } from '../../../lib/runtime/urls/read-manifest.ts'
import { digestsForBuild, unknownToBuild } from '../../../lib/runtime/settings/of-build.ts'
import { settle } from '../../../lib/runtime/settings/settings.ts'
import { cases, makeProject, test, warningsAbout, words, writeFiles } from '../../support/index.ts'
import type { ExecutionContext } from '../../support/index.ts'

const compile = ({ code }: CompilerInput) => ({ code })
const ALL: object = { ...TOP, ...APP }

/** The values are not the default. An option of an extra that was taken out is none. */
const OF_BUILD = inTable({
  base: '/shop',
  imports: { confetti: 'vendor/confetti.js' },
  define: { __VERSION__: '1.0' },
  compilers: [{ extensions: '.md', target: '.html', compile }],
  fingerprint: true,
  integrity: 'sha512',
  sources: ['../theme', { dir: '../icons', at: 'icons', include: '*.svg' }],
  sourceMaps: true,
  symlinks: 'follow',
  inline: ['icons/**'],
  bundle: true,
  packages: ['preact', { bootstrap: ['dist/css/bootstrap.css'] }],
  minify: false,
  target: 'baseline widely available',
  views: 'views/**/*.ejs',
  dir: 'src/web',
  path: '/web'
})

function inTable(options: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(options).filter(([name]) => name in ALL))
}

/** No build depends on these, or none is found where they differ: prefix, public and root lead to the manifest. */
const OF_SERVERS = words(
  `apps compile configure deltas earlyHints env headers host hot index live memory missing mounts prefix public revalidate
  root serve tails`
).filter(name => name in ALL)

const NAMES = Object.keys(OF_BUILD)
type Names = readonly string[]

/** The default of a server has fingerprints as well. */
const valuesOf = (names: Names): KoaAssetsOptions => {
  const { dir, path, ...rest } = Object.fromEntries(names.map(name => [name, OF_BUILD[name]]))
  return { ...rest, apps: { web: { dir, path } } } as KoaAssetsOptions
}

/** What a server says of the manifest of a build of nothing in another directory. */
function said(t: ExecutionContext, built: Names, served: Names): string[] {
  const [there, root] = [makeProject(t), makeProject(t)]
  const options = { fingerprint: false, ...valuesOf(built), compile: false, root: there }
  const { apps } = settleForPrecompile(options, {})
  const text = JSON.stringify(new Manifest({ assets: [], apps }))
  writeFiles(root, { 'public/assets.json': text })
  const messages: string[] = []
  const server = settle({ ...valuesOf(served), root, env: 'production' })
  const names = new ReloadedNames(server, message => messages.push(message))
  t.is(names.current.assets.size, 0)
  return messages
}

test('each option is compared with that of precompile, unless only servers need it', t => {
  const known = Object.keys(digestsForBuild({}))
  t.deepEqual(known.toSorted(), NAMES.toSorted())
  t.deepEqual([...known, ...OF_SERVERS].toSorted(), Object.keys(ALL).toSorted())
})

test('a server names each option that only the server has, wherever precompile ran', t => {
  const some = () => subarray(NAMES)
  assert(
    property(some(), some(), (built, served) => {
      const lost = built.filter(name => ['base', 'imports'].includes(name))
      const differ = NAMES.filter(
        name =>
          served.includes(name) !== built.includes(name) && [...served, ...lost].includes(name)
      )
      const messages = said(t, built, served)
      t.is(messages.length, differ.length > 0 ? 1 : 0)
      const [message = ''] = messages
      const isTold = (name: string) => {
        const given = inspect(OF_BUILD[name], { depth: 1, breakLength: Infinity })
        return [given, 'not set'].some(value => message.includes(` ${name}: ${value} (apps.web)`))
      }
      t.deepEqual(NAMES.filter(isTold), differ)
    }),
    { numRuns: cases(20, 200) }
  )
})

test('the warning about an option that precompile did not have says where to write it', async t => {
  const root = makeProject(t, { 'apps/web/assets/app.css': '' })
  const options = { root, compilers: [{ extensions: '.built', target: '.html', compile }] }
  await precompile({ root })
  koaAssets({ ...options, env: 'production' })
  await precompile(options)
  koaAssets({ ...options, env: 'production' })
  koaAssets({ root, env: 'production' })
  const option =
    "compilers: [ { extensions: '.built', target: '.html', compile: [Function: compile] } ]"
  t.deepEqual(warningsAbout("'.built'"), [
    `koa-fresh-assets: the options of koaAssets() differ from those of precompile, so pages may fail: ${option} (apps.web). ` +
      'Write them into assets.config.js, which precompile reads, pass its default export to koaAssets(), and run ' +
      'npx koa-fresh-assets precompile'
  ])
})

test('a compiler may hold what JSON cannot, and what differs between processes', async t => {
  const root = makeProject(t, { 'apps/web/assets/app.css': '' })
  const made = (started: bigint) => {
    const compiler = { extensions: '.own', target: '.css', compile }
    return { root, compilers: [Object.assign(compiler, { started, self: compiler })] }
  }
  await precompile(made(1n))
  koaAssets({ ...made(2n), env: 'production' })
  t.deepEqual(warningsAbout("'.own'"), [])
})

test('no server warns about `sources` only because they, or links to them, are not there', async t => {
  const root = makeProject(t, { 'assets/app.css': '', 'lib/a.css': '', 'theme/b.css': '' })
  symlinkSync(join(root, 'lib'), join(root, 'linked'))
  const sources = ['lib', { dir: 'linked' }, join(root, 'theme'), { dir: join(root, 'lib') }]
  await precompile({ root, sources })
  for (const name of ['assets', 'lib', 'theme', 'linked'])
    rmSync(join(root, name), { recursive: true })
  koaAssets({ root, sources, env: 'production' })
  t.deepEqual(warningsAbout("sources: [ 'lib'"), [])
})

test('from a manifest without digests of options, a server warns only about missing apps', t => {
  const root = makeProject(t)
  const { apps } = settle({ root, env: 'production', apps: { shop: {} }, symlinks: 'deny' })
  t.regex(unknownToBuild(apps, {}) ?? '', /: apps\.shop\. Write/)
  t.is(unknownToBuild(apps, { shop: {} }), undefined)
})
