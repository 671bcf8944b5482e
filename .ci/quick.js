// npm run quick: the types, and the specs of what differs from `main`: those that run most of its functions, by the last
// `npm test`, and those of its place; those of the fast rooms where neither tells. On main itself: of what is not
// committed, else of the last commit.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'

const FAST =
  /^spec\/(?:koa-|(?:runtime\/(?:http|http-cache|files|settings|urls|views)|publishing\/(?:compilers|rendering|sources))\/)/

const specs = readdirSync('spec', { recursive: true })
  .map(path => `spec/${path.replaceAll('\\', '/')}`)
  .filter(path => path.endsWith('.spec.ts') && !/^spec\/(?:soak|system)\//.test(path))

const git = (...words) => execFileSync('git', words, { encoding: 'utf8' }).trim()
const names = text => text.split('\n').filter(Boolean)

function changed() {
  const head = git('rev-parse', 'HEAD')
  const main = git('for-each-ref', '--format=%(refname)', 'refs/heads/main', 'refs/remotes/*/main')
  const fork = main && git('merge-base', names(main)[0], 'HEAD')
  const isClean = git('status', '--porcelain') === ''
  const base = fork && fork !== head ? fork : isClean ? 'HEAD~1' : 'HEAD'
  const untracked = names(git('ls-files', '--others', '--exclude-standard'))
  return { base, files: [...names(git('diff', '--name-only', base)), ...untracked] }
}

const MAP = 'coverage/specs.json'
const runBy = existsSync(MAP) ? JSON.parse(readFileSync(MAP, 'utf8')) : {}
/** For each file: what all specs run is not worth all specs. */
const MAX_SPECS = 12

/** The specs that run most of its functions. */
function specsRunning(file) {
  const ranked = Object.entries(runBy[file] ?? {}).toSorted(([, a], [, b]) => b - a)
  const known = ranked.map(([spec]) => spec).filter(spec => specs.includes(spec))
  return known.slice(0, MAX_SPECS)
}

/** Undefined where nothing tells which specs a file has. */
function specsOf(file) {
  if (file.endsWith('.spec.ts')) return specs.filter(path => path === file)
  if (/^(?:README|CONTRIBUTING|docs\/decisions)\.md$/.test(file)) return ['spec/readme.spec.ts']
  if (file.startsWith('docs/')) return specs.filter(path => path.startsWith('spec/docs/'))
  if (!/^(?:lib|spec|package\.json|tsconfig\.json)/.test(file)) return []
  if (!file.startsWith('lib/')) return undefined
  const place = file.replace(/^lib\//, 'spec/').replace(/\.ts$/, '')
  const own = specs.filter(path => path.startsWith(`${place}.`))
  const running = specsRunning(file)
  if (running.length > 0) return [...own, ...running]
  // Those of its folder, or of the nearest folder above it that has some.
  let folder = dirname(place)
  const isOfRoom = path => dirname(path) === folder
  while (dirname(folder) !== '.' && !specs.some(isOfRoom)) folder = dirname(folder)
  const found = dirname(folder) === '.' ? own : [...own, ...specs.filter(isOfRoom)]
  return found.length > 0 ? found : undefined
}

/** By a shell: on Windows npm and npx are scripts. */
function run(line) {
  const { status } = spawnSync(line, { shell: true, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

const { base, files } = changed()
const found = files.map(specsOf)
const unclear = files.filter((_, at) => !found[at])
const fast = unclear.length > 0 ? specs.filter(path => FAST.test(path)) : []
const wanted = [...new Set(['spec/house.spec.ts', ...found.flat().filter(Boolean), ...fast])]
console.log(`${files.length} files differ from ${base}: the types, and ${wanted.length} specs`)
for (const path of fast.length > 0 ? unclear : wanted) console.log(`  ${path}`)
if (fast.length > 0) console.log(`These have no specs of their own: all of the fast rooms are run.`)
run('npm run --silent build:spec')
// Some run what is built.
const needsBuild = path => /\bdist\b|support\/examples/.test(readFileSync(path, 'utf8'))
if (wanted.some(needsBuild)) run('npm run --silent build')
const compiled = wanted.map(path =>
  `.${path}`.replace(/^\.spec/, '.spec/spec').replace(/ts$/, 'js')
)
run(`npx ava --config spec/ava.config.js ${compiled.join(' ')}`)
