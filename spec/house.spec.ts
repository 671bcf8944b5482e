// The laws of the house: which room may know which, and what a user may count on in the package.
// The length of functions is a lint rule (.oxlintrc.json).
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, posix } from 'node:path'
import { PEERS } from '../lib/publishing/compilers/built-in.ts'
import * as extras from '../lib/runtime/app/extras.ts'
import { groupBy } from '../lib/runtime/lists.ts'
import * as face from '../lib/index.ts'
import * as assets from '../lib/koa-assets.ts'
import * as httpCache from '../lib/koa-http-cache.ts'
import { test, words } from './support/index.ts'

/** Bounds in lines as `wc -l` counts them. A commit that raises one says what the lines are for, or which others went. */
type Budgets = Readonly<Record<string, number>>

// The rooms of each house in the order of their imports: a room imports those before it, types included.
const RUNTIME: Budgets = {
  ground: 630,
  http: 595,
  files: 1134,
  'http-cache': 1364,
  settings: 1401,
  urls: 551,
  serving: 1929,
  views: 819,
  app: 1116
}
const PUBLISHING: Budgets = {
  writing: 470,
  compilers: 791,
  references: 465,
  sources: 950,
  rendering: 933,
  building: 1433,
  'error-page': 105,
  cli: 525
}
const EXTRA: Budgets = {
  deltas: 586,
  init: 395,
  inspector: 631,
  hot: 702,
  'kept-index': 156,
  live: 1146,
  media: 553,
  modules: 2486,
  names: 547,
  releases: 1263,
  restarts: 180,
  routes: 355,
  styles: 748,
  telling: 816,
  uploads: 150,
  vite: 1801,
  warnings: 324
}
/** The files of lib itself: the two middleware, both together, and the command. */
const ENTRIES: Budgets = {
  'koa-assets': 276,
  'koa-http-cache': 169,
  index: 52,
  cli: 61
}

/** Rooms beside each other know nothing of one another, nor do the two halves. */
const APART: Readonly<Record<string, string>> = {
  settings: 'http-cache',
  urls: 'http-cache',
  serving: 'http-cache',
  views: 'http-cache serving',
  app: 'http-cache'
}

/** The ways from what production runs into what publishes. */
const DOORS_TO_PUBLISHING = [
  'koa-assets.ts -> publishing/building/precompile.ts',
  'runtime/app/context.ts -> publishing/error-page.ts',
  'runtime/app/pipeline.ts -> publishing/building/on-request.ts'
]

const EXTRAS = readdirSync('lib/extras')

/** A part of `dist`, as it has no CommonJS. */
const BUNDLED = '@csstools/css-tokenizer'

// Each package with the files that import it.
const DOORS: Readonly<Record<string, readonly string[]>> = {
  [BUNDLED]: ['extras/media/svg.ts', 'publishing/references/references.ts'],
  '@rgrove/parse-xml': ['extras/media/svg.ts'],
  '@jridgewell/sourcemap-codec': ['publishing/rendering/source-map.ts'],
  'content-disposition': ['extras/routes/send-file.ts'],
  'es-module-lexer': ['publishing/references/modules.ts'],
  'koa-compose': ['koa-assets.ts'],
  'fastest-levenshtein': ['runtime/check-options.ts'],
  'get-tsconfig': ['publishing/compilers/tsconfig.ts'],
  'image-size': ['extras/media/image-size.ts'],
  'lru-cache': [
    'publishing/building/mtime-index.ts',
    'runtime/serving/file.ts',
    'runtime/serving/folder-names.ts',
    'runtime/serving/variant.ts'
  ],
  'mime-types': ['runtime/http/fields.ts'],
  picomatch: ['runtime/files/paths.ts'],
  'cjs-module-lexer': ['extras/modules/common-js.ts'],
  send: ['runtime/serving/socket.ts']
}

/** The rooms and files in which Koa's context may be known, under whatever name. */
const RIM = words(`index koa-assets koa-http-cache http-cache runtime/app/context runtime/app/extra
  runtime/settings/options runtime/serving/respond runtime/serving/missing runtime/serving/socket
  inspector live routes vite warnings`)

type Dependencies = 'dependencies' | 'peerDependencies' | 'peerDependenciesMeta'
type Described = 'type' | 'license' | 'engines' | 'exports' | 'files'
const { dependencies, peerDependencies, peerDependenciesMeta, ...described } = JSON.parse(
  readFileSync('package.json', 'utf8')
) as Record<Dependencies, object> & Record<Described, unknown>

const namesBelow = (folder: string, at = ''): string[] =>
  readdirSync(join(folder, at), { withFileTypes: true }).flatMap(entry => {
    const name = posix.join(at, entry.name)
    if (!entry.isDirectory()) return name
    return entry.name === 'node_modules' ? [] : namesBelow(folder, name)
  })

