// npm run lane refused: the specs of the core on systems that refuse a call (Windows, WSL, CIFS, FUSE, sandboxes), that
// stamp files with even seconds (FAT), or that ignore case. Rows may be named: npm run lane refused -- chmod
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync
} from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import picomatch from 'picomatch'
import { writeRooms } from './rooms.js'

const { EACCES, EINVAL, ENOSPC, ENOSYS, ENOTSUP, EPERM } = constants.errno

const PUBLISHING = ['publishing/building/*', 'extras/releases/*']
// No other spec of commands writes, but `faults`, which refuses calls by itself.
const COMMANDS = [...PUBLISHING, 'publishing/cli/commands']
const WRITING = ['runtime/files/{disk,refusals}', 'publishing/writing/*', ...COMMANDS]
const READING = [
  ...[
    'runtime/files/{open-file,paths,without-proc}',
    'runtime/serving/{files,index-files,serving}'
  ],
  'extras/routes/send-file',
  ...['security/links', 'security/paths', 'security/replaced', 'security/copies']
]
const LIVE = ['extras/live/{builds-and-icons,channel}']
const WATCHING = ['publishing/sources/*', 'publishing/building/{edits,publishing}', ...LIVE]

const WITHOUT_MODES = {
  'with its folders and mode 0644': 'its claim is about modes',
  'under umask 077': 'its claim is about modes',
  'under both names': 'its claim is about modes too',
  'public without any sources keeps the helpers': 'it copies a tree with cpSync, which sets modes'
}
const WITHOUT_TIMES = {
  'every mtime since 1970': 'its claim is about the mtime that was asked for'
}
const WITHIN_A_TICK = {
  'a page is told about a build once':
    'it makes two builds of the same names and sizes within one tick, which is one for the disk',
  'keeps what was published today, and the newest two': 'its deploys are within one tick'
}
const WITHOUT_EVENTS = {
  'by events, and found by verify() without them': 'its claim is about events',
  ': the next change is reported': 'its claim is about events'
}
/** lowntfs-3g lists names in lower case, unlike Windows and macOS, and NTFS has neither all names nor modes. */
const LOWERED = 'it reads names with capitals from a folder'
const NO_MODES = 'every file there has mode 0777'
const NO_BYTES = 'its names are no UTF-8, which NTFS refuses'

/** What is refused, or how coarse stamps are; which specs are run; and which are not, by a part of their titles. */
const ROWS = {
  chmod: { refused: { chmod: EPERM }, specs: WRITING, umask: 0o077, without: WITHOUT_MODES },
  utimes: {
    refused: { utimes: EPERM },
    specs: [...WRITING, 'runtime/urls/*'],
    without: WITHOUT_TIMES
  },
  'fsync-folder': { refused: { 'fsync-folder': EPERM }, specs: COMMANDS },
  'all-of-these': {
    refused: {
      ...{ chmod: ENOSYS, utimes: ENOTSUP },
      ...{ 'fsync-folder': EINVAL, 'fsync-file': ENOTSUP }
    },
    specs: WRITING,
    umask: 0o077,
    without: { ...WITHOUT_MODES, ...WITHOUT_TIMES }
  },
  readlink: {
    refused: { 'readlink-descriptor': EACCES },
    specs: READING,
    without: {
      'looks again before each removal':
        'of compress it expects an error, which ends without one as it finds no file in a folder that became a link',
      'since it was opened is still placed where it was': 'only a descriptor tells that',
      'whenever it is looked at is a 200':
        'a file is judged by its name, which the spec gives to another one at each look'
    }
  },
  inotify: { refused: { inotify_init: ENOSYS }, specs: WATCHING, without: WITHOUT_EVENTS },
  watches: { refused: { inotify_add_watch: ENOSPC }, specs: LIVE, without: WITHOUT_EVENTS },
  'even-seconds': {
    seconds: 2,
    specs: [
      ...['runtime/files/{clock,open-file,refusals}', 'publishing/{sources,writing}/*'],
      ...[...PUBLISHING, ...LIVE, 'extras/live/page-digest']
    ],
    without: { ...WITHOUT_TIMES, ...WITHIN_A_TICK }
  },
  'ignored-case': {
    disk: 'ignore_case',
    specs: ['runtime/files/*', 'publishing/{sources,building}/*', 'publishing/cli/commands'],
    without: {
      'print names with escapes': LOWERED,
      'names that differ only in case are two names': LOWERED,
      'is the one that a view writes composed': LOWERED,
      'whose names differ only in how accents are written': LOWERED,
      'that has both spellings, as on macOS': LOWERED,
      'a name with any characters is served': LOWERED,
      'what no page names is logged when a browser asks for it in vain': LOWERED,
      'names that are not valid in a request': NO_BYTES,
      'under both names': NO_MODES,
      'under umask 077': NO_MODES,
      'is unmodified while only its names change': 'a hard link there is another inode'
    }
  }
}

