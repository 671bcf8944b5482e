// Expressions with a value are found in code alone, and not where a name is another one.
import * as fc from 'fast-check'
import { constantsIn } from '../../../lib/publishing/references/constants.ts'
import { replaceReferences } from '../../../lib/publishing/references/references.ts'
import { constantsOf } from '../../../lib/runtime/settings/constants.ts'
import { cases, test } from '../../support/index.ts'

const SITUATION = { env: 'staging', isPrecompile: false, base: '/shop' }
const DEFINE = { __V__: '1.2', $n: -5, __O__: { list: [1] }, 'kit.flags.on': true }
const CONSTANTS = constantsOf(SITUATION, DEFINE)

async function replaced(code: string): Promise<string> {
  const { references = [], values = [] } = (await constantsIn(code, CONSTANTS)) ?? {}
  return replaceReferences(code, references, values)
}

/** What a text says where these are variables, and `meta` stands for `import.meta`. */
const VARIABLES = {
  process: { env: { NODE_ENV: 'production' } },
  meta: { env: CONSTANTS['import.meta.env'] },
  __V__: '1.2',
  $n: -5,
  __O__: { list: [1] },
  kit: { flags: { on: true } }
}
const OTHERS = {
  id: (value: unknown) => value,
  other: { process: VARIABLES.process, __V__: 'other', kit: VARIABLES.kit }
}

function valueOf(code: string, variables: object): unknown {
  return resultOf(`return (${code})`, variables)
}

function resultOf(body: string, variables: object): unknown {
  const known = { ...OTHERS, ...variables }
  // oxlint-disable-next-line typescript/no-implied-eval -- the text is one of the model
  const run = new Function(...Object.keys(known), body) as (...all: unknown[]) => unknown
  return run(...Object.values(known))
}

const NAMES = Object.keys(VARIABLES).filter(name => name !== 'meta')
const NONE = Object.fromEntries(NAMES.map(name => [name, undefined]))

const LEAVES = [
  ...['process.env.NODE_ENV', "process.env['NODE_ENV']", 'process?.env?.NODE_ENV'],
  ...['process\n  .env.NODE_ENV', 'META.env.MODE', 'META.env?.DEV', "META.env['BASE_URL']"],
  ...['META . env . NONE', 'META.env', '__V__', '$n', '$n.toFixed(1)', '__O__', '__O__.list[0]'],
  ...['kit.flags.on', 'other.process.env.NODE_ENV', 'other . __V__', 'other?.kit.flags.on'],
  ...["'process.env.NODE_ENV __V__ import.meta.env'", '"\\"__V__"'],
  ...['/[/"]__V__ process.env.NODE_ENV/.source', '`__V__ import.meta.env.MODE`'],
  '1 / 2 /* $n */ / 3'
]

