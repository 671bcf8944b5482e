// Where the hash is in a name.
import test from 'ava'
import { withoutFingerprint, withoutHash } from '../../../lib/assets/urls/hashed-name.ts'
import { growsInProportion } from '../../support/cost.ts'

const digest = '0123456789abcdef'.repeat(2)
const star = (path: string) => {
  const split = withoutHash(path)
  return split && `${split.before}*${split.after}`
}

test('DLT-01 a fingerprint is what precedes the last extension', t => {
  t.deepEqual(withoutFingerprint(`/assets/a/app-${digest}.css`), {
    before: '/assets/a/app-',
    after: '.css'
  })
  t.deepEqual(withoutFingerprint(`/assets/LICENSE-${digest}`), {
    before: '/assets/LICENSE-',
    after: ''
  })
  for (const path of ['/assets/app.css', `/assets/${digest}.css`, `/a-${digest}.css/app.css`]) {
    t.is(withoutFingerprint(path), undefined, path)
  }
})

test('DLT-01 the hash in a name of Vite, Rollup, esbuild, webpack, Rspack, Parcel and Next is found', t => {
  for (const [path, pattern] of Object.entries({
    '/assets/index-BcXr2f3k.js': '/assets/index-*.js',
    '/assets/index-B-xr_f3k.js': '/assets/index-*.js',
    '/assets/index-legacy-DxQkLmNp.js': '/assets/index-legacy-*.js',
    '/assets/a-b-c-12345678.css': '/assets/a-b-c-*.css',
    '/main-5QWLZ3KX.js': '/main-*.js',
    '/js/main.3f9a1c2b4d5e6f708192.js': '/js/main.*.js',
    '/js/main.3f9a1c2b.chunk.js': '/js/main.*.chunk.js',
    '/js/vendors-node_modules_react.3f9a1c2b4d5e6f70.js': '/js/vendors-node_modules_react.*.js',
    '/js/123.3f9a1c2b.js': '/js/123.*.js',
    '/app.3f9a1c2b.css': '/app.*.css',
    '/_next/static/chunks/pages/_app-0a1b2c3d4e5f6a7b.js': '/_next/static/chunks/pages/_app-*.js',
    [`/app-${digest}.js`]: '/app-*.js',
    [`/app-${digest}.min.js`]: '/app-*.min.js'
  })) {
    t.is(star(path), pattern, path)
  }
})

test('DLT-01 a name without a hash, or with nothing else, has no pattern', t => {
  for (const path of [
    ...['/app.js', '/jquery.min.js', '/3f9a1c2b.js', `/${digest}.js`, '/a-3f9a1c2b/app.js'],
    ...['/component.module.css', '/LICENSE-3f9a1c2b', '/']
  ]) {
    t.is(star(path), undefined, path)
  }
})

test('DLT-01 a path of any length is read in linear time', t => {
  for (const part of ['a-', '-', 'a.', '.', 'a1', '-a.b']) {
    t.true(
      growsInProportion(8192, count => star(`/${part.repeat(count)}!`)),
      part
    )
  }
})
