// The laws of the house: which room may know which, and what a user may count on in the package.
// The length of functions is a lint rule (.oxlintrc.json).
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import test from 'ava'
import { PEERS } from '../lib/publishing/compilers/built-in.ts'
import * as extras from '../lib/runtime/app/extras.ts'
import * as face from '../lib/index.ts'
import * as assets from '../lib/koa-assets.ts'
import * as httpCache from '../lib/koa-http-cache.ts'
import { words } from './support/texts.ts'

// Each room of the core with the rooms that it may import, types included. `ground`: the small files in lib itself.
const LOW = ['ground', 'http', 'files']
const SETTLED = [...LOW, 'urls', 'compilers', 'settings', 'parts']
const READ = [...SETTLED, 'references', 'sources', 'rendering']
const JOINED = [...READ, 'building', 'serving', 'views']
const ALL = [...JOINED, 'pipeline', 'error-page']
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  ground: [],
  http: ['ground'],
  files: ['ground', 'http'],
  urls: LOW,
  compilers: [...LOW, 'urls'],
  settings: [...LOW, 'urls', 'compilers'],
  parts: [...LOW, 'urls', 'compilers', 'settings', 'views'],
  references: ['ground'],
  sources: SETTLED,
  rendering: [...SETTLED, 'references', 'sources'],
  building: READ,
  serving: SETTLED,
  views: [...LOW, 'urls', 'compilers', 'settings'],
  addresses: JOINED,
  'requested-files': JOINED,
  pipeline: [...JOINED, 'addresses', 'requested-files'],
  'error-page': [...SETTLED, 'sources', 'views'],
  context: ALL,
  extras: ['parts', 'pipeline', 'settings'],
  'extra-exports': [],
  'koa-assets': [...ALL, 'extra-exports', 'context', 'extras'],
  'http-cache': LOW,
  'koa-http-cache': [...LOW, 'http-cache'],
  cli: [...ALL, 'extras'],
  index: ['ground', 'settings', 'koa-assets', 'koa-http-cache']
}

const EXTRAS = readdirSync('lib/extras')

// Each package with the files that import it.
const DOORS: Readonly<Record<string, readonly string[]>> = {
  '@csstools/css-tokenizer': ['assets/references/references.ts'],
  '@rgrove/parse-xml': ['extras/inline/svg.ts'],
  '@jridgewell/sourcemap-codec': ['assets/rendering/shift-map.ts'],
  'content-disposition': ['extras/routes/send-file.ts'],
  'es-module-lexer': ['assets/references/module-references.ts'],
  'koa-compose': ['koa-assets.ts'],
  'fastest-levenshtein': ['nearest.ts'],
  'get-tsconfig': ['assets/compilers/tsconfig.ts'],
  'image-size': ['extras/media/image-size.ts'],
  'lru-cache': [
    'assets/building/on-request/publisher.ts',
    'assets/serving/spelling.ts',
    'assets/serving/file.ts'
  ],
  'mime-types': ['http/fields.ts'],
  picomatch: ['files/paths.ts'],
  'cjs-module-lexer': ['extras/modules/common-js.ts'],
  send: ['assets/serving/socket.ts']
}

/** Where Koa's context may be known, under whatever name. */
const RIM = [
  ...['index', 'koa-assets', 'context', 'parts', 'koa-http-cache', 'http-cache'],
  ...['inspector', 'live', 'routes', 'vite', 'warnings']
]

