import { inspect } from 'node:util'
import test from 'ava'
import { errorPage } from '../../../lib/assets/inspecting/error-page.ts'
import type { Settings } from '../../../lib/assets/settings/settings.ts'
import { AssetError, assetSources, CompileError } from '../../../lib/index.ts'
import { makeProject, makeSite } from '../../support/site.ts'

const BROWSER = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } }

for (const [extension, code, place, reason, excerpt] of [
  [
    'css.scss',
    'a {\n  color: $nowhere;\n}\n',
    ':2:10',
    'Undefined variable.',
    '  color: $nowhere;'
  ],
  ['css.sass', 'a\n  color: $nowhere\n', ':2:10', 'Undefined variable.', '  color: $nowhere'],
  [
    'css.less',
    'a {\n  color: @nowhere;\n}\n',
    ':2:10',
    'variable @nowhere is undefined',
    '  color: @nowhere;'
  ],
  ['js.ts', 'let a = 1\nlet b = ;\n', ':2:9', 'Unexpected ";"', 'let b = ;']
] as const) {
  const source = `code/app.${extension}`
  const url = `/assets/app.${extension.replace(/\.[a-z]+$/, '')}`

  test(`CMP-09 a broken ${extension} is a page with file, line, column and excerpt; once fixed it is a 200`, async t => {
    const site = await makeSite(t, { [source]: code })
    const { status, text, headers } = await site.ask(url)
    t.is(status, 500)
    t.is(headers['content-type'], 'text/plain; charset=utf-8')
    t.is(headers['cache-control'], 'no-store')
    t.is(headers.etag, undefined)
    t.true(
      text.startsWith(
        `This source does not compile\n\napps/web/assets/${source}${place}\n\n${reason}\n\n`
      ),
      text
    )
    t.true(text.includes(excerpt), text)
    t.false(text.includes(site.root))
    t.is(site.read(`/public${url}`), undefined)
    t.is(site.errors.length, 1)
    const [error] = site.errors
    t.true(error instanceof CompileError)
    t.is(
      error?.stack,
      `CompileError: ${error?.message}`,
      'as Koa logs it: no frames of any library'
    )
    t.notRegex(inspect(error), /^\s+at /m, 'as console.error logs it, with its cause')
    t.truthy(error?.cause)

    const html = await site.ask(url, BROWSER)
    t.is(html.headers['content-type'], 'text/html; charset=utf-8')
    t.true(html.text.includes(`<code>apps/web/assets/${source}${place}</code>`))
    t.true(html.text.includes('<title>This source does not compile</title>'))
    t.false(html.text.includes(site.root))

    site.write(source, '')
    t.is((await site.ask(url)).status, 200)
    t.is(site.errors.length, 2)
  })
}

test('CMP-09 an error in an import names the import, and is fixed there', async t => {
  const site = await makeSite(t, {
    'stylesheets/app.css.scss': "@use 'part';",
    'stylesheets/_part.scss': 'a {\n  top: $x\n}'
  })
  const { text } = await site.ask('/assets/app.css')
  t.true(text.includes('apps/web/assets/stylesheets/_part.scss:2:8'), text)
  site.write('stylesheets/_part.scss', 'a { top: 1px }')
  t.is((await site.ask('/assets/app.css')).status, 200)
})

test('CMP-09 a missing import is fixed by adding it', async t => {
  const site = await makeSite(t, { 'stylesheets/app.css.scss': "@use 'part';" })
  t.true((await site.ask('/assets/app.css')).text.includes("Can't find stylesheet to import."))
  site.write('stylesheets/_part.scss', 'a { top: 1px }')
  t.is((await site.ask('/assets/app.css')).status, 200)
})

test('CMP-09 HEAD of a broken source is a 500 without body', async t => {
  const site = await makeSite(t, { 'css/app.css.scss': 'a {' })
  const { status, text } = await site.ask('/assets/app.css', { method: 'HEAD' })
  t.deepEqual([status, text], [500, ''])
})

test('CMP-09 what a source says is escaped on the page', async t => {
  const site = await makeSite(t, {
    'css/app.css.scss': 'a { b: $x; /*<script>alert(1)</script>*/ }'
  })
  const { text } = await site.ask('/assets/app.css', BROWSER)
  t.false(text.includes('<script>'))
  t.true(text.includes('&lt;script&gt;'))
})

test("CMP-09 a third party's broken source is named without the machine's path", async t => {
  const vendor = makeProject(t, { 'assets/styles/broken-theirs.css.scss': 'a { b: $x }' })
  assetSources.append(`${vendor}/assets`)
  const site = await makeSite(t, { 'a.css': '' })
  for (const question of [{}, BROWSER]) {
    const { status, text } = await site.ask('/assets/broken-theirs.css', question)
    t.is(status, 500)
    t.true(text.includes('assets/styles/broken-theirs.css.scss:1:8'), text)
    t.false(text.includes(vendor))
  }
})

const OUTSIDE = ['production', 'staging', 'test'] as const

