// Modules run in one order: as they are written, built, and joined. Random graphs are compared with Node.
import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { pathToFileURL } from 'node:url'
import { command } from '../../../support/command.ts'
import { cases, makeProject, placed, readManifest, run, test } from '../../../support/index.ts'
import { writeFiles, type Files } from '../../../support/index.ts'
import { pkg } from '../package-files.ts'

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

/** Rolldown takes other ways for a build with one of these. */
const KINDS = [
  { isAwaiting: true, hasCommonJs: true },
  { isAwaiting: false, hasCommonJs: false },
  { isAwaiting: false, hasCommonJs: true }
] as const

const told = (what: string) => `globalThis.trace.push(${what})`
const later = (what: string) => `globalThis.later.push(() => ${what})`
const urlOf = (path: string) => `new URL('${path}', import.meta.url)`
const loading = (path: string) => `load(${urlOf(path)}.href)`
/** A module that does something by its own URL stays a file, which runs before all that is joined. */
const OWN_NAME =
  "globalThis.early.push(import.meta.url.replace(/.*\\//, '').replace(/-[\\da-f]{32}/, ''))"
const OWN_URL = 'globalThis.early.push(typeof import.meta.url)'

/** Modules with effects that import each other: in cycles, later, by URLs, from packages of both kinds. */
function makeGraph(seed: number, { isAwaiting, hasCommonJs }: (typeof KINDS)[number]) {
  const random = randomFrom(seed)
  const below = (limit: number) => Math.floor(random() * limit)
  const is = (chance: number) => random() < chance
  const pick = <T>(all: readonly T[]) => all[below(all.length)] as T
  const name = `g${seed}`
  const files: Record<string, string> = {}
  const packages = Array.from({ length: below(4) }, (_, at) => ({
    name: `${name}-p${at}`,
    isCommonJs: hasCommonJs && is(0.5)
  }))
  const usesUrls = is(0.5)
  for (const [at, { name: own, isCommonJs }] of packages.entries()) {
    // Where CommonJS requires a module that must be a file, that runs too early.
    const isUsable = (each: { isCommonJs: boolean }) => each.isCommonJs || !isCommonJs || !usesUrls
    const others = packages.slice(at + 1).filter(each => is(0.5) && isUsable(each))
    const parts = Array.from({ length: below(3) }, (_, part) => `part${part}`)
    // A cycle must be entered at its index, or a value would be used before it is there.
    const isCyclic = is(0.5)
    const write = (file: string, imports: readonly string[], what: string) => {
      const lines = imports.map((each, index) =>
        isCommonJs ? `const i${index} = require('${each}')` : `import * as i${index} from '${each}'`
      )
      const values = imports.map((_, index) => `i${index}.value`).join(' + ')
      const value = `'${what}'${values && ` + ${values}`}`
      const exported = isCommonJs ? `exports.value = ${value}` : `export const value = ${value}`
      const effect = told(`'${what}'`)
      const isFirst = is(0.5) && isCommonJs
      const body = isFirst ? [effect, ...lines, exported] : [...lines, effect, exported]
      if (usesUrls && !isCommonJs && file !== 'index.js') {
        if (isCyclic && is(0.4)) body.unshift("import './index.js'")
        if (is(0.2) && others.length > 0) body.push(later(`import('${pick(others).name}')`))
        if (is(0.2)) body.push(later(loading(`./data.js${pick(SUFFIXES)}`)))
      }
      const isFile = usesUrls && !isCommonJs && imports.length === 0 && is(0.2)
      files[`/node_modules/${own}/${file}`] = (isFile ? [OWN_URL, exported] : body).join('\n')
    }
    files[`/node_modules/${own}/data.js`] = told(`'${own}/data'`)
    const kind = isCommonJs ? { main: 'index.js' } : { type: 'module', exports: './index.js' }
    Object.assign(files, pkg(own, kind))
    write('index.js', [...parts.map(part => `./${part}.js`), ...others.map(each => each.name)], own)
    for (const [part, file] of parts.entries()) {
      const next = is(0.3) ? parts.slice(part + 1) : []
      const foreign = is(0.3) ? others.map(each => each.name) : []
      write(`${file}.js`, [...next.map(each => `./${each}.js`), ...foreign], `${own}/${file}`)
    }
  }
  const modules = Array.from({ length: 3 + below(5) }, (_, at) => `m${at}`)
  // Who guards the folder of a page's script guards what others load of it: it stays there.
  const placeOf = (own: string) => `${/[147]$/.test(own) ? 'sub/' : ''}${own}.js`
  for (const [at, own] of modules.entries()) {
    const pathTo = (to: string) => {
      const path = posix.relative(posix.dirname(placeOf(own)), placeOf(to))
      return path.startsWith('.') ? path : `./${path}`
    }
    const others = modules.filter((_, to) => to !== at && (to > at ? is(0.4) : is(0.12)))
    const wanted = packages.filter(() => is(0.4))
    const lazy = is(0.3) ? modules.filter(() => is(0.2)) : []
    const other = pick(modules)
    const imports = [
      ...others.map(each => `import { own as ${each} } from '${pathTo(each)}'`),
      ...wanted.map((each, index) => `import { value as v${index} } from '${each.name}'`),
      ...(is(0.15) ? [`import '${pathTo(other)}${pick(SUFFIXES)}'`] : [])
    ].toSorted(() => random() - 0.5)
    const body = [
      isAwaiting && is(0.5) ? 'await undefined' : '',
      told([`'${own}'`, ...wanted.map((_, index) => `v${index}`)].join(' + ')),
      ...lazy.map(each => later(`import('${pathTo(each)}')`)),
      is(0.15) ? later(loading(`${pathTo(other)}${pick(SUFFIXES)}`)) : ''
    ]
    files[`javascripts/${name}/${placeOf(own)}`] = [
      ...imports,
      ...(imports.length === 0 && is(0.3) ? [OWN_NAME] : body),
      `export const own = () => ['${own}', ${others.join(', ')}]`
    ].join('\n')
  }
  const all = modules.map(each => `${name}/${placeOf(each)}`)
  /** What each page loads. */
  const pages = [all.slice(0, 1 + below(2)), all.slice(1, 2 + below(2))]
  return { files, packages: packages.map(each => each.name), pages }
}