/** The texts of the files of a folder, by their paths in it. */
const textsIn = (folder: string, extension: string) =>
  namesBelow(folder)
    .filter(name => name.endsWith(extension))
    .map(name => [name, readFileSync(join(folder, name), 'utf8')] as const)

const files = new Map(textsIn('lib', '.ts'))
const code = new Map(Array.from(files, ([file, text]) => [file, withoutComments(text)]))

type House = 'runtime' | 'publishing' | 'extras' | 'entries'

function houseOf(file: string): House {
  const [first] = file.split('/')
  return first === 'runtime' || first === 'publishing' || first === 'extras' ? first : 'entries'
}

/** `http-cache`, `error-page`, `vite`, `koa-assets`; `ground`: the small files of the runtime itself. */
function roomOf(file: string): string {
  const [first = '', second = '', third] = file.replace(/\.ts$/, '').split('/')
  if (second === '') return first
  return first === 'runtime' && third === undefined ? 'ground' : second
}

interface Import {
  readonly from: string
  /** A file of ours, or the name of a package. */
  readonly to: string
  readonly isType: boolean
  readonly isDynamic: boolean
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
      isType: /^(?:import|export) type\b/.test(whole),
      isDynamic: dynamic !== undefined
    }
  })
)
const ours = imports.filter(({ to }) => files.has(to))

const filesWith = (pattern: RegExp) =>
  [...code].filter(([, text]) => pattern.test(text)).map(([file]) => file)

const shownImports = (wrong: readonly Import[]) => wrong.map(({ from, to }) => `${from} -> ${to}`)

test('the runtime reaches publishing by three import(), and in no other way, types included', t => {
  const isCrossing = ({ from, to }: Import) =>
    houseOf(to) === 'publishing' && from !== 'cli.ts' && /^(?:runtime|entries)$/.test(houseOf(from))
  const crossing = ours.filter(isCrossing)
  t.true(crossing.every(({ isDynamic }) => isDynamic))
  t.deepEqual(shownImports(crossing).toSorted(), DOORS_TO_PUBLISHING)
})

test('imports point one way, from room to room, types included', t => {
  const order = [...Object.keys(RUNTIME), ...Object.keys(PUBLISHING)]
  const isCore = (file: string) => /^(?:runtime|publishing)$/.test(houseOf(file))
  const wrong = ours.filter(({ from, to, isDynamic }) => {
    const [room, other] = [roomOf(from), roomOf(to)]
    if (!isCore(from) || room === other || houseOf(to) === 'extras' || isDynamic) return false
    // Options and settings are checked by the spelling of paths.
    if (room === 'settings' && to === 'runtime/urls/spelling.ts') return false
    const isBefore = order.indexOf(other) < order.indexOf(room)
    return !isCore(to) || !isBefore || words(APART[room] ?? '').includes(other)
  })
  t.deepEqual(shownImports(wrong), [])
  const above = ours.filter(
    ({ from, to }) =>
      (houseOf(from) === 'extras' && houseOf(to) === 'entries') ||
      (from === 'koa-http-cache.ts' &&
        /koa-assets|runtime\/(?:app|settings|serving|urls|views)/.test(to))
  )
  t.deepEqual(shownImports(above), [])
})

test('each value that travels is declared once, where CONTRIBUTING says', t => {
  const [travelling = ''] =
    /\*\*Six values travel\*\*.*/.exec(readFileSync('CONTRIBUTING.md', 'utf8')) ?? []
  const named = [...travelling.matchAll(/`([A-Z]\w*)`(?: \(([\w./-]+)\))?/g)]
  t.true(named.length >= 6)
  for (const [, name = '', place = ''] of named) {
    const declared = new RegExp(`^(?:export )?(?:class|interface|type) ${name}\\b`, 'm')
    const found = [...code].flatMap(([file, text]) => (declared.test(text) ? [file] : []))
    t.true(found.length === 1 && found[0]?.includes(place), `${name}: ${found.join(', ')}`)
  }
})

/** What names extras: their parts, options and helpers, what users import of them, the reports of koaHttpCache. */
const TABLES = [
  'runtime/app/extras.ts',
  'runtime/app/extra-exports.ts',
  'runtime/settings/extra-options.ts',
  'runtime/http-cache/reports.ts',
  'runtime/views/view-helpers.ts'
]

