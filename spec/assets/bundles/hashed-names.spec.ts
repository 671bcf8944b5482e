// Which names are taken for hashed.
import fc from 'fast-check'
import test from 'ava'
import { HASHES, hashedAmong, type NamedFile } from '../../../lib/assets/bundles/hashed-names.ts'

const isHashed = (file: string, stem: string | undefined, hash: RegExp) =>
  hashedAmong([[[file, stem]]], hash).has(file)

for (const [file, stem, tool] of [
  ['assets/main-CZTearZk.css', 'main', 'vite'],
  ['assets/logo-WHL-7HyY.svg', 'logo', 'vite'],
  ['assets/shared-BveffPw_.css', 'shared', 'vite'],
  ['js/main.BX3f_9aZ.js', 'main', 'vite'],
  ['assets/main-legacy-DonsPPRv.js', 'main', 'vite'],
  ['assets/index-3f2a9c81d0e4.js', 'index', 'vite'],
  ['main-37S42XUG.js', 'main', 'esbuild'],
  ['main.0fc1a5ed7a847a4bcb69.js', undefined, 'webpack'],
  ['js/main-60312ead.js', undefined, 'webpack'],
  ['205.f07ff05d73c05d76.js', undefined, 'webpack'],
  ['0fc1a5ed7a847a4bcb69.svg', undefined, 'webpack']
] as const) {
  test(`BND-08 ${file} has a hash`, t => {
    t.true(isHashed(file, stem, HASHES[tool]))
  })
}

for (const [file, stem, tool] of [
  ['main.js', 'main', 'vite'],
  ['my-component.js', 'my-component', 'vite'],
  ['my-component.css', 'my', 'vite'],
  ['admin-DataTable.css', 'admin', 'vite'],
  ['data-20240101.json', 'data', 'vite'],
  ['main-Version2.js', 'main', 'vite'],
  ['main-release-candidate-2.js', 'main', 'vite'],
  ['main-a1b2c3.js', 'main', 'vite'],
  ['mainCZTearZk.js', 'main', 'vite'],
  ['CZTearZk.js', 'main', 'vite'],
  ['sw-CZTearZk.js', 'sw', 'vite'],
  ['page-CZTearZk.html', 'page', 'vite'],
  ['site-CZTearZk.webmanifest', 'site', 'vite'],
  ['main-SETTINGS.js', 'main', 'esbuild'],
  ['main-VERSION2.js', 'main', 'esbuild'],
  ['main-37s42xug.js', 'main', 'esbuild'],
  ['main-37S42XU.js', 'main', 'esbuild'],
  ['main-facade12.js', undefined, 'webpack'],
  ['data-20240101.json', undefined, 'webpack'],
  ['main-deadbeef.js', undefined, 'webpack'],
  ['main.0fc1a5.js', undefined, 'webpack']
] as const) {
  test(`BND-08 ${file} has none, when it is called ${stem ?? 'anything'}`, t => {
    t.false(isHashed(file, stem, HASHES[tool]))
  })
}

test('BND-08 a suffix of several files is not a hash, whatever it looks like', t => {
  const files = ['main', 'admin'].map((stem): NamedFile => [`${stem}-CZTearZk.js`, stem])
  t.deepEqual([...hashedAmong([files], HASHES.vite)], [])
})

test('BND-08 where every file has a suffix of its own, even one that could be a word is a hash', t => {
  const files = [
    ['main-SETTINGS.js', 'main'],
    ['main-5FMGWVRF.css', 'main']
  ] as const
  t.is(hashedAmong([files], HASHES.esbuild).size, 2)
  t.is(hashedAmong([[...files, ['other.js', 'other']]], HASHES.esbuild).size, 1)
})

const name = fc.stringMatching(/^[A-Za-z0-9_]+(?:[-.][A-Za-z0-9_]+){0,3}$/)

test('BND-08 a file that is called what its manifest calls it is never hashed', t => {
  fc.assert(
    fc.property(name, fc.constantFrom('vite', 'esbuild'), (stem, tool) => {
      t.false(isHashed(`assets/${stem}.js`, stem, HASHES[tool]))
    })
  )
})

test('no name takes long', t => {
  for (const suffix of ['a'.repeat(64), 'aA'.repeat(32), `${'aa'.repeat(31)}1a`, '-'.repeat(64)]) {
    const start = process.cpuUsage()
    for (let round = 0; round < 1000; round++) {
      for (const tool of ['vite', 'webpack', 'esbuild'] as const) {
        isHashed(`main-${suffix}.js`, 'main', HASHES[tool])
      }
    }
    t.true(process.cpuUsage(start).user < 500_000, suffix)
  }
})
