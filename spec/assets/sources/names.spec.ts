// Names of every kind: what a person may call a file, and what no request may ask for.
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import * as fc from 'fast-check'
import { makeFront } from '../../support/front.ts'
import { ask } from '../../support/raw.ts'
import { makeProject, writeFiles } from '../../support/site.ts'
import { cases } from '../../support/soak.ts'

// A percent-encoded character that needs no encoding is another spelling, and not ours.
function encoded(name: string): string {
  return name.split('/').map(encodeURIComponent).join('/').replace(/%7E/gi, '~')
}

const ODD = '!"#$%&\'()*+,-.;<=>?@[]^_`{|}~ äöüß€😀日本語אב\u0301\u200b\u202e\ufeff'

test('a name of any characters is served under its encoded form, and written below public', async t => {
  const names = [
    ...[...new Intl.Segmenter().segment(ODD)].map(({ segment }) => `a${segment}b.txt`),
    ...[
      'a%2Fb.txt',
      'a%00b.txt',
      '%2e%2e.txt',
      'a..b.txt',
      'a...txt',
      '--help',
      '-rf',
      "o'clock.txt"
    ],
    ...[
      'a?b=c&d.txt',
      'a#b.txt',
      '$(id).txt',
      '`id`.txt',
      'a;b|c.txt',
      'x'.repeat(200) + '.txt',
      '{{7*7}}'
    ]
  ]
  const sources = Object.fromEntries(names.map(name => [`apps/web/assets/x/${name}`, `in ${name}`]))
  const root = makeProject(t, sources)
  const { port, errors } = await makeFront(t, { root, env: 'development' })
  for (const name of names) {
    const response = await ask(port, 'GET', `/assets/${encoded(name)}`)
    t.is(response.text, `in ${name}`, encoded(name))
    t.is(readFileSync(join(root, 'public/assets', name), 'utf8'), `in ${name}`)
  }
  t.deepEqual(readdirSync(join(root, 'public/assets')).toSorted(), [...new Set(names)].toSorted())
  t.deepEqual(errors, [])
})

test('names that are not valid in a request are never served, whatever is on disk', async t => {
  const names = [
    'a\nb.txt',
    'a\tb.txt',
    'a\\b.txt',
    'a:b.txt',
    'a\u007fb.txt',
    'end.',
    'blank ',
    'con.txt',
    '..a',
    '.b'
  ]
  const root = makeProject(
    t,
    Object.fromEntries([
      ...names.map(name => [`apps/web/assets/x/${name}`, 'secret'] as const),
      ...names.map(name => [`public/${name}`, 'secret'] as const)
    ])
  )
  // A name that is no UTF-8 at all.
  closeSync(openSync(Buffer.from(`${root}/apps/web/assets/x/\xff\xfe.txt`, 'latin1'), 'w'))
  mkdirSync(Buffer.from(`${root}/apps/web/assets/\xff`, 'latin1'))
  writeFiles(root, { 'apps/web/assets/x/good.txt': 'good' })
  const { port, errors } = await makeFront(t, { root, env: 'development' })
  for (const name of [...names, '\ufffd\ufffd.txt']) {
    for (const path of [
      `/assets/${encoded(name)}`,
      `/${encoded(name)}`,
      `/assets/x/${encoded(name)}`
    ]) {
      t.is((await ask(port, 'GET', path)).status, 404, path)
    }
  }
  t.is((await ask(port, 'GET', '/assets/good.txt')).text, 'good')
  t.deepEqual(errors, [])
})

test('names that differ only in case are two names, each with its own bytes', async t => {
  const names = ['App.css', 'app.css', 'APP.CSS', 'aPP.css', 'sub/x.css', 'Sub/x.css']
  const sources = Object.fromEntries(names.map(name => [`apps/web/assets/x/${name}`, `in ${name}`]))
  const { port, errors } = await makeFront(t, { root: makeProject(t, sources), env: 'development' })
  for (const name of [...names, ...names.toReversed()]) {
    t.is((await ask(port, 'GET', `/assets/${name}`)).text, `in ${name}`)
  }
  t.is((await ask(port, 'GET', '/assets/aPp.css')).status, 404)
  t.deepEqual(errors, [])
})

test('any name that a person may give a file is found, and nothing but that file', async t => {
  const root = makeProject(t, { 'apps/web/assets/x/keep': '' })
  const { port, errors } = await makeFront(t, { root, env: 'test' })
  const letters = fc.constantFrom(
    ...[...new Intl.Segmenter().segment(ODD)].map(each => each.segment),
    'a',
    'B',
    '7'
  )
  const stem = fc.array(letters, { minLength: 1, maxLength: 12 }).map(all => all.join(''))
  await fc.assert(
    fc.asyncProperty(stem, async odd => {
      const name = `n${odd}.txt`
      const file = join(root, 'apps/web/assets/x', name)
      writeFileSync(file, name)
      const response = await ask(port, 'GET', `/assets/${encoded(name)}`)
      rmSync(file)
      const gone = await ask(port, 'GET', `/assets/${encoded(name)}`)
      return response.text === name && gone.status === 404
    }),
    { numRuns: cases(50, 300) }
  )
  t.deepEqual(errors, [])
})
