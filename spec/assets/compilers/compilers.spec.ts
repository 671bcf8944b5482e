import { createRequire } from 'node:module'
import test from 'ava'
import { join } from 'node:path'
import type { Compiler } from '../../../lib/assets/compilers/compiler.ts'
import { withPeer } from '../../../lib/assets/compilers/built-in.ts'
import { esbuildCompilers } from '../../../lib/assets/compilers/esbuild.ts'
import { lessCompilers } from '../../../lib/assets/compilers/less.ts'
import { sassCompilers } from '../../../lib/assets/compilers/sass.ts'
import { assetSources } from '../../../lib/index.ts'
import { makeCounter } from '../../support/counting-compiler.ts'
import { makeSite } from '../../support/site.ts'

const CSS = 'text/css; charset=utf-8'

for (const [extension, peer] of [
  ['css.scss', 'sass'],
  ['css.sass', 'sass'],
  ['css.less', 'less'],
  ['js.ts', 'esbuild']
] as const) {
  test(`CMP-08 ${extension} without ${peer} is a 500 with the source and the install command`, async t => {
    // Loaded as ever, from a name under which nothing is installed.
    const rows = [...sassCompilers, ...lessCompilers, ...esbuildCompilers]
    const compilers = rows.map(row =>
      withPeer({ ...row, peers: row.peers.map(name => `${name}-is-not-installed`) })
    )
    const files = { [`code/app.${extension}`]: '', 'code/plain.css': 'a{}' }
    const site = await makeSite(t, files, { compilers })
    const answer = await site.ask(`/assets/app.${extension.replace(/\.[a-z]+$/, '')}`)
    t.is(answer.status, 500)
    t.is(
      answer.text,
      'This asset cannot be published\n\n' +
        `apps/web/assets/code/app.${extension} needs ${peer}-is-not-installed, which is not installed: ` +
        `npm install --save-dev ${peer}-is-not-installed\n`
    )
    t.is((await site.ask('/assets/plain.css')).text, 'a{}', 'the process lives')
  })
}

test("CMP-11 a compiler of the user's own works like a built-in one, whatever it makes", async t => {
  for (const [target, type] of [
    ['.css', CSS],
    ['txt', 'text/plain; charset=utf-8'],
    ['.html', 'text/html; charset=utf-8'],
    ['.svg', 'image/svg+xml']
  ] as const) {
    const { calls, compiler } = makeCounter('inc', target)
    const name = `page.${target.replace('.', '')}`
    const files = { [`pages/${name}.inc`]: 'import part.inc.txt\n', 'pages/part.inc.txt': 'one' }
    const site = await makeSite(t, files, { compilers: [compiler] })
    const first = await site.ask(`/assets/${name}`)
    t.deepEqual([first.status, first.text], [200, 'one\n'], target)
    t.is(first.headers['content-type'], type)
    t.deepEqual(calls, [site.at(`pages/${name}.inc`)])
    site.write('pages/part.inc.txt', 'two')
    t.is((await site.ask(`/assets/${name}`)).text, 'two\n')
    t.is((await site.ask(`/assets/${name}.inc`)).status, 404)
  }
})

test("CMP-11 a compiler of the user's own beats the built-in one, and is told where it is", async t => {
  const told: unknown[] = []
  const compilers: Compiler[] = [
    {
      extensions: ['.scss', 'sass'],
      target: 'css',
      compile(input) {
        told.push(input)
        return Promise.resolve({ code: `/* mine */${input.code}` })
      }
    }
  ]
  const site = await makeSite(
    t,
    { 'css/a.css.scss': 'é{}', 'js/b.js': '' },
    { compilers, env: 'test' }
  )
  t.is((await site.ask('/assets/a.css')).text, '/* mine */é{}')
  t.deepEqual(told, [
    {
      code: 'é{}',
      path: site.at('css/a.css.scss'),
      env: 'test',
      sourceMap: false,
      loadPaths: [
        ...[site.at('').slice(0, -1), site.at('css'), site.at('js')],
        ...thirdPartyPaths(),
        ...nodeModulesOf(site.root)
      ]
    }
  ])
})

/** As Node looks for packages, without what it has for all programs of a user. */
function nodeModulesOf(directory: string): string[] {
  const paths = createRequire(join(directory, 'file.js')).resolve.paths('kit') ?? []
  return paths.slice(0, directory.split('/').length)
}

function thirdPartyPaths(): string[] {
  return assetSources.list().flatMap(directory => [directory, join(directory, 'styles')])
}

test('development has source maps inline, other environments have none', async t => {
  const files = {
    'css/s.css.scss': 'a { b: c }',
    'css/l.css.less': 'a { b: c }',
    'js/t.js.ts': 'let a: number = 1'
  }
  const development = await makeSite(t, files)
  const other = await makeSite(t, files, { env: 'test' })
  for (const name of ['s.css', 'l.css', 't.js']) {
    const { text } = await development.ask(`/assets/${name}`)
    const [, encoded = ''] =
      /sourceMappingURL=data:application\/json;(?:charset=utf-8;)?base64,([\w+/=]+)/.exec(text) ??
      []
    const map = Buffer.from(encoded, 'base64').toString()
    t.is(JSON.parse(map).sources.length, 1, name)
    t.false(map.includes(development.root), `${name} tells where the project lies`)
    t.false((await other.ask(`/assets/${name}`)).text.includes('sourceMappingURL'), name)
  }
})

test('a preprocessor source that is not UTF-8 is an error, never served raw', async t => {
  const latin = Buffer.from('a::after { content: "é" }', 'latin1')
  const site = await makeSite(t, { 'stylesheets/app.css.scss': latin })
  const { status, text } = await site.ask('/assets/app.css')
  t.is(status, 500)
  t.is(
    text,
    'This source does not compile\n\napps/web/assets/stylesheets/app.css.scss\n\nthe source must be UTF-8\n'
  )
})
