// What a page loads for its scripts and stylesheets: `list --entry`.
import type { Weight } from '../../../lib/extras/telling/weight.ts'
import { precompile } from '../../../lib/koa-assets.ts'
import { APART, serial as test } from '../../support/index.ts'
import { makeShop, run } from '../../publishing/cli/run.ts'

const long = (name: string) => `export const ${name} = '${`${name} `.repeat(200)}'\n`

const FILES = {
  'javascripts/app.js': "import './shared.js'\nimport './npm/big/index.js'\nimport('./later.js')\n",
  'javascripts/shared.js': long('shared'),
  'javascripts/later.js': "import './shared.js'\n",
  'javascripts/other.js': long('other'),
  'javascripts/npm/big/index.js': long('big'),
  'stylesheets/app.css.scss': "@use 'rules';\n.a { background: url('logo.svg') }\n",
  'stylesheets/_rules.scss': `.rule { color: red }\n`.repeat(20),
  'images/logo.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>'
}

async function weightOf(root: string, names = '--entry app'): Promise<Weight> {
  return JSON.parse((await run(root, `list ${names} --json`)).stdout) as Weight
}

const AT_ONCE = ['app.css', 'app.js', 'logo.svg', 'npm/big/index.js', 'shared.js']

const pathsOf = ({ files }: Weight, isLater: boolean) =>
  files.flatMap(file => (file.isLater === isLater ? file.path.slice(8) : [])).toSorted()

test('list --entry adds up the precompiled files that an entry loads at once', async t => {
  const root = makeShop(t, FILES)
  const missing = await run(root, 'list --entry app')
  t.is(missing.status, 1)
  t.regex(missing.stderr, /assets\.json[^]*precompile/)
  await precompile({ root, ...APART })
  const { stdout } = await run(root, 'list --entry app.js')
  t.regex(stdout, /^A first visit: 4 requests, [\d.]+ k?B without the page$/m)
  const weight = await weightOf(root)
  t.regex(String(weight.builtAt), /^\d{4}-/)
  t.deepEqual(weight.entries, ['/assets/app.css', '/assets/app.js'])
  t.deepEqual(pathsOf(weight, false), AT_ONCE)
  t.deepEqual(pathsOf(weight, true), ['later.js'])
  t.is(weight.requests, 6)
  const atOnce = weight.files.filter(({ isLater }) => !isLater)
  const bytes = atOnce.reduce((sum, { size }) => sum + size, 0)
  t.is(weight.bytes, bytes)
  const groups = weight.files.flatMap(({ parts }) => parts.map(({ group }) => group))
  t.deepEqual(groups.filter(Boolean), ['big'])
  for (const { size } of weight.files) t.true(size > 0)
  const sheet = weight.files.find(({ path }) => path === '/assets/app.css')
  t.true(sheet?.parts.some(({ path }) => path.endsWith('/_rules.scss')))
  const ofParts = sheet?.parts.reduce((sum, { size }) => sum + size, 0) ?? 0
  t.true(Math.abs((sheet?.size ?? 0) - ofParts) < 5)
})

test('list --entry counts every URL in a stylesheet, but of each font only the one that browsers load', async t => {
  const face = (src: string) => `@font-face { font-family: f; src: ${src} }\n`
  const list = (...names: readonly string[]) =>
    names.map(name => `url("${name}") format("x")`).join(', ')
  const fonts = ['a.eot', 'a.woff2', 'a.woff', 'a.ttf', 'b.woff', 'b.ttf', 'c.otf']
  const root = makeShop(t, {
    ...Object.fromEntries(fonts.map(name => [`fonts/${name}`, name])),
    ...Object.fromEntries(['1.svg', '2.svg', '3.svg'].map(name => [`images/${name}`, '<svg/>'])),
    'stylesheets/app.css': `${face(`url(a.eot); src: ${list('a.eot', 'a.woff2', 'a.woff', 'a.ttf')}`)}
${face(list('b.woff', 'b.ttf', '3.svg'))}${face(list('c.otf'))}.a { background: ${list('1.svg', '2.svg')} }`
  })
  const loaded = ['1.svg', '2.svg', 'a.woff2', 'app.css', 'b.woff', 'c.otf']
  await precompile({ root, ...APART })
  t.deepEqual(pathsOf(await weightOf(root), false), loaded)
})

test('list --entry takes one or more existing names, and counts what they share once', async t => {
  const root = makeShop(t, FILES)
  await precompile({ root, ...APART })
  const weight = await weightOf(root, '--entry app --entry other.js')
  t.deepEqual(pathsOf(weight, false), [...AT_ONCE, 'other.js'].toSorted())
  const unknown = await run(root, 'list --entry none')
  t.is(unknown.status, 1)
  t.is(unknown.stdout, 'No script or stylesheet has such a name.\n')
})
