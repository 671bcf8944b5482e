// Modules run in one order: as they are written, built, and joined. Random graphs are compared with Node.
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'
import { placed, readManifest, run } from '../../../support/fingerprinted.ts'
import { makeProject, type Files } from '../../../support/site.ts'
import { cases } from '../../../support/soak.ts'

/** A sequence of numbers below 1 that only depends on its seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

interface Graph {
  readonly files: Files
  readonly packages: readonly string[]
  readonly entries: readonly string[]
}

const told = (what: string) => `globalThis.trace.push(${what})`

/** Modules with effects that import each other, in cycles too, later, and from packages of both kinds. */
function makeGraph(seed: number): Graph {
  const random = randomFrom(seed)
  const below = (limit: number) => Math.floor(random() * limit)
  const is = (chance: number) => random() < chance
  const name = `g${seed}`
  const files: Record<string, string> = {}
  const packages = Array.from({ length: below(4) }, (_, at) => ({
    name: `${name}-p${at}`,
    isCommonJs: is(0.5)
  }))
  for (const [at, { name: own, isCommonJs }] of packages.entries()) {
    const others = packages.slice(at + 1).filter(() => is(0.5))
    const parts = Array.from({ length: below(3) }, (_, part) => `part${part}`)
    const write = (file: string, imports: readonly string[], what: string) => {
      const lines = imports.map((each, index) =>
        isCommonJs ? `const i${index} = require('${each}')` : `import * as i${index} from '${each}'`
      )
      const values = imports.map((_, index) => `i${index}.value`).join(' + ')
      const value = `'${what}'${values && ` + ${values}`}`
      const exported = isCommonJs ? `exports.value = ${value}` : `export const value = ${value}`
      const effect = told(`'${what}'`)
      const body =
        is(0.5) && isCommonJs ? [effect, ...lines, exported] : [...lines, effect, exported]
      files[`/node_modules/${own}/${file}`] = body.join('\n')
    }
    const kind = isCommonJs ? { main: 'index.js' } : { type: 'module', exports: './index.js' }
    files[`/node_modules/${own}/package.json`] = JSON.stringify({
      name: own,
      version: '1.0.0',
      ...kind
    })
    write('index.js', [...parts.map(part => `./${part}.js`), ...others.map(each => each.name)], own)
    for (const [part, file] of parts.entries()) {
      const next = is(0.3) ? parts.slice(part + 1) : []
      const foreign = is(0.3) ? others.map(each => each.name) : []
      write(`${file}.js`, [...next.map(each => `./${each}.js`), ...foreign], `${own}/${file}`)
    }
  }
  const modules = Array.from({ length: 3 + below(5) }, (_, at) => `m${at}`)
  const isAwaiting = is(0.2)
  for (const [at, own] of modules.entries()) {
    const others = modules.filter((_, to) => to !== at && (to > at ? is(0.4) : is(0.12)))
    const wanted = packages.filter(() => is(0.4))
    const lazy = is(0.3) ? modules.filter(() => is(0.2)) : []
    const imports = [
      ...others.map(each => `import { own as ${each} } from './${each}.js'`),
      ...wanted.map((each, index) => `import { value as v${index} } from '${each.name}'`)
    ].toSorted(() => random() - 0.5)
    files[`javascripts/${name}/${own}.js`] = [
      ...imports,
      isAwaiting && is(0.3) ? 'await undefined' : '',
      told([`'${own}'`, ...wanted.map((_, index) => `v${index}`)].join(' + ')),
      ...lazy.map(each => `globalThis.later.push(() => import('./${each}.js'))`),
      `export const own = () => ['${own}', ${others.join(', ')}]`
    ].join('\n')
  }
  const entries = modules.slice(0, 1 + below(2)).map(each => `${name}/${each}.js`)
  return { files, packages: packages.map(each => each.name), entries }
}

/** Loads pages: modules one after another, and then what these load later. It is a program of its own: tsx has hooks. */
const LOADER = `
const traces = []
for (const urls of JSON.parse(process.argv[1])) {
  Object.assign(globalThis, { trace: [], later: [] })
  for (const url of urls) await import(url)
  for (let load = later.shift(); load; load = later.shift()) {
    trace.push('later')
    await load()
  }
  traces.push(trace)
}
process.stdout.write(JSON.stringify(traces))`

async function tracesOf(pages: readonly (readonly string[])[]): Promise<unknown[]> {
  const words = ['--input-type=module', '-e', LOADER, JSON.stringify(pages)]
  const { stdout } = await promisify(execFile)(process.execPath, words)
  return JSON.parse(stdout) as unknown[]
}

/** The files of a page as those of another folder, where they run for the first time; the import map is applied. */
function copied(root: string, folder: string, entries: readonly string[]): string[] {
  const { assets } = readManifest(root)
  const targetOf = (path: string) => assets[path]?.target ?? path
  const urlOf = (path: string) => pathToFileURL(join(root, folder, targetOf(path))).href
  const reached = new Set(entries.map(name => targetOf(`/assets/${name}`)))
  for (const path of reached) {
    const text = readFileSync(join(root, 'public', path), 'utf8')
    for (const [, , to = ''] of text.matchAll(URLS)) reached.add(targetOf(to))
    const file = join(root, folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(
      file,
      text.replaceAll(URLS, (_, quote: string, to: string) => quote + urlOf(to) + quote)
    )
  }
  return entries.map(name => urlOf(`/assets/${name}`))
}

const URLS = /(["'`])(\/assets\/[^"'`]+\.js)\1/g

const TOGETHER = 10

test.serial(
  'JOI-10 modules run in the order of ECMAScript modules, built and joined in every way: random graphs',
  async t => {
    t.timeout(3_600_000)
    const first = Number(process.env['SEED'] ?? 1)
    for (let seed = first; seed < first + cases(20, 200); seed += TOGETHER) {
      const graphs = Array.from({ length: TOGETHER }, (_, at) => makeGraph(seed + at))
      const files = Object.assign({}, ...graphs.map(each => each.files)) as Files
      const root = makeProject(t, placed({ ...files, '/package.json': '{"type":"module"}' }))
      // Pages load all of these entries.
      const views = graphs.flatMap(each => each.entries).map(name => `assets.javascript('${name}')`)
      writeFileSync(join(root, 'page.html'), views.join('\n'))
      const source = (name: string) =>
        pathToFileURL(join(root, 'apps/web/assets/javascripts', name)).href
      const expected = await tracesOf(graphs.map(({ entries }) => entries.map(source)))
      for (const bundle of ['packages', true, false] as const) {
        const packages = graphs.flatMap(each => each.packages)
        await run({ root, packages, bundle, views: 'page.html' })
        const pages = graphs.map(({ entries }, at) => copied(root, `run-${bundle}-${at}`, entries))
        for (const [at, trace] of (await tracesOf(pages)).entries())
          t.deepEqual(trace, expected[at], `SEED=${seed + at}, bundle: ${bundle}`)
      }
    }
  }
)
