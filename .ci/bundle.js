// Builds dist from lib: a readable chunk for each room or part of one, as CommonJS, and from tsc's output the types
// with their docstrings.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { format } from 'oxfmt'
import { rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'
import { toCommonJs } from './commonjs.js'

// It is published only as ES modules, which Jest cannot load.
const BUNDLED = '@csstools/css-tokenizer'
const isPackage = id => !/^[./]/.test(id)

/** The places of entry points below lib that are not at its top. */
const PLACES = { vite: 'extras/vite/plugin' }
/** Runs in a separate process, from beside the chunk that starts it. */
const BUILD = 'extras/modules/building/build-main.ts'
/** Scripts for browsers; each imports the others of its folder. */
const CLIENTS = ['live/client/live', 'hot/client/hot', 'hot/client/refresh'].map(
  path => `./lib/extras/${path}.js`
)

// An extra may have been removed.
const TYPED = ['index', 'koa-assets', 'koa-http-cache', 'vite'].filter(name =>
  existsSync(`lib/${PLACES[name] ?? name}.ts`)
)

const entries = (names, folder, extension) =>
  Object.fromEntries(names.map(name => [name, `./${folder}/${PLACES[name] ?? name}${extension}`]))

/** Resolves to names and texts of files in dist. */
async function bundle(input, output) {
  // `chunkOf` decides on the content of chunks, so an import() beside a static import of the same module is no problem;
  // and those who install the package need not know how long a plugin takes.
  const checks = { ineffectiveDynamicImport: false, pluginTimings: false }
  const build = await rolldown({ platform: 'node', external: isPackage, checks, ...input })
  const { output: files } = await build.generate({ dir: 'dist', format: 'es', ...output })
  await build.close()
  const textOf = async chunk => {
    if (!chunk.fileName.endsWith('.js')) return chunk.code
    return inLatin1(output.minify ? chunk.code : await formatted(chunk))
  }
  return Promise.all(
    files.map(async chunk => ({
      fileName: chunk.fileName,
      imports: chunk.imports,
      code: await textOf(chunk)
    }))
  )
}

/** Formats code shorter than Rolldown does, and easier to read: most statements are one line. */
async function formatted({ fileName, code }) {
  const { code: text, errors } = await format(fileName, code, FORMAT)
  if (errors.length > 0) throw new Error(`${fileName}: ${errors[0].message}`)
  const list = /(?<=^(?:import|export)) \{\n[^}]+\n\}/gm
  return text.replace(list, names => names.replace(/\s+/g, ' '))
}

const FORMAT = {
  semi: false,
  singleQuote: true,
  arrowParens: 'avoid',
  trailingComma: 'none',
  objectWrap: 'collapse',
  useTabs: true,
  printWidth: 320
}

/** Escapes characters: V8 keeps the text of a module in two bytes per character if one of them needs that. */
function inLatin1(code) {
  return code.replace(
    /[^\0-\xff]/g,
    unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  )
}

function write({ fileName, code }) {
  const file = join('dist', fileName)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, code)
}

/** Returns `files` for lib/files/…, and `files-later` for the part of a room that no server loads at start. */
function chunkOf(id, graph) {
  atStart ??= reachedFrom(SERVER, graph)
  const part = partOf(id)
  const isLater = !atStart.has(id) && [...atStart].some(each => partOf(each) === part)
  return part && isLater ? `${part}-later` : part
}

let atStart

/** Follows static imports. */
function reachedFrom(files, graph) {
  const reached = new Set(files)
  for (const id of reached)
    for (const to of graph.getModuleInfo(id)?.importedIds ?? []) if (isOurs(to)) reached.add(to)
  return reached
}

const isOurs = id => id.includes('/lib/')

/**
 * Returns `serving-koa` for lib/runtime/serving/respond.ts and others, `http` for lib/runtime/http/…, and `shared` for
 * the small files beside the entry points.
 */
