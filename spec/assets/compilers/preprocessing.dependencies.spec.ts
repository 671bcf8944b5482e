// What a stylesheet depends on beyond the files that a compiler names: what it read by the way, and what
// it looked for in vain. All of it lies outside the source directories, where no listing tells of it.
import { once } from 'node:events'
import { unlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test from 'ava'
import type { Compiler } from '../../../lib/assets/compilers/compiler.ts'
import { placed, readPublic, run } from '../../support/fingerprinted.ts'
import { makeProject, makeSite, writeFiles, type Files } from '../../support/site.ts'
import { untilSettled } from '../../support/until.ts'

interface Case {
  /** The stylesheet, below `apps/web/assets`, and what else there is, below the root. */
  readonly files: Files
  readonly before: RegExp
  readonly change: Files
  readonly after: RegExp
}

const svg = (id: string) => `<svg xmlns="http://www.w3.org/2000/svg" id="${id}"/>`

const CASES: Readonly<Record<string, Case>> = {
  'the file of a Less data-uri()': {
    files: {
      'x/app.css.less': 'a { b: data-uri("../../../../shared/icon.svg") }',
      '/shared/icon.svg': svg('one')
    },
    before: /data:image\/svg.*one/,
    change: { 'shared/icon.svg': svg('two') },
    after: /data:image\/svg.*two/
  },
  'the file of a Less data-uri() that was not there': {
    files: {
      'x/app.css.less': 'a { b: data-uri("../../../../shared/icon.svg") }',
      '/shared/other.svg': svg('one')
    },
    before: /icon\.svg/,
    change: { 'shared/icon.svg': svg('two') },
    after: /data:image\/svg.*two/
  },
  'an optional import of Less that was not there, nor its folder': {
    files: { 'x/app.css.less': '@import (optional) "../../../../shared/late"; a { b: c }' },
    before: /b: c/,
    change: { 'shared/late.less': '.late { d: e }' },
    after: /\.late/
  },
  'a Less file that is nearer than the one in a package': {
    files: {
      'x/app.css.less': '@import "shared/theme";',
      '/apps/web/assets/y/other.css': '',
      '/node_modules/shared/theme.less': '.far { a: b }'
    },
    before: /\.far/,
    change: { 'apps/web/assets/x/shared/theme.less': '.near { a: b }' },
    after: /\.near/
  },
  'a Less plugin': {
    files: {
      'x/app.css.less': '@plugin "../../../../shared/plugin"; a { b: answer() }',
      '/shared/plugin.js': 'functions.add("answer", () => 41)'
    },
    before: /b: 41/,
    change: { 'shared/plugin.js': 'functions.add("answer", () => 42)' },
    after: /b: 42/
  },
  'what a package says its stylesheet is': {
    files: {
      'x/app.css.scss': '@use "pkg:theme";',
      '/node_modules/theme/package.json': '{ "sass": "old.scss" }',
      '/node_modules/theme/old.scss': '.old { a: b }',
      '/node_modules/theme/new.scss': '.new { a: b }'
    },
    before: /\.old/,
    change: { 'node_modules/theme/package.json': '{ "sass": "new.scss" }' },
    after: /\.new/
  },
  'a package that is nearer than the one that was found': {
    files: {
      'x/app.css.scss': '@use "pkg:@scope/theme/main";',
      '/node_modules/@scope/theme/package.json': '{}',
      '/node_modules/@scope/theme/_main.scss': '.far { a: b }'
    },
    before: /\.far/,
    change: {
      'apps/web/node_modules/@scope/theme/_main.scss': '.near { a: b }',
      'apps/web/node_modules/@scope/theme/package.json': '{}'
    },
    after: /\.near/
  },
  'a Sass partial that comes before an index file': {
    files: {
      'x/app.css.scss': '@use "../../../../shared/colors";',
      '/shared/colors/_index.scss': '.index { a: b }'
    },
    before: /\.index/,
    change: { 'shared/_colors.scss': '.partial { a: b }' },
    after: /\.partial/
  },
  'a Sass partial that comes before plain CSS': {
    files: {
      'x/app.css.scss': '@use "../../../../shared/colors";',
      '/shared/colors.css': '.plain { a: b }'
    },
    before: /\.plain/,
    change: { 'shared/_colors.scss': '.partial { a: b }' },
    after: /\.partial/
  },
  'an import-only file of Sass': {
    files: {
      'x/app.css.scss': '@import "../../../../shared/colors";',
      '/shared/_colors.scss': '.module { a: b }'
    },
    before: /\.module/,
    change: { 'shared/_colors.import.scss': '.import-only { a: b }' },
    after: /\.import-only/
  },
  'a partial that one of a package uses': {
    files: {
      'x/app.css.scss': '@use "kit/scss/kit";',
      '/node_modules/kit/scss/kit.scss': '@use "tokens";',
      '/node_modules/kit/scss/_tokens.scss': '.one { a: b }'
    },
    before: /\.one/,
    change: { 'node_modules/kit/scss/_tokens.scss': '.two { a: b }' },
    after: /\.two/
  },
  'a partial beside one of a package that used another load path': {
    files: {
      'x/app.css.scss': '@use "kit/scss/kit";',
      '/node_modules/kit/scss/kit.scss': '@use "tokens";',
      '/apps/web/assets/y/_tokens.scss': '.ours { a: b }'
    },
    before: /\.ours/,
    change: { 'node_modules/kit/scss/_tokens.scss': '.theirs { a: b }' },
    after: /\.theirs/
  }
}

for (const [what, { files, before, change, after }] of Object.entries(CASES)) {
  test(`CMP-06a ${what} is followed on request`, async t => {
    const site = await makeSite(t, files, { env: 'test', missing: 'warn' })
    t.regex((await site.ask('/assets/app.css')).text, before)
    await untilSettled()
    const again = await site.ask('/assets/app.css')
    t.regex(again.text, before)
    writeFiles(site.root, change)
    t.regex((await site.ask('/assets/app.css')).text, after)
    t.deepEqual(site.errors, [])
  })

  test(`CMP-06a ${what} is followed by the second precompile`, async t => {
    const root = makeProject(t, { 'node_modules/.keep': '', ...placed(files) })
    await untilSettled()
    await run({ root, missing: 'warn' })
    t.regex(readPublic(root, '/assets/app.css').toString(), before)
    writeFiles(root, change)
    await run({ root, missing: 'warn' })
    t.regex(readPublic(root, '/assets/app.css').toString(), after)
  })
}

test("CMP-06a a file that a compiler of the user's own looked for is followed once it is there", async t => {
  const root = makeProject(t)
  const optional = join(root, 'config/late.txt')
  const calls: string[] = []
  const compiler: Compiler = {
    extensions: '.own',
    target: '.css',
    compile({ code, path }) {
      calls.push(path)
      return { code: `${code}${calls.length}`, dependencies: [optional] }
    }
  }
  const options = { root, compilers: [compiler], env: 'test' }
  const files = { 'x/app.css.own': 'a', '/config/first.txt': '' }
  const site = await makeSite(t, files, options)
  const get = async () => (await site.ask('/assets/app.css')).text
  t.is(await get(), 'a1')
  t.is(await get(), 'a1', 'nothing has come')
  writeFiles(root, { 'config/other.txt': '' })
  t.is(await get(), 'a1', 'something else has come')
  writeFileSync(optional, 'late')
  t.is(await get(), 'a2')
  writeFileSync(optional, 'edited')
  t.is(await get(), 'a3')
  unlinkSync(optional)
  t.is(await get(), 'a4')
  t.is(await get(), 'a4', 'CMP-05')
})

test('an import of Less over HTTP is fetched, and what it imports in turn', async t => {
  const remote: Readonly<Record<string, string>> = {
    '/theme.less': '@import "colors.less"; a { color: @color }',
    '/colors.less': '@color: remote;'
  }
  const server = createServer(({ url = '' }, res) => res.end(remote[url.split('?')[0] ?? '']))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const code = `@import "http://127.0.0.1:${port}/theme.less";`
  const site = await makeSite(t, { 'x/app.css.less': code }, { env: 'test' })
  t.regex((await site.ask('/assets/app.css')).text, /color: remote/)
})