/** Each has expressions in the places of the dots. */
const AROUND = [
  ...['(…)', '[…, …]', '[...String(…)]', '({ __V__: … })', '({ __V__ })', '({ __V__, a: … })'],
  ...['({ a: …, __V__, b: […], $n })', '({ process: …, [__V__]: 1 })'],
  ...['{}, { __V__() { return … } }.__V__()', '`a${…}b${__V__}c`', '… ? … : …', '… ? __V__ : $n'],
  ...['id(…, __V__, …)', '(() => …)()', '(() => { if (__V__) { return … } else return … })()'],
  '(() => { while ($n) { return … } })()',
  '(() => { switch (…) { case __V__: return …; default: return 1 } })()',
  ...['((x = …, y = __V__) => [x, y])()', '(function f(x = $n) { return [x, …] })()'],
  ...['[…, __V__].map(x => x)', '… // " __V__\n', '… === __V__', '!…', 'typeof …', '…, …']
].map(each => (/^[([`]/.test(each) ? each : `(${each})`))

test('a script with replaced values behaves as it would with variables of these names', async t => {
  const { text } = fc.letrec<{ text: string }>(tie => ({
    text: fc.oneof(
      { depthSize: 'medium', withCrossShrink: true },
      fc.constantFrom(...LEAVES),
      fc
        .tuple(fc.constantFrom(...AROUND), fc.array(tie('text'), { minLength: 3, maxLength: 3 }))
        .map(([around, inside]) => {
          const left = [...inside]
          return around.replace(/…/g, () => left.shift() ?? '')
        })
    )
  }))
  const property = fc.asyncProperty(text, async code => {
    const made = await replaced(code.replaceAll('META', 'import.meta'))
    const expected = valueOf(code.replaceAll('META', 'meta'), VARIABLES)
    t.deepEqual(valueOf(made, NONE), expected, made)
  })
  await fc.assert(property, { numRuns: cases(400, 20_000), seed: Number(process.env['SEED'] ?? 1) })
})

test('a name that a script declares, assigns or has as a parameter is not replaced', async t => {
  const own = [
    ...['const process = 1', 'let process\n', 'for (const process of all) {}'],
    ...['function process() {}', 'function* process() {}', 'class process {}'],
    ...["import process from 'process'", "import * as process from 'process'"],
    ...["import { a as process } from 'process'", "import { process } from 'process'"],
    ...['const { process } = a', 'const { b: process, c } = a', 'process = a', 'process => 1'],
    ...['(a, process) => 1', '({ process }) => 1', '(...process) => 1'],
    ...['(a = [1], { b: [process] }) => 1', '(process, a = [process]) => 1'],
    ...['function f(a, process) {}', 'class A { f(process) {} }', 'try {} catch (process) {}']
  ]
  const uses = '\nif (process.env.NODE_ENV) f(process.env.NODE_ENV, import.meta.env.MODE)'
  const made = '\nif (process.env.NODE_ENV) f(process.env.NODE_ENV, "staging")'
  for (const code of own) t.is(await replaced(code + uses), code + made)
  const others = [
    ...['let processes', 'a.process = 1', 'if (process) {}', 'f(process)'],
    ...['class A { process() {} }', 'const { process: own } = a'],
    ...['// let process run, as process does\n', 'a = process == 1', '(a = [process]) => 1'],
    ...['(a = `b${[process, 1]}`, c) => 1', 'class A extends b(process.env, c) {}'],
    'class A extends b(c || process) {}'
  ]
  const all = uses.replaceAll('process.env.NODE_ENV', '"production"')
  for (const code of others)
    t.is(await replaced(code + uses), code + all.replace('import.meta.env.MODE', '"staging"'))
})

test('assignments and names of methods, labels and properties are not replaced', async t => {
  for (const code of [
    ...["process.env.NODE_ENV = 'a'", "import.meta.env.MODE ||= 'a'", 'class A { __V__() {} }'],
    ...['__V__: for (;;) break', 'f()\n__V__: for (;;) {}'],
    "a = 'b'\n__V__: for (;;) { for (;;) break __V__ }",
    ...['if (a) __V__: for (;;) continue __V__', 'a = { __V__: 1 }', 'a.__V__ + a . __V__'],
    'a.#__V__'
  ])
    t.is(await replaced(code), code)
})

/** Each ends a statement, or does not: then it has what comes behind. None of those that do has a semicolon. */
const LINES: readonly (readonly [line: string, closing?: string])[] = [
  ...['note(1)', 'x = note', "x = 'a'", 'x = `a`', 'x = [1]', 'x++', 'x = /a/', 'x = {}', '{}'],
  ...['x = note // a,', 'x = note /* = */', 'x = note // a\n', 'if (x)', 'if (x) {} else'],
  'note(1);'
].map(line => [line] as const)
const OPEN: typeof LINES = [
  ['note(', ')'],
  ['x = [1,', ']'],
  ['x = note ?', ': 0'],
  ['x = y =>'],
  ['x = 1 +'],
  ['x ='],
  ['for (;;) {', '\nbreak }']
]

test('a value replaced at the start of a line does not change what the line before means', async t => {
  for (const [line, closing = ''] of [...LINES, ...OPEN]) {
    for (const use of ['$n && note(2)', '__O__.list && note(2)', '__V__.length && note(2)']) {
      const body = `let x = 1
        const log = []
        const note = each => (log.push(each === note ? 'note' : each), note)
        ${line}
        ${use}${closing}
        return [log, x === note ? 'note' : typeof x === 'function' ? x() === note : String(x)]`
      const made = await replaced(body)
      t.deepEqual(resultOf(made, NONE), resultOf(body, VARIABLES), made)
    }
  }
})

test('an unknown environment variable is reported once, unless the script checks for it', async t => {
  const unknownIn = async (code: string) =>
    [...((await constantsIn(code, CONSTANTS))?.unknown ?? [])].map(each => each.join(' '))
  const told: readonly (readonly [code: string, ...names: string[]])[] = [
    ['a = process.env.API + process.env.API', 'process.env.API 4'],
    ['process.nextTick(f)', 'process.nextTick 0'],
    ['process.env', 'process.env 0'],
    ["process.env['API']", 'process.env 0'],
    ['  import.meta.env.VITE_API', 'import.meta.env.VITE_API 2'],
    ['process.env.NODE_ENV + import.meta.env.MODE'],
    ['import.meta.env?.VITE_API'],
    ['import.meta.env[name]'],
    ["typeof process === 'object' && process.env.API"],
    ["'process.env.API'"],
    ['const process = a; process.env.API'],
    ['import.meta.url']
  ]
  for (const [code, ...names] of told) t.deepEqual(await unknownIn(code), names, code)
})

test('a script that uses none of the replaced names is left alone', async t => {
  t.is(await constantsIn('export const a = import("./b.js")', CONSTANTS), undefined)
  t.is(await constantsIn('export const a = `kits ${1}`', constantsOf(SITUATION, {})), undefined)
})