test('only the five tables import extras, and extras those that they declare, without circles', t => {
  const imported = new Map(EXTRAS.map(name => [name, new Set<string>()]))
  for (const { from, to } of ours) {
    const [room, other] = [roomOf(from), roomOf(to)]
    if (room === other || TABLES.includes(from) || houseOf(to) !== 'extras') continue
    const others = imported.get(room)
    t.truthy(others, `${from} -> ${to}`)
    others?.add(other)
  }
  for (const { name, standsOn = [] } of extras.EXTRAS) {
    const declared = [...(imported.get(name) ?? [])].toSorted()
    t.deepEqual(declared, standsOn, `${name} declares what it imports`)
  }
  const below = (name: string, way: readonly string[]): void => {
    t.false(way.includes(name), [...way, name].join(' -> '))
    for (const other of imported.get(name) ?? []) below(other, [...way, name])
  }
  for (const name of EXTRAS) below(name, [])
})

test('the table of extras has each folder once, and Extra at most 14 members', t => {
  t.deepEqual(extras.EXTRAS.map(({ name }) => name).toSorted(), EXTRAS.toSorted())
  const text = code.get('runtime/app/extra.ts') ?? ''
  const [, members = ''] = /^export interface Extra<[^]*?\{\n([^]*?)^\}/m.exec(text) ?? []
  const { length } = members.match(/^ {2}(?:readonly )?\w+\??[:(]/gm) ?? []
  t.true(length > 10 && length <= 14, String(length))
})

test('each package is imported by the files listed for it, and every dependency is listed', t => {
  const installed = Object.keys(DOORS).filter(name => name !== BUNDLED)
  t.deepEqual(installed.toSorted(), Object.keys(dependencies).toSorted())
  for (const [name, doors] of Object.entries(DOORS)) {
    const importers = imports.filter(({ to }) => packageOf(to) === name)
    t.deepEqual([...new Set(importers.map(({ from }) => from))].toSorted(), doors, name)
  }
})

test('every import is a file of ours, a declared dependency, a peer, or a Node module', t => {
  t.true(files.size > 60 && ours.length > 200)
  const known = new Set([...Object.keys(DOORS), ...Object.keys(peerDependencies)])
  const wrong = imports.filter(
    ({ to }) => !files.has(to) && !to.startsWith('node:') && !known.has(packageOf(to))
  )
  t.deepEqual(wrong, [])
})

test('peers are imported only as types: they are loaded when they are needed', t => {
  const loaded = imports.filter(({ to, isType }) => to in peerDependencies && !isType)
  t.deepEqual(loaded, [])
})

const isOfRim = (file: string) =>
  [file.replace(/\.ts$/, ''), roomOf(file)].some(each => RIM.includes(each))

test("Koa's context, whatever its name, is known only at the rim", t => {
  const importers = imports.filter(({ to }) => to === 'koa').map(({ from }) => from)
  const talkers = filesWith(/\bctx\b|\bExtendableContext\b|\(this: /)
  const outside = [...importers, ...talkers].filter(file => !isOfRim(file))
  t.deepEqual(outside, [])
})

test('only serving and the rim know requests of Node, and neither HTTP rules nor views the disk', t => {
  const knowing = imports.filter(({ to }) => /^node:https?2?$/.test(to))
  const strange = knowing.filter(
    ({ from }) => !['serving', 'http', 'deltas'].includes(roomOf(from)) && !isOfRim(from)
  )
  t.deepEqual(shownImports(strange), [])
  // HTTP rules know the names of fields.
  t.true(knowing.every(({ from, isType }) => isType || roomOf(from) !== 'http'))
  const ofDisk = imports.filter(
    ({ from, to }) => ['http', 'views'].includes(roomOf(from)) && /^node:(?:fs|net)/.test(to)
  )
  t.deepEqual(ofDisk, [])
})

test('nothing waits for a disk after start, but for what the kernel knows of an open descriptor', t => {
  const atStart = 'runtime/files/at-start.ts'
  const descriptors = 'runtime/files/open-file.ts'
  const waiting = filesWith(/\b\w+Sync\b/).filter(
    file => file !== atStart && !['cli', 'init', 'vite'].includes(roomOf(file))
  )
  t.deepEqual(waiting, [descriptors])
  const called = code.get(descriptors)?.match(/\b\w+Sync\([^)\n]*\)/g)
  const allowed = [
    'closeSync(fd)',
    'fstatSync(fd, EXACT)',
    'readlinkSync(`/proc/self/fd/${fd}`)',
    'writeSync(fd, bytes, from, length)'
  ]
  t.deepEqual([...new Set(called)].toSorted(), allowed)
})

test('every failure that is caught is looked at, and recognised by its code', t => {
  const bare = /\bcatch\s*\{|\bcatch\s*\([^)]*\)\s*\{\s*\}/
  const swallowed = /\.catch\(\(\)\s*=>\s*(?:\{\s*\}|undefined|null|void 0)\)/
  for (const wrong of [bare, swallowed, /instanceof Error\b/]) t.deepEqual(filesWith(wrong), [])
})

test('a folder holds a dozen files at most, and only an extra has folders in its own', t => {
  const folders = [...groupBy([...files.keys()], dirname)]
  const wrong = folders.filter(([folder, { length }]) => {
    const isDeep = folder.split('/').length > (folder.startsWith('extras/') ? 3 : 2)
    return isDeep || length > 12
  })
  t.deepEqual(wrong, [])
})

test('a file has 222 lines at most, without its imports and comments', t => {
  // Imports grow with the depth of a folder.
  const importLines = /^import\s[^;]*?'[^'\n]+'$/gm
  for (const [file, text] of code)
    t.true((text.replace(importLines, '').match(/\S.*/g)?.length ?? 0) <= 222, file)
})