for (const env of OUTSIDE) {
  const options = { env, compile: true, fingerprint: false }

  test(`CMP-10 in ${env} a broken source leaves the last good target, and the error is emitted`, async t => {
    const site = await makeSite(t, { 'css/app.css.scss': 'a { b: good }' }, options)
    const good = await site.ask('/assets/app.css')
    site.write('css/app.css.scss', 'a { b: $x }')
    for (const emitted of [1, 2]) {
      const { status, text, headers } = await site.ask('/assets/app.css')
      t.deepEqual([status, text, headers.etag], [200, good.text, good.headers.etag])
      t.is(site.errors.length, emitted)
    }
    t.like(site.errors[0], {
      code: 'compile-failed',
      message: `${site.at('css/app.css.scss')}:1:8: Undefined variable.`
    })
    site.write('css/app.css.scss', 'a { b: fixed }')
    t.regex((await site.ask('/assets/app.css')).text, /fixed/)
  })

  test(`CMP-10 in ${env} a broken source without a good target is a 500 that reveals nothing`, async t => {
    const site = await makeSite(t, { 'css/app.css.scss': 'a { b: $x }' }, options)
    const { status, text } = await site.ask('/assets/app.css', BROWSER)
    t.deepEqual([status, text], [500, 'Internal Server Error'])
    t.is(site.errors.length, 1)
  })
}

const thrown = (error: unknown) => () => {
  throw error
}

test('whatever a compiler throws, or returns by mistake, is reported with its source', async t => {
  const wrong = 'the compiler for .x must return { code, dependencies }, got'
  for (const [compile, reason] of [
    [thrown('no luck'), "'no luck'"],
    [thrown(undefined), 'undefined'],
    [thrown({ odd: true }), '{ odd: true }'],
    [thrown(new TypeError('a bug')), 'a bug'],
    [() => undefined, `${wrong} undefined`],
    [() => null, `${wrong} null`],
    [() => 'css', `${wrong} 'css'`],
    [() => ({ code: 42 }), `${wrong} { code: 42 }`],
    [() => ({ code: '', dependencies: 'a' }), `${wrong} { code: '', dependencies: 'a' }`],
    [() => ({ code: '', dependencies: [1] }), `${wrong} { code: '', dependencies: [Array] }`]
  ] as const) {
    const compilers = [{ extensions: '.x', target: '.css', compile: compile as never }]
    const site = await makeSite(t, { 'css/a.css.x': '', 'css/b.css': 'b{}' }, { compilers })
    const { status, text } = await site.ask('/assets/a.css')
    t.is(status, 500)
    t.is(text, `This source does not compile\n\napps/web/assets/css/a.css.x\n\n${reason}\n`)
    t.is((await site.ask('/assets/b.css')).status, 200)
  }
})

test("what a user's own compiler says of a source has no stack frames, a bug in it has its own", async t => {
  for (const [error, frames] of [
    [new Error('unexpected token'), false],
    [new TypeError('x is not a function'), true]
  ] as const) {
    const compilers = [{ extensions: '.x', target: '.css', compile: thrown(error) }]
    const site = await makeSite(t, { 'css/a.css.x': '' }, { compilers })
    await site.ask('/assets/a.css')
    const { message, stack = '' } = site.errors[0] ?? {}
    t.true(stack.startsWith(`CompileError: ${message}`))
    t.is(stack.includes('compile-errors.spec.ts'), frames, stack)
    t.is(/^\s+at /m.test(stack), frames)
  }
})

test('an excerpt stays as it was written even if it contains the root as a word', async t => {
  const settings = { root: '/app', apps: [] } as unknown as Settings
  const location = {
    file: '/app/apps/web/assets/a.css.scss',
    line: 1,
    column: 3,
    excerpt: '@import "/assets/app.css", "/application.css"'
  }
  const page = await errorPage(
    new CompileError('/app/x.css and /apple', location),
    settings,
    'text'
  )
  t.is(
    page,
    'This source does not compile\n\napps/web/assets/a.css.scss:1:3\n\nx.css and /apple\n\n' +
      '1 | @import "/assets/app.css", "/application.css"\n      ^\n'
  )
})

test('a project at the root of the file system has its paths shown whole', async t => {
  const settings = { root: '/', apps: [] } as unknown as Settings
  const error = new CompileError('bad', { file: '/apps/web/a.css.scss', line: 1 })
  t.is(
    await errorPage(error, settings, 'text'),
    'This source does not compile\n\napps/web/a.css.scss:1\n\nbad\n'
  )
})

test('an error for a name that a helper cannot find still tells which view asked', t => {
  const error = new AssetError('asset-unknown', 'nope.css is not in the manifest')
  t.regex(error.stack ?? '', /compile-errors\.spec\.ts/)
})

test('a failure of a compiler that is frozen is reported as any other', t => {
  const cause = Object.freeze(new Error('unexpected token'))
  const error = new CompileError('unexpected token', { file: '/a.x', line: 1 }, { cause })
  t.is(error.message, '/a.x:1: unexpected token')
  t.is(error.cause, cause)
})

test('S60 the name of a file cannot start a new line in a message', t => {
  const name = 'a\nPublished 3 assets'
  t.is(new AssetError('name-taken', name).message, 'a\\u000aPublished 3 assets')
  t.is(
    new CompileError('expected }\n  in line 2', { file: name }).message,
    'a\\u000aPublished 3 assets: expected }\n  in line 2'
  )
})

for (const [extension, code, excerpt] of [
  ['css.scss', 'a {\r\n  color: $nowhere;\r\n}\r\n', '2 |   color: $nowhere;\n             ^'],
  ['css.less', 'a {\r\n  color: @nowhere;\r\n}\r\n', 'a {\n  color: @nowhere;\n}'],
  ['js.ts', 'let a = 1\r\nlet b = ;\r\n', '2 | let b = ;\n            ^']
] as const) {
  test(`the excerpt of a broken ${extension} with lines as Windows ends them has plain lines`, async t => {
    const site = await makeSite(t, { [`code/app.${extension}`]: code })
    const { text } = await site.ask(`/assets/app.${extension.replace(/\.[a-z]+$/, '')}`)
    t.true(text.endsWith(`\n\n${excerpt}\n`), JSON.stringify(text))
  })
}