function partOf(id) {
  const [, path] = id.split('/lib/')
  if (ENTRIES.has(path)) return undefined
  const inRoom = path.replace(/^(?:runtime|publishing|extras)\//, '')
  const [, part] = PARTS.find(([pattern]) => pattern.test(inRoom)) ?? []
  if (part !== undefined) return part
  const [room, rest] = inRoom.split('/')
  if (rest !== undefined) return room
  return 'shared'
}

// Each part is loaded at a different time from its room, or breaks a cycle between rooms.
const PARTS = [
  [/^building\/precompile/, 'building-precompile'],
  [
    /^building\/publish|^deltas\/directory|^releases\/(?:build|clean|compress)\.|^deltas\/write/,
    'building-copies'
  ],
  [/^releases\/(?:verify|copies)\./, 'verify-checks'],
  [/^(?!settings\/)[^/]+\/options\.ts$/, 'settings'],
  [/^[^/]+\/extra\.ts$/, 'extras'],
  [/^vite\/entry\.|^media\/media\.|^live\/tag/, 'views'],
  [/^media\/svg\./, 'svg'],
  [/^vite\/entry-source/, 'entry-source'],
  [/^releases\/exports/, 'app'],
  [/^warnings\/responses/, 'http-cache-reports'],
  [/-commands?\.ts$|^(?:names|telling)\/commands\.|^init\/|^(?:deltas|styles)\/additions/, 'cli'],
  [/^cli\/command\.|^telling\/weight/, 'weight'],
  [/^urls\/(?:read-)?manifest|^app\/details|^settings\/third-party/, 'manifest'],
  [/^serving\/(?:respond|socket|missing)/, 'serving-koa']
]
const SERVER = [resolve('lib/index.ts')]

/** @throws Error for chunks that import each other: as CommonJS, one of them would find the other empty */
function checkOrder(chunks) {
  const imports = new Map(chunks.map(({ fileName, imports }) => [fileName, imports]))
  const done = new Set()
  const walk = (name, way) => {
    if (way.includes(name)) {
      const cycle = [...way.slice(way.indexOf(name)), name].join(' -> ')
      throw new Error(`chunks import each other: ${cycle}; change PARTS in .ci/bundle.js`)
    }
    if (!done.has(name)) for (const next of imports.get(name) ?? []) walk(next, [...way, name])
    done.add(name)
  }
  for (const name of imports.keys()) walk(name, [])
}

// The entry points, which are in no room.
const ENTRIES = new Set([...[...TYPED, 'cli'].map(name => `${PLACES[name] ?? name}.ts`), BUILD])

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))

rmSync('dist', { recursive: true, force: true })
const modules = await bundle(
  {
    input: {
      ...entries([...TYPED, 'cli'], 'lib', '.ts'),
      ...(existsSync(`lib/${BUILD}`) && { 'chunks/build-main': `./lib/${BUILD}` })
    },
    preserveEntrySignatures: 'allow-extension',
    transform: { define: { 'process.env.PACKAGE_VERSION': JSON.stringify(version) } }
  },
  {
    chunkFileNames: 'chunks/[name].js',
    minifyInternalExports: false,
    comments: false,
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: chunkOf, debugName: 'rooms' }]
    }
  }
)
checkOrder(modules)
for (const { fileName, code } of modules) {
  write({ fileName, code: toCommonJs(code).replace(`'${BUNDLED}'`, "'./css-tokenizer.js'") })
}
const [copyright] =
  /Copyright.*/.exec(readFileSync(`node_modules/${BUNDLED}/LICENSE.md`, 'utf8')) ?? []
const [used] = modules.flatMap(
  ({ code }) => code.match(new RegExp(`\\{ [^}]+ \\} from '${BUNDLED}'`, 'g')) ?? []
)
const tokenizer = await bundle(
  {
    input: 'used',
    external: [],
    plugins: [
      {
        name: 'what-is-used',
        resolveId: id => (id === 'used' ? id : undefined),
        load: id => (id === 'used' ? `export ${used}` : undefined)
      }
    ]
  },
  {
    format: 'cjs',
    // Its authors publish it minified.
    minify: true,
    entryFileNames: 'chunks/css-tokenizer.js',
    banner: `/* ${BUNDLED}, under the MIT licence. ${copyright} */`
  }
)
tokenizer.forEach(write)
write({ fileName: 'package.json', code: '{ "type": "commonjs" }\n' })
// The parameters of functions that make helpers are internal: users see only the results.
const withoutParameters = {
  name: 'without-parameters',
  transform: code =>
    code.replace(/^((?:export )?declare function \w+Helpers)\(.*?\): \{$/gms, '$1(): {')
}
const types = await bundle(
  {
    input: entries(TYPED, '.types', '.d.ts'),
    plugins: [withoutParameters, dts({ dtsInput: true })]
  },
  { chunkFileNames: 'chunks/[name].d.ts', minifyInternalExports: false }
)
// Vite is an ES module, for whose types CommonJS needs an attribute. The package lacks the files from which types come.
for (const { fileName, code } of types) {
  const asked = "import type { $1 } from 'vite' with { 'resolution-mode': 'import' };"
  const text = code.replace(/^import { (.*) } from "vite";/m, asked)
  const own = text.replace(/^\/\/ \.types\/.*\n/gm, '')
  write({ fileName, code: await formatted({ fileName, code: own }) })
}
// Scripts for browsers are read from beside the chunk that serves them.
for (const input of CLIENTS.filter(file => existsSync(file))) {
  const scripts = await bundle(
    // Scripts are also imported for their side effects, which package.json denies for all files.
    {
      input,
      platform: 'browser',
      transform: { target: 'es2020' },
      treeshake: { moduleSideEffects: () => true }
    },
    { preserveModules: true, entryFileNames: 'chunks/client/[name].js', minify: true }
  )
  scripts.forEach(write)
}