const files = new Map(
  readdirSync('lib', { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts'))
    .map(name => [name.replaceAll('\\', '/'), readFileSync(join('lib', name), 'utf8')])
)
const code = new Map(Array.from(files, ([file, text]) => [file, withoutComments(text)]))

function roomOf(file: string): string {
  const [first = '', second = ''] = file.replace(/\.ts$/, '').split('/')
  if (first === 'assets' || first === 'extras') return second
  if (second !== '') return first
  return first in ROOMS ? first : 'ground'
}

interface Import {
  readonly from: string
  /** A file of ours, or the name of a package. */
  readonly to: string
  readonly isType: boolean
}

const IMPORT =
  /^(?:import|export)\s[^'";]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gm

const imports: readonly Import[] = [...code].flatMap(([from, text]) =>
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
const ours = imports.filter(({ to }) => files.has(to))

const filesWith = (pattern: RegExp) =>
  [...code].filter(([, text]) => pattern.test(text)).map(([file]) => file)

test('the house is read: many files, and many imports between them', t => {
  t.true(files.size > 60)
  t.true(ours.length > 200)
  t.deepEqual(
    imports.filter(({ to }) => to.endsWith('.ts') && !files.has(to)),
    []
  )
})

test('imports point one way, from room to room, types included', t => {
  const wrong = ours.filter(({ from, to }) => {
    const [room, other] = [roomOf(from), roomOf(to)]
    if (room === other || EXTRAS.includes(other)) return false
    // What users call is above the table.
    if (from.endsWith('/exports.ts') && other === 'extras') return false
    return EXTRAS.includes(room) ? ABOVE.includes(other) : !ROOMS[room]?.includes(other)
  })
  t.deepEqual(
    wrong.map(({ from, to }) => `${from} -> ${to}`),
    []
  )
})

/** What no extra imports. */
const ABOVE = words('extras extra-exports koa-assets index http-cache koa-http-cache')

/** What names the extras: their parts, their options, and what users import of them. */
const TABLES = ['assets/extras.ts', 'assets/settings/extra-options.ts', 'assets/extra-exports.ts']

test('EXT-02 only the three tables import extras, and extras those that they declare, without circles', t => {
  const imported = new Map(EXTRAS.map(name => [name, new Set<string>()]))
  for (const { from, to } of ours) {
    const [room, other] = [roomOf(from), roomOf(to)]
    if (room === other || TABLES.includes(from) || !EXTRAS.includes(other)) continue
    const others = imported.get(room)
    t.truthy(others, `${from} -> ${to}`)
    others?.add(other)
  }
  for (const { name, standsOn = [] } of extras.EXTRAS) {
    t.deepEqual(
      [...(imported.get(name) ?? [])].toSorted(),
      standsOn,
      `${name} declares what it imports`
    )
  }
  const below = (name: string, way: readonly string[]): void => {
    t.false(way.includes(name), [...way, name].join(' -> '))
    for (const other of imported.get(name) ?? []) below(other, [...way, name])
  }
  for (const name of EXTRAS) below(name, [])
})

test('EXT-02 the table of extras has each folder once, and Extra at most 16 members', t => {
  t.deepEqual(extras.EXTRAS.map(({ name }) => name).toSorted(), EXTRAS.toSorted())
  const [, members = ''] =
    /^export interface Extra<[^]*?\{\n([^]*?)^\}/m.exec(code.get('assets/parts.ts') ?? '') ?? []
  const { length } = members.match(/^ {2}(?:readonly )?\w+\??[:(]/gm) ?? []
  t.true(length > 10 && length <= 16, String(length))
})

test('no file imports itself through others, types included', t => {
  const next = groupBy(ours, ({ from }) => from)
  const cycles: string[] = []
  const done = new Set<string>()
  const walk = (file: string, way: readonly string[]): void => {
    if (way.includes(file)) cycles.push([...way.slice(way.indexOf(file)), file].join(' -> '))
    else if (!done.has(file)) for (const { to } of next.get(file) ?? []) walk(to, [...way, file])
    done.add(file)
  }
  for (const file of files.keys()) walk(file, [])
  t.deepEqual(cycles, [])
})

test('each package is imported by the files listed for it, and every dependency is listed', t => {
  const { dependencies } = readPackage()
  t.deepEqual(Object.keys(DOORS).toSorted(), Object.keys(dependencies).toSorted())
  for (const [name, doors] of Object.entries(DOORS)) {
    const importers = imports.filter(({ to }) => packageOf(to) === name)
    t.deepEqual([...new Set(importers.map(({ from }) => from))].toSorted(), doors, name)
  }
})

test('every import is a file of ours, a declared dependency, a peer, or a Node module', t => {
  const { dependencies, peerDependencies } = readPackage()
  const known = new Set([...Object.keys(dependencies), ...Object.keys(peerDependencies)])
  const wrong = imports.filter(
    ({ to }) => !files.has(to) && !to.startsWith('node:') && !known.has(packageOf(to))
  )
  t.deepEqual(wrong, [])
})

test('peers are imported only as types: they are loaded when they are needed', t => {
  const { peerDependencies } = readPackage()
  const loaded = imports.filter(({ to, isType }) => to in peerDependencies && !isType)
  t.deepEqual(loaded, [])
})

/** The options of a mount: functions that get the context. */
const MOUNT = 'assets/settings/mount-options.ts'

test("Koa's context, whatever its name, is known only to the middleware and to serve.ts", t => {
  const mayKnow = (file: string) =>
    file.startsWith('assets/serving/koa/') || RIM.includes(roomOf(file)) || file === MOUNT
  const importers = imports.filter(({ to }) => to === 'koa').map(({ from }) => from)
  const talkers = filesWith(/\bctx\b|\bExtendableContext\b|\(this: /)
  t.deepEqual(
    [...importers, ...talkers].filter(file => !mayKnow(file)),
    []
  )
})

test('only the serving room and the middleware know Node’s requests and responses; neither the HTTP rules nor the views know the disk', t => {
  const knowing = imports.filter(({ to }) => /^node:https?2?$/.test(to))
  t.deepEqual(
    knowing
      .filter(({ from }) => !['serving', 'http', 'deltas', ...RIM].includes(roomOf(from)))
      .map(({ from }) => from),
    []
  )
  const http = knowing.filter(({ from }) => roomOf(from) === 'http')
  t.true(
    http.every(({ isType }) => isType),
    'the law of HTTP knows the names of fields'
  )
  const ofDisk = imports.filter(
    ({ from, to }) => ['http', 'views'].includes(roomOf(from)) && /^node:(?:fs|net)/.test(to)
  )
  t.deepEqual(ofDisk, [])
})

test('nothing waits for a disk after start: *Sync is called at start, and for open descriptors, of which the kernel knows the answer or takes over what it is given', t => {
  const atStart = ['files/at-start.ts']
  const descriptors = 'files/open-file.ts'
  t.deepEqual(
    filesWith(/\b\w+Sync\b/).filter(
      file => !atStart.includes(file) && !['cli', 'init', 'vite'].includes(roomOf(file))
    ),
    [descriptors]
  )
  const called = code.get(descriptors)?.match(/\b\w+Sync\([^)\n]*\)/g)
  const allowed = [
    'closeSync(fd)',
    'fstatSync(fd, EXACT)',
    'futimesSync(fd, seconds, seconds)',
    'readlinkSync(`/proc/self/fd/${fd}`)',
    'writeSync(fd, bytes, from, length)'
  ]
  t.deepEqual([...new Set(called)].toSorted(), allowed)
})

test('every failure that is caught is looked at, and recognised by its code, in whichever realm it was made', t => {
  const bare = /\bcatch\s*\{|\bcatch\s*\([^)]*\)\s*\{\s*\}/
  const swallowed = /\.catch\(\(\)\s*=>\s*(?:\{\s*\}|undefined|null|void 0)\)/
  for (const wrong of [bare, swallowed, /instanceof Error\b/]) t.deepEqual(filesWith(wrong), [])
})

test('a folder holds a dozen files at most, and none is deeper than assets/<room>/<part>', t => {
  const folders = [...groupBy([...files.keys()], dirname)]
  const wrong = folders.filter(
    ([folder, { length }]) => folder.split('/').length > 3 || length > 12
  )
  t.deepEqual(wrong, [])
})

test('a file has 222 lines at most, without its imports and comments', t => {
  const long = [...code].filter(([, text]) => linesOf(text) > 222)
  t.deepEqual(long, [])
})

test('an extra has 1,910 lines of code at most; the core, which one reads first, is bounded as well', t => {
  const total = (test: (file: string) => boolean, count: (text: string) => number) =>
    [...files].filter(([file]) => test(file)).reduce((sum, [, text]) => sum + count(text), 0)
  // A docstring more is no reason for a move.
  const code = (text: string) => linesOf(withoutComments(text))
  for (const extra of EXTRAS) {
    const lines = total(file => file.startsWith(`extras/${extra}/`), code)
    t.true(lines <= MAX_EXTRA, `${extra}: ${lines}`)
  }
  const isCore = (file: string) => !file.startsWith('extras/')
  const lines = total(isCore, code)
  t.true(lines <= MAX_CORE.lines, String(lines))
  const number = [...files.keys()].filter(isCore).length
  t.true(number <= MAX_CORE.files, String(number))
})

const MAX_EXTRA = 1910
/** What it has, and 3 % to spare. Lines without imports and comments. */
const MAX_CORE = { lines: 11_340, files: 116 }

/** Without imports, which grow with the depth of a folder, and empty lines. */
function linesOf(text: string): number {
  return text.replace(/^import\s[^;]*?'[^'\n]+'$/gm, '').match(/\S.*/g)?.length ?? 0
}

test('a comment of lib begins with a sentence, not with a fragment such as "Whether …" or "For the …"', t => {
  const fragment =
    /^(?:Those|What|Whether|Which|How|Of|For|None|Not|Undefined|The same|In (?:bytes|milliseconds))\b.*/
  const found = [...files].flatMap(([file, text]) =>
    [...text.matchAll(/^ *(?:\/\*\*\s+(?:\* )?|\/\/ (?<!^ *\/\/.*\n *\/\/ ))(.*)/gm)]
      .map(([, opening = '']) => fragment.exec(opening)?.[0])
      .flatMap(opening => (opening === undefined ? [] : `${file}: ${opening}`))
  )
  t.deepEqual(found, [])
})

test('spec/ mirrors lib/, except for specs about the whole package', t => {
  const beside = words('docs security soak support system types types-assets types-koa2')
  const folders = new Set(Array.from(files.keys(), dirname))
  const strange = readdirSync('spec', { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.endsWith('.ts'))
    .map(entry => entry.parentPath.replaceAll('\\', '/').replace(/^spec\/?/, '') || '.')
    .filter(folder => !folders.has(folder) && !beside.includes(folder.split('/')[0] ?? ''))
  t.deepEqual([...new Set(strange)], [])
})

test('everything that spec/support exports is imported by another file', t => {
  const specs = readdirSync('spec', { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts'))
    .map(name => [name.replaceAll('\\', '/'), readFileSync(join('spec', name), 'utf8')] as const)
  const unused = specs
    .filter(([name]) => name.startsWith('support/'))
    .flatMap(([name, text]) =>
      [...text.matchAll(/^export (?:async )?(?:\w+)\*? (\w+)/gm)]
        .map(([, exported = '']) => exported)
        .filter(exported => {
          const taken = new RegExp(`\\b${exported}\\b`)
          return !specs.some(([other, text]) => other !== name && taken.test(text))
        })
        .map(exported => `${name}: ${exported}`)
    )
  t.deepEqual(unused, [])
})

const ASSETS = words(`AssetError CompileError PrecompileError assetSources clean cleanKept
  compress keep koaAssets precompile verify verifyCopies`)
const HTTP_CACHE = ['Halt', 'koaHttpCache', 'versionOf']

test('the entries export these names', t => {
  t.deepEqual(Object.keys(assets).toSorted(), ASSETS)
  t.deepEqual(Object.keys(httpCache).toSorted(), HTTP_CACHE)
  t.deepEqual(Object.keys(face).toSorted(), ['koaFiles', ...ASSETS, ...HTTP_CACHE].toSorted())
})

test('the package says what it runs on, and has an entry for both halves and one for each', t => {
  const { type, engines, exports, files: packed, license } = readPackage()
  t.is(type, 'module')
  t.is(license, 'MIT')
  t.deepEqual(engines, { node: '>=20.19' })
  const at = (path: string) => ({ types: `./dist/${path}.d.ts`, default: `./dist/${path}.js` })
  // Node takes the first for `import` and for `require`, so that a process has one copy.
  const entry = (name: string) => ({
    'module-sync': at(name),
    import: at(name),
    require: at(`cjs/${name}`)
  })
  t.deepEqual(exports, {
    '.': entry('index'),
    './assets': entry('koa-assets'),
    './http-cache': entry('koa-http-cache'),
    './vite': entry('vite'),
    './package.json': './package.json'
  })
  t.true(packed.includes('dist'))
})

test('Koa, its types, what the compilers load, browserslist, Vite and Rolldown are peers; all but Koa are optional', t => {
  const { dependencies, peerDependencies, peerDependenciesMeta } = readPackage()
  const peers = ['@types/koa', 'browserslist', 'koa', 'rolldown', 'vite', ...PEERS].toSorted()
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

// The package's, and those of the lanes that need more.
for (const lock of [
  'package-lock.json',
  'bench/package-lock.json',
  'site/package-lock.json',
  'spec/system/package-lock.json'
]) {
  test(`${lock} names no registry, so that an install uses the configured one, and has all that npm ci asks for, the binaries of other platforms too`, t => {
    const text = readFileSync(lock, 'utf8')
    t.false(text.includes('"resolved"'))
    const { packages } = JSON.parse(text) as {
      packages: Record<string, { dependencies?: object; optionalDependencies?: object }>
    }
    const installed = new Set(Object.keys(packages).map(at => at.replace(/^.*node_modules\//, '')))
    const missing = Object.values(packages).flatMap(entry =>
      Object.keys({ ...entry.dependencies, ...entry.optionalDependencies }).filter(
        name => !installed.has(name)
      )
    )
    t.deepEqual(missing, [])
  })
}

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

/** `@scope/name/path` -> `@scope/name` */
function packageOf(specifier: string): string {
  return /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return groups
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[^]*?\*\/|(?<=^|\s)\/\/.*$/gm, '')
}
