import { createHash } from 'node:crypto'
import test from 'ava'
import { array, assert, constantFrom, property, string, uint8Array } from 'fast-check'
import { splitFingerprint, withFingerprint } from '../../../lib/assets/urls/fingerprint.ts'
import { digestOf } from '../../../lib/files/digest.ts'

const DIGEST = '0123456789abcdef0123456789abcdef'

test('FPR-02 a digest is the SHA-256 of the bytes, its first 32 hex characters', t => {
  t.is(digestOf(Buffer.from('abc')), 'ba7816bf8f01cfea414140de5dae2223')
  assert(
    property(uint8Array(), bytes => {
      const whole = createHash('sha256').update(bytes).digest('hex')
      return digestOf(bytes) === whole.slice(0, 32)
    })
  )
})

for (const [name, printed] of [
  ['app.css', `app-${DIGEST}.css`],
  ['admin/app.min.js', `admin/app.min-${DIGEST}.js`],
  ['LICENSE', `LICENSE-${DIGEST}`],
  ['v1.2/LICENSE', `v1.2/LICENSE-${DIGEST}`],
  ['.well-known/x', `.well-known/x-${DIGEST}`],
  ['.htaccess', `.htaccess-${DIGEST}`]
] as const) {
  test(`${name} with its fingerprint is ${printed}, and back`, t => {
    t.is(withFingerprint(name, DIGEST), printed)
    t.deepEqual(splitFingerprint(printed), { name, digest: DIGEST })
    t.is(withFingerprint(printed, DIGEST), printed, 'it bears it already')
  })
}

for (const name of [
  'app.css',
  `app-${DIGEST.slice(1)}.css`,
  `app-0${DIGEST}.css`,
  `app-${DIGEST.toUpperCase()}.css`,
  `app${DIGEST}.css`,
  `app-${DIGEST}`.replace('app', 'a.b'),
  `app.css-${DIGEST}.d/x.css`
]) {
  test(`${name} has no fingerprint of its own`, t => {
    const parts = splitFingerprint(name)
    t.is(parts?.digest === DIGEST && withFingerprint(parts.name, DIGEST) === name, false)
  })
}

test('every name comes back from its fingerprinted form', t => {
  const segments = string({ minLength: 1 }).map(text => text.replaceAll('/', '_'))
  const names = array(segments, { minLength: 1, maxLength: 4 })
  assert(
    property(names, constantFrom('.css', '.min.js', ''), (parts, extension) => {
      const name = parts.join('/') + extension
      if (splitFingerprint(name)) return true
      return splitFingerprint(withFingerprint(name, DIGEST))?.name === name
    })
  )
  t.pass()
})
