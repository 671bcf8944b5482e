// npm run quick: checks types, and runs the specs of files that differ from `main`: all in the same place, slow ones
// included, and those of the rooms that, by the last `npm run check`, run most of their functions. On main itself, it
// takes uncommitted files, or else those of the last commit.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path/posix'
import { isSlow, roomOf, writeRooms } from './rooms.js'

const FAST =
  /^(?:koa-|(?:runtime\/(?:http|http-cache|files|settings|urls|views)|publishing\/(?:compilers|rendering|sources))\/)/

const specs = readdirSync('spec', { recursive: true })
  .map(path => path.replaceAll('\\', '/'))
  .filter(path => path.endsWith('.spec.ts') && !/^(?:soak|system)\//.test(path))
  .map(path => path.slice(0, -'.spec.ts'.length))

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

const MAP = 'coverage/rooms.json'
const runBy = existsSync(MAP) ? JSON.parse(readFileSync(MAP, 'utf8')) : {}
/** The number of rooms for each file: one that all rooms run is not worth running all. */
const MAX_ROOMS = 3

/** Returns the specs of the rooms that run most functions of a file, without the slow ones. */
function specsRunning(file) {
  const ranked = Object.entries(runBy[file] ?? {}).toSorted(([, a], [, b]) => b - a)
  const rooms = ranked.slice(0, MAX_ROOMS).map(([room]) => room)
  return specs.filter(name => rooms.includes(roomOf(name)) && !isSlow(name))
}

/** Returns the specs for a file; undefined if they cannot be found. */
function specsOf(file) {
  const place = file.replace(/^(?:lib|spec)\//, '').replace(/(?:\.spec)?\.ts$/, '')
  if (file.endsWith('.spec.ts')) return specs.filter(name => name === place)
  if (/^(?:README|CONTRIBUTING|docs\/decisions)\.md$/.test(file)) return ['readme']
  if (file.startsWith('docs/')) return specs.filter(name => name.startsWith('docs/'))
  if (!/^(?:lib|spec|package\.json|tsconfig\.json)/.test(file)) return []
  if (!file.startsWith('lib/')) return undefined
  // Its own specs are those of its folder, or of the nearest folder above with some.
  let folder = dirname(place)
  while (folder !== '.' && !specs.some(name => dirname(name) === folder)) folder = dirname(folder)
  const own = specs.filter(name =>
    folder === '.' ? name.startsWith(place) : dirname(name) === folder
  )
  const found = [...own, ...specsRunning(file)]
  return found.length > 0 ? found : undefined
}

/** Runs a line in a shell, as npm and npx are scripts on Windows. */
function run(line) {
  const { status } = spawnSync(line, { shell: true, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

const { base, files } = changed()
const found = files.map(specsOf)
const unclear = files.filter((_, at) => !found[at])
const fast = unclear.length > 0 ? specs.filter(name => FAST.test(name)) : []
const wanted = new Set(['house', ...found.flat().filter(Boolean), ...fast])
console.log(`${files.length} files differ from ${base}: the types, and ${wanted.size} specs`)
for (const name of fast.length > 0 ? unclear : wanted) console.log(`  ${name}`)
if (!existsSync(MAP)) console.log(`Rooms that run them are unknown: npm run check writes ${MAP}.`)
if (fast.length > 0) console.log(`These have no specs of their own: all of the fast rooms are run.`)
run('npm run --silent build:spec')
// Some specs run the built package.
const needsBuild = name =>
  /\bdist\b|support\/examples/.test(readFileSync(`spec/${name}.spec.ts`, 'utf8'))
if ([...wanted].some(needsBuild)) run('npm run --silent build')
process.env.ROOMS = writeRooms('quick', name => wanted.has(name))
run('npx ava --config spec/ava.config.js')
