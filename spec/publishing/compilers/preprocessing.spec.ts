import { readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Compiler } from '../../../lib/runtime/settings/compiler.ts'
import { EXTRAS } from '../../../lib/runtime/app/extras.ts'
import { makeCounter, makeProject, makeSite, open, placed, run, test } from '../../support/index.ts'
import { untilSettled, warningsAbout, type Files } from '../../support/index.ts'

const CSS = 'text/css; charset=utf-8'
const JS = 'text/javascript; charset=utf-8'

const JSX = '/* @__PURE__ */ React.createElement("i", null, "c")'

for (const [name, extension, code, expected] of [
  ['app.css', 'scss', '$c: red; a { b { color: $c } }', 'a b { color: red; }'],
  ['app.css', 'sass', '$c: red\na\n  b\n    color: $c\n', 'a b { color: red; }'],
  ['app.css', 'less', '@c: red; a { b { color: @c } }', 'a b { color: red; }'],
  ['app.js', 'ts', 'export const a: number = 1', 'export const a = 1;'],
  ['app.js', 'tsx', 'const b = (x: 1) => <i>c</i>', `const b = (x) => ${JSX};`],
  ['app.js', 'jsx', 'export const c = <i>c</i>', `export const c = ${JSX};`]
] as const) {
  test(`${name}.${extension} is served as ${name}`, async t => {
    const site = await makeSite(t, { [`any/${name}.${extension}`]: code }, { env: 'test' })
    const { status, text, headers } = await site.ask(`/assets/${name}`)
    t.is(status, 200)
    t.is(text.replaceAll(/\s+/g, ' ').trim(), expected)
    t.is(headers['content-type'], name === 'app.css' ? CSS : JS)
    t.is(site.read(`/public/assets/${name}`), text)
  })
}

test('what was not edited is not compiled again, even with imports', async t => {
  const { calls, compiler } = makeCounter()
  const files = { 's/app.css.inc': 'import part.txt\n', 's/part.txt': 'one', 's/other.txt': 'x' }
  const site = await makeSite(t, files, { compilers: [compiler] })
  await untilSettled()
  for (let asked = 0; asked < 5; asked++) t.is((await site.ask('/assets/app.css')).text, 'one\n')
  t.is(calls.length, 1)
  site.write('s/other.txt', 'y')
  await site.ask('/assets/app.css')
  t.is(calls.length, 1, 'an edit of another file')
  site.write('s/part.txt', 'two')
  t.is((await site.ask('/assets/app.css')).text, 'two\n')
  t.is(calls.length, 2)
})

test('with fingerprints only broken sources are compiled again at each request', async t => {
  const { calls, compiler } = makeCounter()
  const files = { 's/broken.css.inc': 'import gone.txt\n', 's/good.css.inc': 'a{}' }
  const site = await makeSite(t, files, { compilers: [compiler], fingerprint: true })
  t.is((await site.ask('/assets/good.css')).status, 200)
  t.is(calls.splice(0).length, 2)
  const statuses = { '/assets/broken.css': 500, '/assets/good.css': 200, '/a-page': 404 }
  for (const [path, expected] of Object.entries(statuses)) {
    t.is((await site.ask(path)).status, expected)
    t.deepEqual(calls.splice(0), [site.at('s/broken.css.inc')], path)
  }
})

const now = Date.now
for (const fingerprint of [false, true]) {
  for (const late of [0, 3_600_000]) {
    const where = `fingerprint: ${fingerprint}, disk clock ${late} ms late`
    // Alone, as the clock is that of the process.
    test.serial(`an edit saved during compilation is in the next GET (${where})`, async t => {
      let [part, edit] = ['', '']
      const compile: Compiler['compile'] = () => {
        const code = readFileSync(part, 'utf8')
        if (edit) writeFileSync(part, edit)
        edit = ''
        return { code, dependencies: [part] }
      }
      const compilers = [{ extensions: '.racing', target: '.css', compile }]
      const files = { 's/app.css.racing': 'x', 's/part.txt': 'edit-000' }
      const site = await makeSite(t, files, { compilers, fingerprint })
      part = site.at('s/part.txt')
      Date.now = () => now() + late
      t.teardown(() => (Date.now = now))
      t.is((await site.ask('/assets/app.css')).text, 'edit-000')
      for (let round = 0; round < 10; round++) {
        edit = `edit-10${round}`
        site.write('s/app.css.racing', `round ${round}`)
        await site.ask('/assets/app.css')
        t.is(edit, '', 'it was compiled')
        t.is((await site.ask('/assets/app.css')).text, `edit-10${round}`)
      }
      unlinkSync(site.at('s/app.css.racing'))
      t.is((await site.ask('/assets/app.css')).status, 404, 'the target goes with its source')
    })
  }
}

// What a stylesheet depends on beyond the files that a compiler names: what it read by the way, and what
// it looked for in vain. All of it lies outside the source directories, where no listing tells of it.

const svg = (id: string) => `<svg xmlns="http://www.w3.org/2000/svg" id="${id}"/>`
const PKG = '/node_modules'
const FIRST = '.first { a: b }'
const THEN = '.then { a: b }'

