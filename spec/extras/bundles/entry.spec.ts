import test from 'ava'
import type { Middleware } from 'koa'
import type { LoadedUrl } from '../../../lib/assets/views/asset-url.ts'
import type { ViewHelpers } from '../../../lib/assets/views/view-helpers.ts'
import { helpersOf } from '../../../lib/extras/bundles/entry.ts'
import { makeHelpers } from '../../assets/views/view-helpers-site.ts'
import { viteBuild, viteMount } from '../../support/bundler-project.ts'
import { makeSite } from '../../support/site.ts'

type Loading = LoadedUrl['as']

const script = (as: Loading): LoadedUrl => ({ url: '/a.js', integrity: ['sha384-a'], as })

const ENTRY: readonly LoadedUrl[] = [
  { url: '/a.css', integrity: ['sha384-c'], as: 'stylesheet' },
  script('module'),
  { url: '/b.js', integrity: ['sha384-b'], as: 'modulepreload' }
]

/** A page each time. */
function pageOf(entries: Readonly<Record<string, readonly LoadedUrl[]>>): ViewHelpers {
  const find = (name: string) => entries[name] ?? ENTRY
  return makeHelpers({}, undefined, [helpersOf(find, () => [])])('web')
}

const GUARDED = 'integrity="sha384-a" crossorigin="anonymous"'

test('entry() writes stylesheets, scripts, then preloads', t => {
  t.is(
    pageOf({}).entry('a'),
    '<link href="/a.css" type="text/css" rel="stylesheet" integrity="sha384-c" crossorigin="anonymous">\n' +
      `<script src="/a.js" type="module" ${GUARDED}></script>\n` +
      '<link href="/b.js" rel="modulepreload" integrity="sha384-b" crossorigin="anonymous">'
  )
})

test('a script is a module, deferred, blocking or for browsers without modules; the option type decides between the first two', t => {
  for (const [as, type, expected] of [
    ['module', undefined, `type="module" ${GUARDED}`],
    ['module', 'classic', `type="text/javascript" ${GUARDED} defer="defer"`],
    ['classic', undefined, `type="text/javascript" ${GUARDED} defer="defer"`],
    ['classic', 'module', `type="module" ${GUARDED}`],
    ['blocking', undefined, `type="text/javascript" ${GUARDED}`],
    ['nomodule', undefined, `type="text/javascript" ${GUARDED} nomodule="nomodule"`],
    ['nomodule', 'module', `type="text/javascript" ${GUARDED} nomodule="nomodule"`],
    ['nomodule', 'classic', `type="text/javascript" ${GUARDED} nomodule="nomodule"`]
  ] as const) {
    const tag = pageOf({ a: [script(as)] }).entry('a', { type })
    t.is(tag, `<script src="/a.js" ${expected}></script>`, `${as} ${type}`)
  }
  t.notRegex(pageOf({}).entry('a', { type: 'classic' }), /modulepreload/)
})

test('BND-02 the nonce is on every tag, the preamble included, and cannot end it', t => {
  const page = pageOf({ a: [{ url: '/@react-refresh</script>"', as: 'preamble' }, ...ENTRY] })
  const tags = page.entry('a', { nonce: '$&"><script>', reactRefresh: true }).split('\n')
  t.is(tags.length, 4)
  for (const tag of tags) t.true(tag.includes(' nonce="$&amp;&quot;&gt;&lt;script&gt;">'), tag)
  const preamble = tags.find(tag => tag.includes('RefreshReg')) ?? ''
  t.is(preamble.split('</script>').length, 2)
  t.regex(preamble, /from "\/@react-refresh\\u003c\/script\\u003e\\"";/)
})

test('BND-03 what the page already has is not written again, whichever helper is called', t => {
  const page = pageOf({})
  t.not(page.entry('a'), '')
  t.is(page.entry('a', { nonce: 'other', type: 'classic' }), '')
  t.is(page.app('admin').entry('a'), '')
  t.is(page.app('admin').app('web').entry('a'), '')
  t.not(pageOf({}).entry('a'), '')
})

test('an error page has the tags of its entries, although another page has begun', async t => {
  const front: Middleware = async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      const { assets, state } = ctx
      ctx.body = `${(error as Error).message} ${assets.entry('a.js')} ${state['assets'] === assets}`
    }
  }
  const routes: Middleware = ctx => {
    throw new Error(ctx.assets.entry('a.js'))
  }
  const options = { env: 'production', apps: false, mounts: { '/static': viteMount() } } as const
  const files = viteBuild('/dist', { 'a.js': 'a.js' })
  const site = await makeSite(t, files, { ...options, front, routes })
  const [, tag = ''] = /^(<script .*<\/script>) \1 true$/.exec((await site.ask('/')).text) ?? []
  t.regex(tag, /src="\/static\/a\.js"/)
})