const SUFFIXES = ['', '?v=1', '#part', '?v=1#part']

/** A program of its own, as tsx has hooks: it loads the modules of each page, and then what these load later. */
const PROGRAM = `
const load = url => import(url)
const traces = []
for (const urls of JSON.parse(process.argv[1])) {
  Object.assign(globalThis, { trace: [], early: [], later: [], load })
  for (const url of urls) await import(url)
  for (let next = later.shift(); next; next = later.shift()) {
    trace.push('later')
    await next()
  }
  traces.push({ trace, early: early.toSorted() })
}
process.stdout.write(JSON.stringify(traces))`

async function tracesOf(pages: readonly (readonly string[])[]) {
  const words = ['--input-type=module', '-e', PROGRAM, JSON.stringify(pages)]
  const { stdout } = await command(process.execPath, words)
  return JSON.parse(stdout) as readonly { trace: readonly unknown[]; early: readonly string[] }[]
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
    const moved = text.replaceAll(URLS, (_, quote: string, to: string) => quote + urlOf(to))
    writeFiles(root, { [join(folder, path)]: moved })
  }
  return entries.map(name => urlOf(`/assets/${name}`))
}

const URLS = /(["'`])(\/assets\/[^"'`?#]+\.js)(?=[^"'`]*\1)/g

const TOGETHER = 15

test.serial('model: modules run in the order of ECMAScript, however they are joined', async t => {
  t.timeout(3_600_000)
  const first = Number(process.env['SEED'] ?? 1)
  for (let seed = first; seed < first + cases(30, 500); seed += TOGETHER) {
    const kind = KINDS[Math.floor(seed / TOGETHER) % KINDS.length] ?? KINDS[0]
    const graphs = Array.from({ length: TOGETHER }, (_, at) => makeGraph(seed + at, kind))
    const pages = graphs.flatMap(each => each.pages)
    const views = pages.flat().map(name => `assets.javascript('${name}')`)
    const written: Files = Object.assign({}, ...graphs.map(each => each.files))
    const files = placed({ '/package.json': '{"type":"module"}', ...written })
    const root = makeProject(t, { ...files, 'page.html': views.join('\n') })
    const expected = await tracesOf(
      pages.map((names, at) => {
        // Each page has modules of its own.
        const folder = at % 2 === 0 ? root : join(root, 'again')
        if (at === 1) writeFiles(folder, files)
        const javascripts = join(folder, 'apps/web/assets/javascripts')
        return names.map(name => pathToFileURL(join(javascripts, name)).href)
      })
    )
    for (const [bundle, tails] of [
      ['packages', true],
      [true, true],
      [true, false],
      [false, true]
    ] as const) {
      const packages = graphs.flatMap(each => each.packages)
      await run({ root, packages, bundle, tails, views: 'page.html' })
      const urls = pages.map((names, at) => copied(root, `run-${bundle}-${tails}-${at}`, names))
      for (const [at, { trace, early }] of (await tracesOf(urls)).entries()) {
        const where = `SEED=${seed + Math.floor(at / 2)}, bundle: ${bundle}, tails: ${tails}`
        const wanted = expected[at]
        t.deepEqual(trace, wanted?.trace, where)
        // What shares a file with what imports them may load more.
        const needed = early.filter(each => wanted?.early.includes(each))
        t.deepEqual(needed, wanted?.early, where)
      }
    }
  }
})