for (const [house, budgets] of Object.entries({
  entries: ENTRIES,
  runtime: RUNTIME,
  publishing: PUBLISHING,
  extras: EXTRA
})) {
  test(`each room of ${house} is within its budget, which has a tenth of air at most`, t => {
    const counted: Record<string, number> = {}
    for (const [file, text] of [...files, ...textsIn('lib', '.js')]) {
      const room = roomOf(file)
      if (houseOf(file) === house)
        counted[room] = (counted[room] ?? 0) + text.split('\n').length - 1
    }
    t.deepEqual(Object.keys(counted).toSorted(), Object.keys(budgets).toSorted())
    for (const [room, budget] of Object.entries(budgets)) {
      const lines = counted[room] ?? 0
      const most = Math.max(lines * 1.1, lines + 20)
      t.true(
        lines <= budget && budget <= most,
        `${room}: ${lines} lines, a budget of ${budget}, which may be ${lines} to ${Math.floor(most)}`
      )
    }
  })
}

test('a comment of lib begins with a sentence, not with a fragment such as "Whether …"', t => {
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
  const strange = namesBelow('spec')
    .filter(name => name.endsWith('.ts'))
    .map(name => dirname(name))
    .filter(folder => !folders.has(folder) && !beside.includes(folder.split('/')[0] ?? ''))
  t.deepEqual([...new Set(strange)], [])
})

test('everything that spec/support exports, and each value of lib, is imported by another file', t => {
  const specs = textsIn('spec', '.ts')
  const support = specs.filter(([name]) => name.startsWith('support/'))
  const named = (all: typeof specs, kinds: RegExp) =>
    all.flatMap(([file, text]) =>
      Array.from(text.matchAll(kinds), ([, name = '']) => ({ file, name }))
    )
  const all = [
    ...named(support, /^export (?:async )?(?:\w+)\*? (\w+)/gm),
    ...named([...code], /^export (?:async )?(?:const|class|function\*?) (\w+)/gm)
  ]
  const uses = new Map<string, number>()
  for (const [, text] of [...code, ...specs])
    for (const word of new Set(text.match(/\w+/g))) uses.set(word, (uses.get(word) ?? 0) + 1)
  const unused = all.filter(({ name }) => uses.get(name) === 1)
  t.true(all.length > 1000)
  t.deepEqual(
    unused.map(({ file, name }) => `${file}: ${name}`),
    []
  )
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
  const { type, license, engines, exports } = described
  t.deepEqual([type, license, engines], ['module', 'MIT', { node: '>=20.19' }])
  const at = (path: string) => ({ types: `./dist/${path}.d.ts`, default: `./dist/${path}.js` })
  t.deepEqual(exports, {
    '.': at('index'),
    './assets': at('koa-assets'),
    './http-cache': at('koa-http-cache'),
    './vite': at('vite'),
    './client': { types: './client.d.cts' },
    './package.json': './package.json'
  })
  for (const each of ['dist', 'client.d.cts']) t.true((described.files as string[]).includes(each))
})

test('Koa, and what compiles and bundles, are peers, all of which are optional but Koa', t => {
  const peers = ['@types/koa', 'browserslist', 'koa', 'rolldown', 'vite', ...PEERS].toSorted()
  t.deepEqual(Object.keys(peerDependencies).toSorted(), peers)
  const optional = peers.filter(name => name !== 'koa')
  t.deepEqual(Object.keys(peerDependenciesMeta).toSorted(), optional)
  t.false(peers.some(name => name in dependencies))
})

// The package's, and those of the lanes that need more.
for (const lock of [
  'package-lock.json',
  'bench/package-lock.json',
  'site/package-lock.json',
  'spec/system/package-lock.json'
]) {
  test(`${lock} names no registry, and has all that npm ci asks for on any platform`, t => {
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

/** `@scope/name/path` -> `@scope/name` */
function packageOf(specifier: string): string {
  return /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[^]*?\*\/|(?<=^|\s)\/\/.*$/gm, '')
}
