import test from 'ava'
import { fingerprinted, makeHelpers } from './view-helpers-site.ts'

const DIAL = `lib/dial-${'f'.repeat(32)}.mjs`
const APP = `app-${'a'.repeat(32)}.js`

test('importMap() maps each module to its published URL, sorted, with its integrity', t => {
  t.is(
    fingerprinted()('web').importMap(),
    '<script type="importmap">{"imports":{' +
      `"/assets/app.js":"/assets/${APP}",` +
      `"/assets/lib/dial.mjs":"/assets/${DIAL}"},` +
      '"integrity":{' +
      `"/assets/${APP}":"sha384-aaaa",` +
      `"/assets/${DIAL}":"sha384-ffff"}}</script>`
  )
})

test('importMap() without modules is an empty map', t => {
  t.is(makeHelpers()('web').importMap(), '<script type="importmap">{"imports":{}}</script>')
})

test('importMap() sorts by code unit, whatever the order of the modules', t => {
  const modules = ['b', 'Z', 'a', 'ä'].map(
    name => [`/${name}.js`, { path: `/${name}-1.js` }] as const
  )
  t.is(
    makeHelpers({}, () => ({ modules: () => modules }))('web').importMap(),
    '<script type="importmap">{"imports":{"/Z.js":"/Z-1.js","/a.js":"/a-1.js",' +
      '"/b.js":"/b-1.js","/ä.js":"/ä-1.js"}}</script>'
  )
})

test('importMap() uses the modules of the app', t => {
  t.is(
    makeHelpers({}, app => ({ modules: () => [[`/${app}.js`, { path: `/${app}-1.js` }]] }))(
      'admin'
    ).importMap(),
    '<script type="importmap">{"imports":{"/admin.js":"/admin-1.js"}}</script>'
  )
})

test('importMap() puts the host before both URLs, because relative imports are resolved against it', t => {
  const modules = [['/a.js', { path: '/a-1.js', integrity: ['sha256-a', 'sha512-a'] }]] as const
  t.is(
    makeHelpers({ host: 'https://cdn.example' }, () => ({ modules: () => modules }))(
      'web'
    ).importMap(),
    '<script type="importmap">{' +
      '"imports":{"https://cdn.example/a.js":"https://cdn.example/a-1.js"},' +
      '"integrity":{"https://cdn.example/a-1.js":"sha256-a sha512-a"}}</script>'
  )
})

test('importMap() takes a nonce and more specifiers, which take precedence', t => {
  t.is(
    fingerprinted()('web').importMap({
      nonce: '"r4nd0m',
      imports: {
        dial: 'lib/dial.mjs',
        app: 'app',
        '/assets/app.js': 'https://a.example/x.js',
        ['__proto__']: 'app'
      }
    }),
    '<script type="importmap" nonce="&quot;r4nd0m">{"imports":{' +
      '"/assets/app.js":"https://a.example/x.js",' +
      `"/assets/lib/dial.mjs":"/assets/${DIAL}",` +
      `"__proto__":"/assets/${APP}","app":"/assets/${APP}","dial":"/assets/${DIAL}"},` +
      '"integrity":{' +
      `"/assets/${APP}":"sha384-aaaa",` +
      `"/assets/${DIAL}":"sha384-ffff"}}</script>`
  )
})

test('importMap() contains nothing that ends the script', t => {
  const url = 'https://a.example/</script><!--\u2028\u2029'
  t.is(
    makeHelpers()('web').importMap({ imports: { a: url } }),
    '<script type="importmap">{"imports":{"a":"https://a.example/' +
      '\\u003c/script\\u003e\\u003c!--\\u2028\\u2029"}}</script>'
  )
})

test('JSM-05 importMap() holds the option imports without fingerprints as well, whatever the entry', t => {
  const imports = new Map([
    ['confetti', 'vendor/confetti.js'],
    ['cdn', 'https://cdn.example/x.js']
  ])
  for (const host of [undefined, 'https://assets.example']) {
    const helpers = makeHelpers({ host }, () => ({ imports }))('web')
    const map =
      '<script type="importmap">{"imports":{"cdn":"https://cdn.example/x.js",' +
      `"confetti":"${host ?? ''}/assets/vendor/confetti.js"}}</script>`
    t.is(helpers.importMap(), map)
    t.is(helpers.importMap({ entry: 'app' }), map)
    t.is(
      helpers.importMap({ imports: { confetti: 'other' } }),
      map.replace('vendor/confetti', 'other')
    )
  }
})

test('JSM-06 importMap({ entry }) holds every module where it is not known what one imports', t => {
  const modules = new Map([
    [
      '/assets/app.js',
      { path: '/assets/app-1.js', imports: ['/assets/old.js', '/assets/gone.js'] }
    ],
    ['/assets/old.js', { path: '/assets/old-1.js' }],
    ['/assets/other.js', { path: '/assets/other-1.js', imports: [] }]
  ])
  const resolve = (name: string) => ({ path: '', plainPath: `/assets/${name}` })
  const moduleAt = (path: string) => modules.get(path)
  const helpers = makeHelpers({}, () => ({ resolve, moduleAt, modules: () => modules }))('web')
  t.true(helpers.importMap({ entry: 'app' }).includes('/assets/other-1.js'))
  t.is(
    helpers.importMap({ entry: 'other' }),
    '<script type="importmap">{"imports":{"/assets/other.js":"/assets/other-1.js"}}</script>'
  )
})
