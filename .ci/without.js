// node .ci/without.js <extra>…: a copy of the tree without each of these in turn, which must type-check, build and
// pass the specs of the core. Without names: every extra. --no-specs: only the types and the build.
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

/** What names the extras. */
const TABLES = [
  'lib/assets/extras.ts',
  'lib/assets/extra-exports.ts',
  'lib/assets/settings/extra-options.ts'
]
const COPIED = ['.ci', 'demo', 'lib', 'spec', 'package.json', 'tsconfig.json']
/** Specs of the product as a whole: of what its documents promise, of the tree, of real servers and applications. */
const OF_ALL =
  /^(?:docs|moving|soak|system|types.*|(?:house|readme|start|package|bundlers|moving|realms|without-assets)\.spec\.ts)$/

/** The text of a table without what it imports from an extra, and without what it does with that. */
function withoutExtra(text, extra) {
  const of = new RegExp(`^(?:import|export)\\s[^;']*?from '[^']*/extras/${extra}/[^']*'\\n`, 'gm')
  const names = [...text.matchAll(of)].flatMap(([line]) =>
    Array.from(line.matchAll(/[{,]\s*(?:type )?(\w+)/g), ([, name]) => name)
  )
  let rest = text.replace(of, '')
  for (const name of names) {
    rest = rest.replace(new RegExp(`(?:\\.\\.\\.)?\\b${name}\\b(?:\\([^)]*\\))?,?`, 'g'), '')
  }
  return rest.replace(/,(?=\s*\{\})/g, '').replace(/ extends(?=\s*\{)/g, '')
}

/** A spec that needs other extras is called with-<extra>, or with-<one>-and-<other>. */
function remove(extra, tree) {
  for (const folder of ['lib', 'spec'])
    rmSync(join(tree, folder, 'extras', extra), { recursive: true, force: true })
  const specs = join(tree, 'spec/extras')
  for (const path of readdirSync(specs, { recursive: true }))
    if (new RegExp(`^with-(?:.*-and-)?${extra}(?:-and-.*)?\\.`).test(basename(path)))
      rmSync(join(specs, path))
  for (const table of TABLES) {
    const file = join(tree, table)
    writeFileSync(file, withoutExtra(readFileSync(file, 'utf8'), extra))
  }
}

function check(extra, withSpecs) {
  const tree = mkdtempSync(join(tmpdir(), `without-${extra}-`))
  const run = (command, ...words) => execFileSync(command, words, { cwd: tree, stdio: 'pipe' })
  try {
    for (const each of COPIED) cpSync(each, join(tree, each), { recursive: true })
    for (const name of readdirSync(join(tree, 'spec')).filter(each => OF_ALL.test(each)))
      rmSync(join(tree, 'spec', name), { recursive: true })
    symlinkSync(join(process.cwd(), 'node_modules'), join(tree, 'node_modules'))
    remove(extra, tree)
    run('npx', 'tsc', '--emitDeclarationOnly')
    run('node', '.ci/bundle.js')
    run('npm', 'run', '--silent', 'build:spec')
    if (withSpecs) run('npx', 'ava', '--config', 'spec/ava.config.js')
    console.log(`✔ without ${extra}`)
    return true
  } catch (error) {
    console.log(`✘ without ${extra}\n${error.stdout ?? error}${error.stderr ?? ''}`)
    return false
  } finally {
    rmSync(tree, { recursive: true, force: true })
  }
}

const given = process.argv.slice(2).filter(word => !word.startsWith('--'))
const extras = given.length > 0 ? given : readdirSync('lib/extras')
const withSpecs = !process.argv.includes('--no-specs')
// All of them, though one fails.
const results = extras.map(extra => check(extra, withSpecs))
process.exitCode = results.every(Boolean) ? 0 : 1