/** The stylesheet, what else there is at first, and what is written then: `first` becomes `then`. */
const CASES: Readonly<Record<string, readonly [sheet: string, before: Files, then: Files]>> = {
  'the file of a Less data-uri()': [
    'less: a { b: data-uri("../../../../shared/icon.svg") }',
    { '/shared/icon.svg': svg('first') },
    { '/shared/icon.svg': svg('then') }
  ],
  'the file of a Less data-uri() that was not there': [
    'less: /* first */ a { b: data-uri("../../../../shared/icon.svg") }',
    { '/shared/other.svg': svg('one') },
    { '/shared/icon.svg': svg('then') }
  ],
  'an optional Less import that did not exist': [
    'less: @import (optional) "../../../../shared/late"; .first { b: c }',
    {},
    { '/shared/late.less': THEN }
  ],
  'a Less file that is nearer than the one in a package': [
    'less: @import "shared/theme";',
    { 'y/other.css': '', [`${PKG}/shared/theme.less`]: FIRST },
    { 'x/shared/theme.less': THEN }
  ],
  'a Less file that another one imports': [
    'less: @import "../../../../shared/outer";',
    { '/shared/outer.less': '@import "inner";', '/shared/inner.less': FIRST },
    { '/shared/inner.less': THEN }
  ],
  'an import that was added': [
    'scss: .first { a: b }',
    { '/shared/_then.scss': THEN },
    { 'x/app.css.scss': '@use "../../../../shared/then"' }
  ],
  'a Less plugin': [
    'less: @plugin "../../../../shared/plugin"; a { b: answer() }',
    { '/shared/plugin.js': 'functions.add("answer", () => "first")' },
    { '/shared/plugin.js': 'functions.add("answer", () => "then")' }
  ],
  'the stylesheet that a package.json names': [
    'scss: @use "pkg:theme";',
    {
      [`${PKG}/theme/package.json`]: '{ "sass": "old.scss" }',
      [`${PKG}/theme/old.scss`]: FIRST,
      [`${PKG}/theme/new.scss`]: THEN
    },
    { [`${PKG}/theme/package.json`]: '{ "sass": "new.scss" }' }
  ],
  'a package that is nearer than the one that was found': [
    'scss: @use "pkg:@scope/theme/main";',
    { [`${PKG}/@scope/theme/package.json`]: '{}', [`${PKG}/@scope/theme/_main.scss`]: FIRST },
    {
      '/apps/web/node_modules/@scope/theme/_main.scss': THEN,
      '/apps/web/node_modules/@scope/theme/package.json': '{}'
    }
  ],
  'a Sass partial that comes before an index file': [
    'scss: @use "../../../../shared/colors";',
    { '/shared/colors/_index.scss': FIRST },
    { '/shared/_colors.scss': THEN }
  ],
  'a Sass partial that comes before plain CSS': [
    'scss: @use "../../../../shared/colors";',
    { '/shared/colors.css': FIRST },
    { '/shared/_colors.scss': THEN }
  ],
  'a Sass import-only file': [
    'scss: @import "../../../../shared/colors";',
    { '/shared/_colors.scss': FIRST },
    { '/shared/_colors.import.scss': THEN }
  ],
  'a partial that one of a package uses': [
    'scss: @use "kit/scss/kit";',
    { [`${PKG}/kit/scss/kit.scss`]: '@use "tokens";', [`${PKG}/kit/scss/_tokens.scss`]: FIRST },
    { [`${PKG}/kit/scss/_tokens.scss`]: THEN }
  ],
  'a partial beside one of a package that used another load path': [
    'scss: @use "kit/scss/kit";',
    { [`${PKG}/kit/scss/kit.scss`]: '@use "tokens";', 'y/_tokens.scss': FIRST },
    { [`${PKG}/kit/scss/_tokens.scss`]: THEN }
  ]
}

for (const [what, [sheet, before, then]] of Object.entries(CASES)) {
  test(`a stylesheet changes with ${what}`, async t => {
    const [syntax = '', code = ''] = sheet.split(/: (.*)/)
    const files = { [`x/app.css.${syntax}`]: code, ...before }
    const site = await makeSite(t, files, { env: 'test', missing: 'warn' })
    const get = async () => (await site.ask('/assets/app.css')).text
    t.regex(await get(), /first/)
    await untilSettled()
    t.regex(await get(), /first/)
    for (const [path, text] of Object.entries(then)) site.write(path, String(text))
    t.regex(await get(), /then/)
    t.deepEqual(site.errors, [])
  })
}

test('a Less import over HTTP is fetched with what it imports in turn', async t => {
  const remote: Readonly<Record<string, string>> = {
    '/theme.less': '@import "colors.less"; a { color: @color }',
    '/colors.less': '@color: remote;'
  }
  const server = createServer(({ url = '' }, res) => res.end(remote[url.split('?')[0] ?? '']))
  const port = await open(t, server)
  const code = `@import "http://127.0.0.1:${port}/theme.less";`
  const site = await makeSite(t, { 'x/app.css.less': code }, { env: 'test' })
  t.regex((await site.ask('/assets/app.css')).text, /color: remote/)
})

test('JSX that needs React in a module that does not import it is a warning', async t => {
  const files = {
    'javascripts/lost.tsx': 'export const cart = <b />',
    'javascripts/bound.tsx': "import React from 'react'\nexport const cart = <b />",
    'javascripts/made.tsx': '/** @jsxRuntime automatic */ export const cart = <b />'
  }
  const problem = 'has JSX that calls React.createElement, and does not import React'
  const told = `apps/web/assets/javascripts/lost.tsx ${problem}: set "jsx": "react-jsx" in tsconfig.json`
  const root = makeProject(t, placed(files))
  const target = EXTRAS.some(({ name }) => name === 'styles') && { target: 'es2022' }
  const { warnings } = await run({ root, missing: 'ignore', ...target })
  t.deepEqual(warnings, [told])
  const site = await makeSite(t, {}, { root, missing: 'ignore' })
  for (const name of ['lost', 'bound', 'made']) await site.ask(`/assets/${name}.js`)
  t.deepEqual(warningsAbout('lost.tsx has JSX'), [`koa-fresh-assets: ${told}`])
})
