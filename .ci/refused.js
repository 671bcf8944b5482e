// npm run lane refused: runs the specs of the core on systems that refuse a call (Windows, WSL, CIFS, FUSE, sandboxes),
// that stamp files with even seconds (FAT), or that ignore case. Rows may be named: npm run lane refused -- chmod
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
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import picomatch from 'picomatch'
import { ROWS } from './refused-rows.js'
import { writeRooms } from './rooms.js'

/** Calls that no row refuses, since nothing in lib makes them. */
const UNUSED = /\b(?:[fl]?chown|symlink)(?:Sync)?\(/

const work = mkdtempSync(join(tmpdir(), 'refused-'))
// Some specs run as another user.
chmodSync(work, 0o755)
const refusals = join(work, 'refusals')

/** Compiles the library that refuses calls. */
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

/** Runs a function in a separate folder, on the disk that a row needs. */
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
    // With io_uring these calls do not go through the C library.
    UV_USE_IO_URING: '0',
    LD_PRELOAD: library,
    REFUSALS: refusals,
    ...(calls.length > 0 && { REFUSED: calls.join(' ') }),
    ...(seconds && { COARSE: String(seconds) })
  }
}

/** Runs the specs of a row, and prints how many passed, and which were left out. @returns whether all passed */
function runRow(name, row) {
  if (row.disk && (process.getuid?.() !== 0 || !existsSync('/dev/fuse'))) {
    console.log(`- ${name}: left out, as mounting needs root and /dev/fuse`)
    return true
  }
  const without = Object.entries(row.without ?? {})
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
  // A row in which no call was refused proves nothing.
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
  // All rows run, even if one fails.
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
