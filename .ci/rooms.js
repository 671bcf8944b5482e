// AVA starts a process for each file, and Node, AVA and lib take a second of processor time. So a file imports the
// specs of a room, which is a folder, or those of several rooms. `npm run build:spec` writes .spec/processes/, which
// `npm test` runs, and .spec/rooms/, by which `npm run check` finds what covers each file; with globs
// (`runtime/files/**`) these have only the specs that match, with ALL=1 the slow ones as well.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import picomatch from 'picomatch'
import { ROWS } from './refused-rows.js'
import { LEFT_OUT } from './windows-left-out.js'

const SPECS = '.spec/spec'

/** Specs with a process of their own, each with the reason. */
const ALONE = {
  'publishing/sources/naming': 'it appends to assetSources, which every app of a process searches',
  'runtime/http-cache/people': 'it moves the clock',
  'runtime/files/without-proc': 'it replaces the platform',
  'runtime/files/refusals': 'a process is told once of each call that a system refuses',
  package: 'it loads what is built twice, and waits for that at its top'
}

/** Specs that only `npm run test:all` and .ci/run run: they start processes, race, or take many random cases. */
const SLOW = new Set(
  `once readme docs/examples docs/serving docs/tasks docs/upgrading security/bounds
  security/downloads runtime/files/disk runtime/files/without-proc runtime/http-cache/people
  runtime/serving/every-way runtime/serving/files runtime/settings/bad-input
  publishing/building/failures publishing/cli/faults publishing/compilers/tsconfig
  publishing/rendering/names-of-sources extras/hot/packages extras/kept-index/kept-index
  extras/modules/building/asked-files extras/modules/building/nested-sheets
  extras/modules/joining/missing extras/modules/joining/names-of-sources
  extras/modules/joining/with-names-and-telling-and-uploads extras/modules/joining/with-names.order
  extras/modules/joining/with-styles.joining extras/modules/modes-model
  extras/modules/packages extras/styles/target extras/telling/commands
  extras/vite/with-telling.other-bundlers`.split(/\s+/)
)

/** Tells whether `npm test` leaves a spec to `npm run test:all`. */
export const isSlow = name => SLOW.has(name)

/** @returns the names of all specs: `runtime/files/disk` */
function namesOfSpecs() {
  return readdirSync(SPECS, { recursive: true })
    .map(name => name.replaceAll('\\', '/'))
    .filter(name => name.endsWith('.spec.js') && !name.includes('node_modules/'))
    .map(name => name.slice(0, -'.spec.js'.length))
    .toSorted()
}

/** Returns all specs except those of the lanes soak and system, which are in no room of `npm test`. */
const allSpecs = () => namesOfSpecs().filter(name => !/^(?:soak|system)\//.test(name))

/** Rooms that share the process of `runtime`, as each takes less time to run than to load. */
const SMALL = new Set(['runtime-app', 'runtime-http', 'runtime-urls', 'runtime-views'])

/** @returns `runtime-files`, `extras-vite`, `docs`, or `top` for a spec that is in no folder */
export function roomOf(name) {
  if (Object.hasOwn(ALONE, name)) return name.replaceAll('/', '-')
  const room = name.split('/').slice(0, -1).slice(0, 2).join('-') || 'top'
  return SMALL.has(room) ? 'runtime' : room
}

/** Rooms that share no process with others of their folder: they take long, or append to assetSources. */
const OWN = new Set([
  ...['extras-hot', 'extras-live', 'extras-media', 'extras-modules', 'extras-vite'],
  ...['publishing-compilers', 'runtime-serving']
])

/** @returns `extras`, or the room of a spec that shares no process with other rooms */
function processOf(name) {
  const room = roomOf(name)
  return Object.hasOwn(ALONE, name) || OWN.has(room) ? room : room.split('-')[0]
}

/** @returns the modules with top-level await that a spec imports, directly or through others */
function readyIn(path, seen) {
  if (seen.has(path)) return []
  seen.add(path)
  if (path.endsWith('/ready.js')) return [posix.join('../spec', path)]
  if (!existsSync(join(SPECS, path))) return []
  const text = readFileSync(join(SPECS, path), 'utf8')
  const imports = text.matchAll(/^import .*?'(\.[^']*)'/gm)
  const paths = Array.from(imports, ([, to]) => posix.join(posix.dirname(path), to))
  return paths.filter(to => !to.startsWith('..')).flatMap(to => readyIn(to, seen))
}

