// What a server loads when it starts, of the build: dist names the files of lib that are in each chunk.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type KoaAssetsOptions, precompile } from '../lib/koa-assets.ts'
import { checkBuild } from './support/examples.ts'
import { makeProject, test, viteBuild, viteMount, words } from './support/index.ts'

const ROOT = process.cwd()
const DIST = pathToFileURL(join(ROOT, 'dist/')).href
const PACKAGES = pathToFileURL(join(ROOT, 'node_modules/')).href

const FILES = {
  'apps/web/assets/css/app.css': 'a { b: c }',
  'apps/web/assets/js/app.js': 'go()',
  'apps/web/assets/img/big.bin': 'x'.repeat(3_000_000),
  ...viteBuild('front', { 'src/main.js': 'assets/main-CZTearZk.js' })
}

const PATHS = ['/', '/assets/app.css', '/assets/big.bin', '/front/assets/main-CZTearZk.js']

/** Starts, responds to a request for each kind of response, and tells what is loaded by then. */
const program = (options: KoaAssetsOptions) => `
  import { once } from 'node:events'
  import { get } from 'node:http'
  import { Session } from 'node:inspector'
  import Koa from 'koa'
  import { koaAssets, koaHttpCache } from ${JSON.stringify(`${DIST}index.js`)}
  const app = new Koa()
  app.use(koaAssets(${JSON.stringify(options)}))
  app.use(koaHttpCache())
  app.use(async ctx => {
    ctx.cacheControl('public', { maxAge: '1m' })
    await ctx.fresh('1')
    ctx.body = ctx.assets.stylesheet('app')
  })
  const loaded = () => {
    const urls = []
    const session = new Session()
    session.connect()
    session.on('Debugger.scriptParsed', ({ params }) => urls.push(params.url))
    session.post('Debugger.enable')
    session.disconnect()
    return urls
  }
  const server = app.listen(0, '127.0.0.1', async () => {
    const statuses = []
    let first
    for (const path of ${JSON.stringify(PATHS)}) {
      for (const headers of [{}, { 'If-None-Match': '*' }]) {
        const { port } = server.address()
        const [response] = await once(get({ port, path, headers }), 'response')
        await response.resume().toArray()
        statuses.push(response.statusCode)
        first ??= loaded()
      }
    }
    const urls = loaded()
    console.log(JSON.stringify({ statuses, urls, late: urls.filter(url => !first.includes(url)) }))
    process.exit()
  })
`

// The next build of a bundler may have images.
const SERVER_PACKAGES = words(`content-disposition fastest-levenshtein image-size koa-compose
  lru-cache mime-types picomatch send`)

/** The house of a production server, with its entries, and what every extra declares of itself. */
const RUNTIME =
  /^(?:runtime\/|(?:index|koa-assets|koa-http-cache)\.ts$|extras\/[^/]+\/(?:extra|options|tag|exports)\.ts$)/

// Pages have all helpers. A manifest has to be read before koaAssets() returns, so what reads them is there without
// mounts as well.
const READERS =
  /^extras\/(?:vite\/(?:build|bundles|entry|entry-source|kept-files|manifests\/\w[\w-]*)\.|deltas\/(?:delta-format|serve-deltas)\.|media\/(?:media|image-size)\.|routes\/|warnings\/)/

test('a production server loads nothing that compiles, builds, inspects or develops', async t => {
  checkBuild()
  const root = makeProject(t, FILES)
  await precompile({ root })
  const memory = { maxFileBytes: 1e6 }
  const mounts = { '/front': viteMount('front') }
  const options = { root, env: 'production', serve: true, memory, mounts }
  const args = ['--input-type=module', '--eval', program(options)]
  const { statuses, urls, late } = JSON.parse(
    execFileSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' })
  ) as { statuses: readonly number[]; urls: readonly string[]; late: readonly string[] }
  t.deepEqual(
    late.filter(url => url.startsWith('file:')),
    [],
    'nor anything after its first response'
  )
  const expected = PATHS.flatMap(() => [200, 304])
  t.deepEqual(statuses, expected)
  const files = urls
    .filter(url => url.startsWith(DIST))
    .flatMap(url => [...readFileSync(fileURLToPath(url), 'utf8').matchAll(/^\/\/ lib\/(.*)$/gm)])
    .map(([, file = '']) => file)
  t.true(files.length > 60)
  const strange = files.filter(file => !RUNTIME.test(file) && !READERS.test(file))
  t.deepEqual(strange, [])
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    dependencies: object
  }
  // Koa has a content-disposition of its own.
  const isLoaded = (name: string) => urls.some(url => url.includes(`${PACKAGES}${name}/`))
  t.deepEqual(Object.keys(dependencies).filter(isLoaded), SERVER_PACKAGES)
})