/** No row refuses these, since nothing in lib calls them. */
const UNUSED = /\b(?:[fl]?chown|symlink)(?:Sync)?\(/

const work = mkdtempSync(join(tmpdir(), 'refused-'))
// Some specs run as another user.
chmodSync(work, 0o755)
const refusals = join(work, 'refusals')

/** The library that refuses calls. */
function compileShim() {
  const library = join(work, 'refused.so')
  try {
    execFileSync('gcc', ['-shared', '-fPIC', '-O2', '-o', library, '.ci/refused.c', '-ldl'])
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
    throw new Error("gcc is missing: install Debian's packages gcc and libc6-dev", { cause: error })
  }
  return library
}

/** Runs something in a folder of its own, on the disk that a row asks for. */
function onDisk({ disk }, run) {
  if (!disk) return run(existsSync('/dev/shm') ? '/dev/shm' : tmpdir())
  const [image, folder] = [join(work, 'image'), join(work, 'disk')]
  mkdirSync(folder)
  writeFileSync(image, '')
  truncateSync(image, 400 * 1024 * 1024)
  execFileSync('mkfs.ntfs', ['--quick', '--quiet', '--force', image], { stdio: 'pipe' })
  execFileSync('lowntfs-3g', ['-o', disk, image, folder])
  try {
    return run(folder)
  } finally {
    execFileSync('umount', [folder])
  }
}

function envOf({ refused = {}, seconds }, temporary) {
  const calls = Object.entries(refused).map(([call, number]) => `${call}=${number}`)
  return {
    ...process.env,
    TMPDIR: temporary,
    // Through a ring these calls do not pass the C library.
    UV_USE_IO_URING: '0',
    LD_PRELOAD: library,
    REFUSALS: refusals,
    ...(calls.length > 0 && { REFUSED: calls.join(' ') }),
    ...(seconds && { COARSE: String(seconds) })
  }
}

const whole = readdirSync('spec', { recursive: true })
  .filter(name => name.endsWith('.spec.ts'))
  .map(name => readFileSync(join('spec', name), 'utf8'))
  .join('\n')

/** Whether all passed; it tells how many, and what was left out. */
function runRow(name, row) {
  if (row.disk && (process.getuid?.() !== 0 || !existsSync('/dev/fuse'))) {
    console.log(`- ${name}: left out, as mounting needs root and /dev/fuse`)
    return true
  }
  const without = Object.entries(row.without ?? {})
  const unknown = without.filter(([title]) => !whole.includes(title))
  if (unknown.length > 0) throw new Error(`no spec has this in its title: ${unknown.join(', ')}`)
  const matches = without.map(([title]) => `--match=!*${title}*`)
  const args = ['node_modules/ava/entrypoints/cli.mjs', '--config', 'spec/refused.config.js']
  const rooms = writeRooms(`refused-${name}`, picomatch(row.specs))
  writeFileSync(refusals, '')
  const startedAt = performance.now()
  const before = process.umask(row.umask ?? 0o022)
  const { status, stdout, stderr } = onDisk(row, temporary =>
    spawnSync(process.execPath, [...args, ...matches], {
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
      env: { ...envOf(row, temporary), ROOMS: rooms }
    })
  )
  process.umask(before)
  const seconds = Math.round((performance.now() - startedAt) / 1000)
  const { size } = statSync(refusals)
  // A row in which nothing happened shows nothing.
  const isPassed = status === 0 && (size > 0 || row.disk !== undefined)
  if (!isPassed) console.log(stdout, stderr)
  const times = row.disk ? '' : `, ${size} times`
  console.log(`${isPassed ? '✔' : '✘'} ${name}: ${seconds} s${times}`)
  console.log(stdout.match(/^ +\d+ tests? (?:passed|failed)$/gm)?.join('\n') ?? '')
  for (const [title, reason] of without) console.log(`  without "${title}": ${reason}`)
  return isPassed
}

function main() {
  const called = readdirSync('lib', { recursive: true }).filter(
    name => name.endsWith('.ts') && UNUSED.test(readFileSync(join('lib', name), 'utf8'))
  )
  if (called.length > 0) throw new Error(`no row refuses what is called in ${called.join(', ')}`)
  const given = process.argv.slice(2)
  const names = given.length > 0 ? given : Object.keys(ROWS)
  // All of them, though one fails.
  const results = names.map(name => {
    if (!ROWS[name]) throw new Error(`there is no row ${name}: ${Object.keys(ROWS).join(', ')}`)
    return runRow(name, ROWS[name])
  })
  return results.every(Boolean)
}

const library = compileShim()
try {
  process.exitCode = main() ? 0 : 1
} finally {
  rmSync(work, { recursive: true, force: true })
}