/**
 * Writes a file for each process, or room, that has some of the specs.
 * @param folder below .spec/
 * @param isWanted is called with the name of each spec, `runtime/files/disk`
 * @param fileOf returns the name of the file that imports a spec
 * @returns a glob of these files, which spec/ava.config.js reads from the environment variable ROOMS
 */
export function writeRooms(folder, isWanted, fileOf = processOf) {
  const rooms = new Map()
  for (const name of allSpecs().filter(name => isWanted(name)))
    rooms.set(fileOf(name), [...(rooms.get(fileOf(name)) ?? []), name])
  return write(folder, rooms)
}

/** The spec that takes minutes, most of them in its browser, so it does not wait for others. */
const LONGEST = 'system/site'

/** Deals the other specs of the lane system to four processes, each of which loads lib, Vite and one Chromium once. */
function writeSystemRooms() {
  const names = namesOfSpecs().filter(name => name.startsWith('system/') && name !== LONGEST)
  const dealt = number => names.filter((_, at) => at % 4 === number)
  const rooms = [0, 1, 2, 3].map(number => [`${number}`, dealt(number)])
  return write('system-rooms', new Map([...rooms, ['site', [LONGEST]]]))
}

/** @param rooms the names of specs by room */
function write(folder, rooms) {
  const directory = join('.spec', folder)
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  const writeLines = (file, lines) => writeFileSync(join(directory, file), `${lines.join('\n')}\n`)
  for (const [room, names] of rooms) {
    const specs = names.map(name => `${name}.spec.js`)
    const imported = specs.map(path => `import '../spec/${path}'`)
    writeLines(`${room}.js`, imported)
    // AVA runs specs that are declared within one tick, so modules with top-level await are loaded first.
    const ready = new Set(specs.flatMap(path => readyIn(path, new Set())))
    const inTurn = [...ready, `./${room}.js`].map(path => `await import('${path}')`)
    writeLines(`${room}.spec.js`, inTurn)
  }
  return `.spec/${folder}/*.spec.js`
}

/** @throws Error for a row that fits no spec any more, which could hide a new one with the name */
function checkRows() {
  const names = namesOfSpecs()
  const text = names.map(name => readFileSync(join('spec', `${name}.spec.ts`), 'utf8')).join('\n')
  const rows = Object.values(ROWS)
  const globs = [...LEFT_OUT.flatMap(({ files = [] }) => files), ...rows.flatMap(row => row.specs)]
  const titles = [
    ...LEFT_OUT.flatMap(row => row.titles ?? []),
    ...rows.flatMap(row => Object.keys(row.without ?? {}))
  ]
  const stray = [
    ...[...Object.keys(ALONE), ...SLOW].filter(name => !names.includes(name)),
    ...globs.filter(glob => !names.some(picomatch(glob))),
    ...titles.filter(title => title.split('*').some(part => !text.includes(part)))
  ]
  if (stray.length > 0) throw new Error(`files of .ci/ name what no spec has: ${stray.join(', ')}`)
}

function main(globs) {
  const matches = globs.length > 0 ? picomatch(globs) : () => true
  const isWanted = name => matches(name) && (process.env.ALL === '1' || !isSlow(name))
  writeRooms('rooms', isWanted, roomOf)
  writeRooms('processes', isWanted)
  if (globs.length > 0) return
  checkRows()
  writeSystemRooms()
}

if (process.argv[1] === import.meta.filename) main(process.argv.slice(2))
