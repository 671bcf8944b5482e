import test from 'ava'
import { array, assert, constantFrom, property } from 'fast-check'
import { makeCatalog } from '../../../lib/assets/sources/catalog.ts'
import type { Compiler } from '../../../lib/assets/compilers/compiler.ts'
import { builtInCompilers } from '../../../lib/assets/compilers/built-in.ts'
import { settle } from '../../../lib/assets/settings/settings.ts'
import { makeProject } from '../../support/site.ts'

const compilers = new Map<string, Compiler>(
  builtInCompilers.map(compiler => [String(compiler.extensions), compiler])
)
const read = (...paths: string[]) => makeCatalog('/src', paths, compilers)
const pathsOf = (list: readonly { path: string }[] | undefined) => list?.map(({ path }) => path)

for (const [path, name, compiled] of [
  ['stylesheets/app.css', 'app.css', false],
  ['stylesheets/app.css.scss', 'app.css', true],
  ['stylesheets/app.scss', 'app.css', true],
  ['stylesheets/admin/app.min.css.less', 'admin/app.min.css', true],
  ['javascripts/app.js.tsx', 'app.js', true],
  ['javascripts/app.ts', 'app.js', true],
  ['app.css.sass', 'app.css', true],
  ['favicon.ico', 'favicon.ico', false],
  ['css/css.scss', 'css.css', true],
  ['files/no-extension', 'no-extension', false],
  ['files.scss/no-extension', 'no-extension', false],
  ['css/APP.CSS.SCSS', 'APP.CSS', true]
] as const) {
  test(`${path} is ${name}, ${compiled ? 'compiled' : 'copied'}`, t => {
    const [source, ...others] = read(path).byName.get(name) ?? []
    t.deepEqual(others, [])
    t.like(source, { name, path, file: `/src/${path}`, directory: '/src' })
    t.is(source?.compiler !== undefined, compiled)
  })
}

test('a source is found by every tail of its path, and by nothing else', t => {
  const { byTail } = read('a/b/c.css.scss')
  t.deepEqual([...byTail.keys()].toSorted(), ['a/b/c.css', 'b/c.css', 'c.css'])
})

test('sources with the same name or tail are in byte order', t => {
  const { byName, byTail } = read('z/a.css', 'b/a.css', 'B/a.css', 'b/c/a.css')
  t.deepEqual(pathsOf(byName.get('a.css')), ['B/a.css', 'b/a.css', 'z/a.css'])
  t.deepEqual(pathsOf(byTail.get('a.css')), ['B/a.css', 'b/a.css', 'b/c/a.css', 'z/a.css'])
})

test('a plain file hides the preprocessor source next to it', t => {
  const { byName } = read('a/x.css.scss', 'a/x.css', 'a/x.css.less', 'b/x.css.scss')
  t.deepEqual(pathsOf(byName.get('x.css')), ['a/x.css', 'b/x.css.scss'])
})

test('names of object properties are ordinary names', t => {
  const { byName } = read('a/__proto__', 'a/constructor')
  t.deepEqual(pathsOf(byName.get('__proto__')), ['a/__proto__'])
  t.is(byName.get('toString'), undefined)
})

test("the settings' table knows every built-in extension", t => {
  const [app] = settle({ root: makeProject(t) }, {}).apps
  t.deepEqual(
    [...(app?.compilers.keys() ?? [])],
    ['.scss', '.sass', '.less', '.ts', '.tsx', '.jsx']
  )
})

test('the order in which a folder is read makes no difference', t => {
  const names = constantFrom(
    'a/x.css',
    'b/x.css',
    'a/x.css.scss',
    'b/y/x.css',
    'x.css',
    'a/x.css.less'
  )
  const keys = (paths: string[]) => {
    const { byName, byTail } = read(...paths)
    return JSON.stringify(
      [[...byName], [...byTail]].map(rows =>
        rows
          .map(([k, v]) => [k, pathsOf(v)])
          .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1))
      )
    )
  }
  assert(
    property(array(names), paths => {
      const once = [...new Set(paths)]
      return keys(once) === keys(once.toReversed())
    })
  )
  t.pass()
})
