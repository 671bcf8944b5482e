import { splitFingerprint, withFingerprint } from '../../../lib/runtime/urls/spelling.ts'
import { withoutFingerprint, withoutHash } from '../../../lib/runtime/urls/spelling.ts'
import { digestOf } from '../../../lib/runtime/files/digest.ts'
import { growsInProportion, test, words } from '../../support/index.ts'

const DIGEST = '0123456789abcdef0123456789abcdef'

test('a digest is the SHA-256 of the bytes, its first 32 hex characters', t => {
  t.is(digestOf(Buffer.from('abc')), 'ba7816bf8f01cfea414140de5dae2223')
})

test('a file name has at most one fingerprint, in front of its last extension', t => {
  for (const [name, printed] of [
    ['app.css', `app-${DIGEST}.css`],
    ['admin/app.min.js', `admin/app.min-${DIGEST}.js`],
    ['v1.2/LICENSE', `v1.2/LICENSE-${DIGEST}`],
    ['.htaccess', `.htaccess-${DIGEST}`]
  ] as const) {
    t.is(withFingerprint(name, DIGEST), printed)
    t.deepEqual(splitFingerprint(printed), { name, digest: DIGEST })
    const { before, after } = withoutFingerprint(printed) ?? {}
    t.is(`${before?.slice(0, -1)}${after}`, name)
    t.is(withFingerprint(printed, DIGEST), printed, 'it bears it already')
  }
  const others = words(`app.css app-${DIGEST.slice(1)}.css app-0${DIGEST}.css app${DIGEST}.css
    app-${DIGEST.toUpperCase()}.css app.css-${DIGEST}.d/x.css ${DIGEST}.css`)
  for (const name of others)
    for (const split of [splitFingerprint, withoutFingerprint]) t.is(split(name), undefined, name)
})

const star = (path: string) => {
  const split = withoutHash(path)
  return split && `${split.before}*${split.after}`
}

test('the hash in a name of Vite, Rollup, esbuild, webpack, Rspack, Parcel and Next is found', t => {
  const marked = words(`/assets/index-<BcXr2f3k>.js /assets/index-<B-xr_f3k>.js
    /assets/index-legacy-<DxQkLmNp>.js /assets/a-b-c-<12345678>.css /main-<5QWLZ3KX>.js
    /js/main.<3f9a1c2b4d5e6f708192>.js /js/main.<3f9a1c2b>.chunk.js
    /js/vendors-node_modules_react.<3f9a1c2b4d5e6f70>.js /js/123.<3f9a1c2b>.js /app.<3f9a1c2b>.css
    /_next/static/chunks/pages/_app-<0a1b2c3d4e5f6a7b>.js /app-<${DIGEST}>.js
    /app-<${DIGEST}>.min.js`)
  for (const each of marked)
    t.is(star(each.replaceAll(/[<>]/g, '')), each.replace(/<.*>/, '*'), each)
})

test('only a hash between the name of a file and its extension is recognized', t => {
  const paths = words(`/app.js /jquery.min.js /3f9a1c2b.js /${DIGEST}.js /a-3f9a1c2b/app.js
    /component.module.css /LICENSE-3f9a1c2b /`)
  for (const path of paths) t.is(star(path), undefined, path)
})

test('the time to look for a hash in a path is proportional to its length', t => {
  for (const part of ['a-', '-', 'a.', '.', 'a1', '-a.b']) {
    const read = (count: number) => star(`/${part.repeat(count)}!`)
    t.true(growsInProportion(8192, read), part)
  }
})
