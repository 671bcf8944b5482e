// Hot replacement tells pages of this machine about modules of the app, and nothing to others or about other files.
import { ask } from '../../support/raw.ts'
import { makeSite, test, type ExecutionContext, type Site } from '../../support/index.ts'
import { openTold, type Told } from '../live/tab.ts'

const FILES = {
  'js/app.js': "import './part.js'\nimport './data.json'\nimport '/secret.js'\nimport 'lib'\n",
  'js/part.js': 'import.meta.hot?.accept()',
  'js/data.json': '1',
  'css/app.css': 'a{}',
  '/secret.js': 'secret()',
  '/secret.json': '{}',
  '/apps/web/secret.js': 'secret()',
  '/package.json': '{"dependencies":{"lib":"1"}}',
  '/node_modules/lib/package.json': '{"name":"lib","version":"1.0.0","main":"index.js"}',
  '/node_modules/lib/index.js': 'exports.lib = 1',
  '/node_modules/lib/other.js': 'secret()'
}
const OURS = ['/assets/app.js', '/assets/part.js', '/assets/data.json', '/assets/app.css']
/** What is no module of the app: other files, other spellings, and paths of this package and of Vite. */
const OTHERS = [
  ...['/secret.js', '/package.json', '/apps/web/secret.js', '/apps/web/assets/js/part.js'],
  ...['/node_modules/lib/index.js', '/assets/node_modules/lib/other.js', '/etc/passwd'],
  ...['/assets/../secret.js', '/assets/../../secret.js', '/assets/%2e%2e/secret.js'],
  ...['/assets/..%2fsecret.js', '/assets/..%5csecret.js'],
  ...['/assets/./part.js', '/assets//part.js', '/assets/part.js/.', '/assets/part%2ejs'],
  ...['/assets/-/part.js', '/assets/-/client/hot.js', '/assets/-/../part.js'],
  ...['/assets/-/%2e%2e/part.js', '/@fs/etc/passwd', '/@id/lib', '/@vite/client']
]

type ToldOfEdits = Told & {
  readonly hot?: {
    readonly tick: number
    readonly edited?: readonly string[]
    readonly pruned?: readonly string[]
    readonly modules?: Readonly<Record<string, object>>
  }
}

/** A site whose page has loaded its modules, one of which was edited since. */
async function edited(t: ExecutionContext) {
  const site = await makeSite(t, FILES, {
    packages: false,
    missing: 'ignore',
    routes(ctx, next) {
      if (ctx.path !== '/') return next()
      ctx.body = ctx.assets.live() + ctx.assets.javascript('app', { type: 'module' })
      return undefined
    }
  })
  for (const path of OURS) t.is((await site.ask(path)).status, 200, path)
  const all = [...OURS, ...OTHERS].map(encodeURIComponent).join()
  const tab = await openTold(t, site.port, `use=${all}`)
  const edit = async (...paths: readonly string[]): Promise<ToldOfEdits> => {
    const next = tab.next()
    for (const path of paths) site.write(path, `${site.read(path)} // edited`)
    return next
  }
  return { site, tab, edit, told: await edit('js/part.js') }
}

async function answered(site: Site, path: string, headers?: Readonly<Record<string, string>>) {
  const { status, head, body } = await ask(site.port, 'GET', path, headers)
  return { status, head: head.replace(/^Date: .*\r\n/m, ''), body: body.toString() }
}

test('a page for another host, or behind a proxy, names no version of an edited module', async t => {
  const { site, told } = await edited(t)
  t.true((await answered(site, '/')).body.includes(`src="/assets/app.js?t=${told.hot?.tick}"`))
  for (const headers of [{ Host: 'evil.example' }, { 'X-Forwarded-For': '203.0.113.9' }]) {
    const { body } = await answered(site, '/', headers)
    t.is(body, '<script src="/assets/app.js" type="module"></script>')
  }
})

test('pages load an edited module under a new URL, with its import.meta.hot', async t => {
  const { site, told } = await edited(t)
  const importer = await answered(site, '/assets/app.js')
  t.true(importer.body.includes(`part.js?t=${told.hot?.tick}`), importer.body)
  const context = 'import.meta.hot = globalThis.koaFreshAssetsHot?.(import.meta.url); '
  const { body } = await answered(site, '/assets/part.js')
  t.true(body.startsWith(`${context}import.meta.hot?.accept() // edited`), body)
})

test('a query, such as a version, never changes the response', async t => {
  const { site, told } = await edited(t)
  for (const path of [...OURS, ...OTHERS]) {
    const plain = await answered(site, path)
    t.is(plain.status, OURS.includes(path) ? 200 : 404, path)
    for (const query of [`t=${told.hot?.tick}`, 't=1', 't=../../secret.js', 'import&t=1', 'raw'])
      t.deepEqual(await answered(site, `${path}?${query}`), plain, `${path}?${query}`)
  }
})

test('a page is told only of edits in modules of the app, whatever it asks about', async t => {
  const { told, edit } = await edited(t)
  t.deepEqual(told.hot?.edited, ['/assets/part.js'])
  t.deepEqual(Object.keys(told.hot?.modules ?? {}), ['/assets/part.js', '/assets/app.js'])
  const filesIn = ({ parts }: Told) => parts.flatMap(({ key }) => (key.startsWith('/') ? key : []))
  t.deepEqual(filesIn(told), OURS)
  const outside = ['/secret.js', '/secret.json', '/apps/web/secret.js', '/package.json']
  const next = await edit(...outside, '/node_modules/lib/index.js', 'css/app.css')
  t.is(next.hot?.edited, undefined)
  t.deepEqual(filesIn(next), OURS)
})

test('a page that connects late is told of data that was edited since the page was loaded', async t => {
  const site = await makeSite(t, {
    'js/app.js': "import data from './data.json' with { type: 'json' }\nimport.meta.hot?.accept()",
    'js/data.json': '1'
  })
  const names = ['/assets/app.js', '/assets/data.json']
  for (const name of names) t.is((await site.ask(name)).status, 200, name)
  site.write('js/data.json', '2')
  // The page says that it was loaded a minute ago.
  const tab = await openTold(t, site.port, `use=${names.map(encodeURIComponent).join()}&age=60000`)
  const [told] = tab.told() as readonly ToldOfEdits[]
  t.deepEqual(told?.hot?.edited, ['/assets/data.json'])
})
