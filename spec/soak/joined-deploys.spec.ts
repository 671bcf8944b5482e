// Deploys of joined modules, while visitors load pages with everything that these link to.
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Middleware } from 'koa'
import { splitFingerprint } from '../../lib/runtime/urls/spelling.ts'
import { clean } from '../../lib/koa-assets.ts'
import { ask, makeProject, makeSite, placed, test, until, writeFiles } from '../support/index.ts'
import { SHOP } from '../extras/modules/joining/shop.ts'

const CLI = resolve('dist/cli.js')
const VISITORS = 4
/** Between two steps. */
const VISITS = 30

/** What a module says of itself, wherever its code is. */
const said = (name: string, release: number) => `console.debug('module ${name} ${release}')\n`
const SAID = /module (?<name>\w+) (?<release>\d)/g

const writeRelease = (root: string, release: number) => {
  const later = "import { wee } from 'wee'\nexport const late = wee"
  for (const name of ['app', 'admin', 'count', 'later']) {
    const path = `javascripts/${name}.js`
    // The second release joins other modules with each other.
    const code = name === 'later' && release > 1 ? later : String(SHOP[path])
    writeFiles(root, placed({ [path]: `${code}\n${said(name, release)}` }))
  }
  const sheet = `main { background: url(star.svg); order: ${release} }`
  writeFiles(root, placed({ 'stylesheets/app.css': sheet }))
}

const IN_SCRIPT = /(?:\bfrom|\bimport|\bURL)\s*\(?\s*(["'`])(?<url>\/[^"'`]+)\1/g
const IN_SHEET = /url\((?<url>[^)]+)\)/g
const IN_PAGE = /(?:src|href)="(?<url>[^"]+)"/g

const found = (text: string, pattern: RegExp) =>
  Array.from(text.matchAll(pattern), ({ groups }) => groups?.['url'] ?? '')

for (const bundle of [true, undefined]) {
  test(`every page finds the modules of one release while these are deployed (bundle: ${bundle})`, async t => {
    const options = { packages: ['big', 'tiny', 'wee'], bundle }
    const root = makeProject(t, placed(SHOP))
    writeFileSync(join(root, 'assets.config.json'), JSON.stringify(options))
    const deploy = async (release: number) => {
      writeRelease(root, release)
      await promisify(execFile)(process.execPath, [CLI, 'precompile', '--quiet'], { cwd: root })
    }
    await deploy(1)
    const routes: Middleware = ctx => {
      const { assets } = ctx
      const name = { '/': 'app', '/admin': 'admin' }[ctx.path]
      if (name === undefined) return
      const script = assets.javascript(name, { type: 'module' })
      ctx.body = assets.stylesheet('app') + assets.importMap({ entry: name }) + script
    }
    const production = { env: 'production', revalidate: 0, memory: { maxBytes: 0 } }
    const site = await makeSite(t, {}, { ...options, ...production, root, routes })
    const faults: string[] = []
    const open: string[][] = []
    let visits = 0
    /** @param page the links of one that is open */
    const visit = async (path: string, page?: readonly string[]) => {
      const links = page ?? found((await ask(site.port, path)).text, IN_PAGE)
      const all = new Set(links)
      const modules: string[] = []
      const releases = new Set<string>()
      for (const url of all) {
        const { status, text } = await ask(site.port, url)
        if (status !== 200) faults.push(`${url} of ${path}: ${status}`)
        if (url.endsWith('.css')) for (const each of found(text, IN_SHEET)) all.add(each)
        if (!url.endsWith('.js')) continue
        for (const each of found(text, IN_SCRIPT)) all.add(each)
        for (const { groups } of text.matchAll(SAID)) {
          modules.push(groups?.['name'] ?? '')
          releases.add(groups?.['release'] ?? '')
        }
      }
      const names = Array.from(all, url => splitFingerprint(url)?.name ?? url)
      for (const list of [names, modules])
        if (new Set(list).size < list.length) faults.push(`twice in ${path}: ${list.join()}`)
      if (releases.size !== 1) faults.push(`${path} is of the releases ${[...releases].join()}`)
      if (page === undefined) open.push([...links])
      visits++
    }
    const state = { isOver: false }
    const visiting = new Set<Promise<void>>()
    const visitor = async (number: number) => {
      for (let at = number; !state.isOver; at++) {
        const kept = at % 3 === 2 ? open[at % open.length] : undefined
        const visited = visit(at % 2 === 0 ? '/' : '/admin', kept)
        visiting.add(visited)
        await visited
        visiting.delete(visited)
      }
    }
    const more = async () => {
      const goal = visits + VISITS
      await until(() => visits >= goal, `${VISITS} more visits`, 12_000)
    }
    await visit('/')
    const [first = []] = open
    const load = Promise.all(Array.from({ length: VISITORS }, (_, number) => visitor(number)))
    await more()
    await deploy(2)
    const { length } = open
    await more()
    t.deepEqual((await clean({ root, ...options }, { keep: 2, age: 0 })).removed, [])
    await more()
    await deploy(3)
    await more()
    // The pages of the first release are closed.
    open.splice(0, length)
    await Promise.all(visiting)
    t.not((await clean({ root, ...options }, { keep: 2, age: 0 })).removed.length, 0)
    await more()
    state.isOver = true
    await load
    t.deepEqual(faults, [])
    t.log(`${visits} visits`)
    const gone = await Promise.all(first.map(url => ask(site.port, url)))
    t.true(gone.some(({ status }) => status === 404))
  })
}
