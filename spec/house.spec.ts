// The laws of the house: what may know what, and what a user may count on in the package.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import test from 'ava'
import * as face from '../lib/index.ts'
import * as assets from '../lib/koa-assets.ts'
import * as httpCache from '../lib/koa-http-cache.ts'

const files = new Map(
  readdirSync('lib', { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts'))
    .map(name => [name.replaceAll('\\', '/'), readFileSync(join('lib', name), 'utf8')])
)

const IMPORT =
  /^(?:import|export)\s[^'";]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gm

interface Import {
  readonly from: string
  /** A file of ours, or the name of a package. */
  readonly to: string
  readonly isType: boolean
}

const imports: readonly Import[] = [...files].flatMap(([from, text]) =>
  [...text.matchAll(IMPORT)].map(([whole, named, bare, dynamic]) => {
    const to = named ?? bare ?? dynamic ?? ''
    const isOurs = to.startsWith('.')
    return {
      from,
      to: isOurs ? normalize(join(dirname(from), to)).replaceAll('\\', '/') : to,
      isType: /^(?:import|export) type\b/.test(whole)
    }
  })
)

const importersOf = (to: string) =>
  imports.filter(each => each.to === to && !each.isType).map(({ from }) => from)
const isCaching = (file: string) => file === 'koa-http-cache.ts' || file.startsWith('http-cache/')
const isAssets = (file: string) => file === 'koa-assets.ts' || file.startsWith('assets/')
const layerOf = (file: string) => {
  if (file === 'index.ts' || file === 'cli.ts' || file.startsWith('cli/')) return 'top'
  if (file.startsWith('http/')) return 'http'
  if (file.startsWith('files/')) return 'files'
  if (isCaching(file)) return 'caching'
  if (isAssets(file)) return 'assets'
  return 'ground'
}

test('the house is read: many files, and many imports between them', t => {
  t.true(files.size > 30)
  t.true(imports.filter(({ to }) => files.has(to)).length > 60)
  t.deepEqual(
    imports.filter(({ to }) => to.endsWith('.ts') && !files.has(to)),
    []
  )
})

test('imports point one way', t => {
  const allowed: Record<string, readonly string[]> = {
    top: ['top', 'assets', 'caching', 'files', 'http', 'ground'],
    assets: ['assets', 'files', 'http', 'ground'],
    caching: ['caching', 'files', 'http', 'ground'],
    files: ['files', 'http', 'ground'],
    http: ['http'],
    ground: ['ground']
  }
  const wrong = imports
    .filter(({ to }) => files.has(to))
    .filter(({ from, to }) => !allowed[layerOf(from)]?.includes(layerOf(to)))
    .map(({ from, to }) => `${from} -> ${to}`)
  t.deepEqual(wrong, [])
})

test('the rooms of a half do not import its middleware', t => {
  const middleware = ['koa-assets.ts', 'koa-http-cache.ts', 'index.ts', 'cli.ts']
  const wrong = imports.filter(({ from, to }) => middleware.includes(to) && layerOf(from) !== 'top')
  t.deepEqual(wrong, [])
})

test('no file imports itself by way of others', t => {
  const next = new Map<string, string[]>()
  for (const { from, to, isType } of imports) {
    if (!isType && files.has(to)) next.set(from, [...(next.get(from) ?? []), to])
  }
  const circles: string[] = []
  const walk = (file: string, way: readonly string[]): void => {
    if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(' -> '))
    else if (!done.has(file)) for (const to of next.get(file) ?? []) walk(to, [...way, file])
    done.add(file)
  }
  const done = new Set<string>()
  for (const file of files.keys()) walk(file, [])
  t.deepEqual(circles, [])
})

for (const [dependency, doors] of [
  ['send', ['assets/serving/send-file.ts']],
  ['lru-cache', ['assets/publishing/mtime-index.ts', 'assets/serving/public-files.ts']],
  ['koa-compose', ['koa-assets.ts']],
  ['mime-types', ['http/media-type.ts']]
] as const) {
  test(`${dependency} is imported by ${doors.join(' and ')} alone`, t => {
    t.deepEqual(importersOf(dependency).toSorted(), [...doors])
  })
}

test('a dependency is declared, a peer is asked for, the rest is Node', t => {
  const { dependencies, peerDependencies } = readPackage()
  const known = new Set([...Object.keys(dependencies), ...Object.keys(peerDependencies)])
  const wrong = imports.filter(
    ({ to }) => !files.has(to) && !to.startsWith('node:') && !known.has(to.replace(/^@types\//, ''))
  )
  t.deepEqual(wrong, [])
})

test('Koa is known to the middleware and to serve.ts alone', t => {
  const mayKnow = (file: string) =>
    file === 'koa-assets.ts' || file === 'assets/serving/serve.ts' || isCaching(file)
  const importers = imports.filter(({ to }) => to === 'koa' || to.startsWith('koa/'))
  t.deepEqual(
    importers.filter(({ from }) => !mayKnow(from)),
    []
  )
  t.true(
    importers.every(({ isType }) => isType),
    'and its types at that: Koa is a peer'
  )
  const talkers = [...files].filter(([, text]) => /\bctx\b/.test(withoutComments(text)))
  t.deepEqual(
    talkers.map(([file]) => file).filter(file => !mayKnow(file) && layerOf(file) !== 'top'),
    []
  )
})

test('http knows neither Koa nor the disk', t => {
  const wrong = imports.filter(
    ({ from, to, isType }) =>
      layerOf(from) === 'http' &&
      !files.has(to) &&
      !isType &&
      !['node:path', 'mime-types'].includes(to)
  )
  t.deepEqual(wrong, [])
})

test('nothing blocks after start: *Sync is called at start alone', t => {
  const atStart = new Set(['files/at-start.ts', 'files/writing/process-owner.ts'])
  const blocking = [...files]
    .filter(([, text]) => /\b\w+Sync\s*\(/.test(withoutComments(text)))
    .map(([file]) => file)
  t.deepEqual(
    blocking.filter(file => !atStart.has(file) && layerOf(file) !== 'top'),
    []
  )
})

test('no failure is swallowed by an empty catch', t => {
  const empty =
    /\bcatch\s*(?:\([^)]*\)\s*)?\{\s*\}|\.catch\(\(\)\s*=>\s*(?:\{\s*\}|undefined|null)\)/
  t.deepEqual(
    [...files].filter(([, text]) => empty.test(withoutComments(text))).map(([file]) => file),
    []
  )
})

test('a failure is recognised by its code, in whichever realm it was made', t => {
  const asked = [...files].filter(([, text]) => /instanceof Error\b/.test(withoutComments(text)))
  t.deepEqual(
    asked.map(([file]) => file),
    []
  )
})

test('every file is under 250 lines', t => {
  const long = [...files].map(([file, text]) => [file, text.split('\n').length - 1] as const)
  t.deepEqual(
    long.filter(([, lines]) => lines >= 250),
    []
  )
})

const ASSETS = [
  'AssetError',
  'CompileError',
  'PrecompileError',
  'assetSources',
  'clean',
  'koaAssets',
  'precompile',
  'verify'
]
const HTTP_CACHE = ['Halt', 'koaHttpCache', 'versionOf']

test('the entries export these names', t => {
  t.deepEqual(Object.keys(assets).toSorted(), ASSETS)
  t.deepEqual(Object.keys(httpCache).toSorted(), HTTP_CACHE)
  t.deepEqual(Object.keys(face).toSorted(), [...ASSETS, ...HTTP_CACHE].toSorted())
})

test('the package says what it runs on, and has an entry for both halves and one for each', t => {
  const { type, engines, exports, files: packed, license } = readPackage()
  t.is(type, 'module')
  t.is(license, 'MIT')
  t.deepEqual(engines, { node: '>=20.19' })
  t.deepEqual(exports, {
    '.': { types: './dist/index.d.ts', default: './dist/index.js' },
    './assets': { types: './dist/koa-assets.d.ts', default: './dist/koa-assets.js' },
    './http-cache': { types: './dist/koa-http-cache.d.ts', default: './dist/koa-http-cache.js' },
    './package.json': './package.json'
  })
  t.true(packed.includes('dist'))
})

test('Koa, its types and the preprocessors are peers; all but Koa are optional', t => {
  const { dependencies, peerDependencies, peerDependenciesMeta } = readPackage()
  const peers = ['@types/koa', 'esbuild', 'koa', 'less', 'sass', 'sass-embedded']
  t.deepEqual(Object.keys(peerDependencies).toSorted(), peers)
  t.deepEqual(
    Object.keys(peerDependenciesMeta).toSorted(),
    peers.filter(name => name !== 'koa')
  )
  t.deepEqual(
    peers.filter(name => name in dependencies),
    []
  )
})

test('the lock file names no registry, so that an install asks the one that is set', t => {
  t.false(readFileSync('package-lock.json', 'utf8').includes('"resolved"'))
})

interface Package {
  readonly type: string
  readonly license: string
  readonly engines: object
  readonly exports: object
  readonly files: readonly string[]
  readonly dependencies: Record<string, string>
  readonly peerDependencies: Record<string, string>
  readonly peerDependenciesMeta: Record<string, object>
}

function readPackage(): Package {
  return JSON.parse(readFileSync('package.json', 'utf8')) as Package
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[^]*?\*\/|(?<=^|\s)\/\/.*$/gm, '')
}
