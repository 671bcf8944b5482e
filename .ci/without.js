// node .ci/without.js: a copy of lib without each extra in turn, and those that stand on it, must type-check. Then a
// copy without all extras must build and pass the specs of the core, and one without `socket`, the exit to the socket,
// those of responses. With SOAK below 1, only one copy, without all of these, must pass the quick specs of responses,
// as spec/house.spec.ts finds an extra that imports another undeclared. With names of extras, a copy of lib and the
// specs of its rooms without each of these must type-check.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative } from 'node:path'

/** The files that name the extras. */
const TABLES = [
  'lib/runtime/app/extras.ts',
  'lib/runtime/app/extra-exports.ts',
  'lib/runtime/settings/extra-options.ts',
  'lib/runtime/http-cache/reports.ts',
  'lib/runtime/views/view-helpers.ts'
]

const LIB = ['lib', 'package.json', 'tsconfig.json']
const COPIED = ['.ci', 'demo', 'docs', 'spec', ...LIB]
const MADE = ['.spec', '.types', 'dist']
/** Run without npx, which takes half a second each time. */
const [TSC, AVA] = ['node_modules/typescript/bin/tsc', 'node_modules/ava/entrypoints/cli.mjs']
/** Files that are the same in one copy as in the last are not checked again. */
const CHECK_ONLY = ['--noEmit', '--incremental', '--tsBuildInfoFile', 'checked.json']
/** Specs of the whole product: the promises of its documents, the tree, real servers and applications. */
const OF_ALL =
  /^(?:docs|soak|system|types.*|(?:house|readme|start|package|without-assets)\.spec\.ts)$/

/** Returns the text of a table without the imports from an extra and their uses. */
function withoutExtra(text, extra) {
  const of = new RegExp(`^(?:import|export)\\s[^;']*?from '[^']*/extras/${extra}/[^']*'\\n`, 'gm')
  const names = [...text.matchAll(of)].flatMap(([line]) =>
    Array.from(line.matchAll(/[{,]\s*(?:type )?(\w+)/g), ([, name]) => name)
  )
  const loaded = new RegExp(`\\(\\) => import\\('[^']*/extras/${extra}/[^']*'\\),?`, 'g')
  let rest = text.replace(of, '').replace(loaded, '')
  for (const name of names) {
    rest = rest.replace(new RegExp(`(?:\\.\\.\\.)?\\b${name}\\b(?:\\([^)]*\\))?,?`, 'g'), '')
  }
  return rest.replace(/,(?=\s*\{\})/g, '').replace(/ extends(?=\s*\{)/g, '')
}

/** Removes an extra. A spec that needs other extras is called with-<extra>, or with-<one>-and-<other>. */
function remove(extra, tree) {
  for (const folder of ['lib', 'spec'])
    rmSync(join(tree, folder, 'extras', extra), { recursive: true, force: true })
  for (const table of TABLES) {
    const file = join(tree, table)
    writeFileSync(file, withoutExtra(readFileSync(file, 'utf8'), extra))
  }
  const specs = join(tree, 'spec/extras')
  if (!existsSync(specs)) return
  for (const path of readdirSync(specs, { recursive: true }))
    if (new RegExp(`^with-(?:.*-and-)?${extra}(?:-and-.*)?\\.`).test(basename(path)))
      rmSync(join(specs, path))
}

/** Returns the extras that import it, directly or through others, according to their `standsOn`. */
function standingOn(extra) {
  const isAbove = name => {
    const text = readFileSync(join('lib/extras', name, 'extra.ts'), 'utf8')
    const [, names = ''] = /standsOn: \[([^\]]*)\]/.exec(text) ?? []
    return names.includes(`'${extra}'`)
  }
  const above = readdirSync('lib/extras').filter(isAbove)
  return new Set(above.flatMap(name => [name, ...standingOn(name)]))
}

/** Removes the exit to the socket: one file, and the line that calls it. */
function removeSocket(tree) {
  rmSync(join(tree, 'lib/runtime/serving/socket.ts'))
  rmSync(join(tree, 'spec/runtime/serving/socket.spec.ts'))
  const file = join(tree, 'lib/koa-assets.ts')
  const lines = readFileSync(file, 'utf8').split('\n')
  writeFileSync(file, lines.filter(line => !line.includes('exitToSocket')).join('\n'))
}

// The specs run as in `npm test`, even if a soak test runs this file.
const { SOAK = '1', ...rest } = process.env
const isShort = Number(SOAK) < 1
const env = isShort ? rest : { ...rest, ALL: '1' }

/** Leaves out packages of other lanes, which may be in spec/. */
const isOwn = path => basename(path) !== 'node_modules'

const isNamed = process.argv.length > 2

/** @param specs globs below spec/ of those that must pass; undefined if none must, and nothing is built */
function check(tree, names, takeOut, specs) {
  const run = (command, ...words) => execFileSync(command, words, { cwd: tree, stdio: 'pipe', env })
  const hasSpecs = specs !== undefined || isNamed
  const isWanted = path => isOwn(path) && !OF_ALL.test(relative('spec', path))
  try {
    for (const each of [...COPIED, ...MADE])
      rmSync(join(tree, each), { recursive: true, force: true })
    for (const each of hasSpecs ? COPIED : LIB)
      cpSync(each, join(tree, each), { recursive: true, filter: isWanted })
    takeOut(tree)
    // Several threads would each check the files that they share.
    const compile = (...words) => run('node', TSC, '--singleThreaded', ...words)
    compile('-p', hasSpecs ? 'spec' : '.', ...(specs ? [] : CHECK_ONLY))
    if (specs) {
      compile('--emitDeclarationOnly')
      run('node', '.ci/bundle.js')
      cpSync('package.json', join(tree, '.spec/package.json'))
      run('node', '.ci/rooms.js', ...specs)
      run('node', AVA, '--config', 'spec/ava.config.js')
    }
    console.log(`✔ without ${names.join(', ')}`)
    return true
  } catch (error) {
    console.log(`✘ without ${names.join(', ')}\n${error.stdout ?? error}${error.stderr ?? ''}`)
    return false
  }
}

const RESPONSES = ['runtime/serving/**', 'koa-*', 'extras/routes/**']

function checkWithout(tree, names, specs) {
  const takeOut = name => (name === 'socket' ? removeSocket(tree) : remove(name, tree))
  return check(tree, names, () => names.forEach(takeOut), specs)
}

function main(given) {
  const tree = mkdtempSync(join(tmpdir(), 'without-'))
  try {
    // Some specs run as another user.
    chmodSync(tree, 0o755)
    // These are links to the files, as the permission model checks the real place of a folder.
    execFileSync('cp', ['-al', join(process.cwd(), 'node_modules'), tree])
    const all = readdirSync('lib/extras')
    const names = given.length > 0 ? given : isShort ? [] : [...all, 'socket']
    // All copies are checked, even if one fails.
    const results = names.map(name =>
      name === 'socket'
        ? checkWithout(tree, [name], RESPONSES)
        : checkWithout(tree, [name, ...standingOn(name)])
    )
    if (given.length === 0)
      results.push(
        isShort
          ? checkWithout(tree, [...all, 'socket'], RESPONSES)
          : checkWithout(tree, all, ['**'])
      )
    return results.every(Boolean)
  } finally {
    rmSync(tree, { recursive: true, force: true })
  }
}

process.exitCode = main(process.argv.slice(2)) ? 0 : 1
