// Modules in a browser: each is loaded and evaluated once.
import { randomBytes } from 'node:crypto'
import type { KoaAssetsOptions } from '../../lib/runtime/settings/options.ts'
import type { ViewHelpers } from '../../lib/runtime/views/view-helpers.ts'
import { visit, type View as PageView } from './page.ts'
import { makeProject, placed, run, test, withDigest, writeFiles } from '../support/index.ts'
import type { ExecutionContext, Files } from '../support/index.ts'

const COUNT = 100
const nameOf = (at: number) => `part${at % 10}/m${at}`
const EVALUATED = ';(globalThis.evaluated ??= [])'

/** Each module is imported by several others, from the same folder and from others. */
function makeModules(): Files {
  return Object.fromEntries(
    Array.from({ length: COUNT }, (_, at) => {
      const next = new Set([at * 2 + 1, at * 2 + 2, at + 7, at + 10])
      const imported = [...next].filter(other => other < COUNT)
      const lines = imported.map((next, turn) => {
        const path = turn % 2 === 0 ? `../${nameOf(next)}.js` : `/assets/${nameOf(next)}.js`
        return `import { m${next} } from '${path}'`
      })
      const code = `export const m${at} = [${imported.map(next => `m${next}`).join()}].length`
      const text = [...lines, code, `${EVALUATED}.push('m${at}')`].join('\n')
      return [`javascripts/${nameOf(at)}.js`, text]
    })
  )
}

const APP: Files = {
  'javascripts/app.js': `
    import { m0 } from './part0/m0.js'
    import confetti from 'confetti'
    import data from './data.json' with { type: 'json' }
    import sheet from './sheet.css' with { type: 'css' }
    ${EVALUATED}.push('app')
    const [language, bare] = ['fi', 'confetti']
    const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })
    const inWorker = new Promise(resolve => (worker.onmessage = ({ data }) => resolve(data)))
    globalThis.ready = Promise.all([
      import('./later.js'),
      import('./locales/' + language + '.js'),
      import(bare),
      inWorker,
      fetch(new URL('logo.svg', import.meta.url)).then(response => response.text())
    ]).then(([later, locale, { default: again }, inWorker, logo]) => ({
      same: [again === confetti, later.m5 === locale.m5],
      ...{ inWorker, logo, data, rules: sheet.cssRules.length }
    }))`,
  'javascripts/later.js': `export * from './part5/m5.js'\n${EVALUATED}.push('later')`,
  'javascripts/locales/fi.js': `export { m5 } from '../part5/m5.js'\n${EVALUATED}.push('fi')`,
  'javascripts/worker.js': `
    import { m99 } from './part9/m99.js'
    ${EVALUATED}.push('worker')
    postMessage(globalThis.evaluated)`,
  'javascripts/vendor/confetti.js': `export default {}\n${EVALUATED}.push('confetti')`,
  'javascripts/data.json': '{"one":1}',
  'javascripts/sheet.css': 'a { background: url(logo.svg) }',
  'images/logo.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>'
}

type View = (assets: ViewHelpers, nonce: string) => string

/** A site with one page, whose policy allows no script without the nonce, and the paths asked of it. */
async function makePage(
  t: ExecutionContext,
  files: Files,
  view: View,
  options: KoaAssetsOptions = {}
) {
  const root = makeProject(t)
  writeFiles(root, placed(files))
  const isPrecompiled = options.env === 'production' && !options.compile
  const warnings = isPrecompiled ? (await run({ ...options, root })).warnings : []
  const page: PageView = ctx => {
    const nonce = randomBytes(16).toString('base64')
    ctx.set('Content-Security-Policy', `script-src 'nonce-${nonce}'; worker-src 'self'`)
    return view(ctx.assets, nonce)
  }
  return { ...(await visit(t, { view: page, ...options, root })), warnings }
}

const view: View = (assets, nonce) =>
  assets.importMap({ nonce, entry: ['app', 'locales/fi'] }) +
  assets.javascript('app', { type: 'module', modulepreload: true, nonce })

for (const [what, options] of Object.entries({
  'in development': { env: 'development' },
  'precompiled and minified': { env: 'production', minify: true },
  'with fingerprints on request': { env: 'production', compile: true, fingerprint: true }
})) {
  test(`a page of ${COUNT} modules loads and runs each of them once: ${what}`, async t => {
    const { page, paths, warnings } = await makePage(t, { ...makeModules(), ...APP }, view, {
      ...options,
      imports: { confetti: 'vendor/confetti' }
    })
    const { inWorker, ...result } = await page.evaluate<
      Record<string, unknown> & { inWorker: string[] }
    >('ready')
    t.deepEqual(result, {
      same: [true, true],
      data: { one: 1 },
      rules: 1,
      logo: APP['images/logo.svg']
    })
    const evaluated = await page.evaluate<string[]>('evaluated')
    const modules = Array.from({ length: COUNT }, (_, at) => `m${at}`)
    t.deepEqual(evaluated.toSorted(), [...modules, 'app', 'confetti', 'fi', 'later'].toSorted())
    t.deepEqual([...new Set(inWorker)], inWorker)
    t.is(inWorker.at(-1), 'worker')
    t.deepEqual(page.complaints, [])
    t.deepEqual(page.remarks, [])
    t.deepEqual(warnings, [])
    const asked = paths.filter(path => path.startsWith('/assets/'))
    const isPlain = (path: string) => !withDigest(/-DIGEST\.\w+$/).test(path)
    if (options.env === 'production') t.deepEqual(asked.filter(isPlain), [])
    // The worker has a module map of its own, and may ask before the page's response is cached.
    const inPage = asked.filter(path => path.endsWith('.js') && !/m99|worker/.test(path))
    t.deepEqual([...new Set(inPage)], inPage)
  })
}

const JSON_OF = (name: string, json: object = {}) => JSON.stringify({ name, ...json })
const WORKERS: Files = {
  '/package.json': JSON_OF('shop', { dependencies: { pdf: '1' } }),
  '/node_modules/pdf/package.json': JSON_OF('pdf', { exports: { '.': './pdf.mjs', './*': './*' } }),
  '/node_modules/pdf/pdf.mjs':
    "import { name } from './shared.mjs'\nexport const title = document.title + name",
  '/node_modules/pdf/shared.mjs': "export const name = 'pdf'",
  '/node_modules/pdf/build/worker.mjs':
    "import { name } from '../shared.mjs'\npostMessage([name, typeof document, 'module'])",
  '/node_modules/pdf/classic.js': "postMessage(['pdf', typeof document, typeof importScripts])",
  'javascripts/app.ts': `
    import { title } from 'pdf'
    const messageOf = (worker: Worker) =>
      new Promise(done => (worker.onmessage = ({ data }) => done(data)))
    const module = new Worker(new URL('pdf/build/worker.mjs', import.meta.url), { type: 'module' })
    const classic = new Worker(new URL('pdf/classic.js', import.meta.url))
    const workers = [module, classic].map(messageOf)
    Object.assign(globalThis, { ready: Promise.all([title, ...workers]) })`
}

for (const [what, options] of Object.entries({
  'in development': { env: 'development' },
  'with bundle: true': { env: 'production', bundle: true },
  'with bundle: packages': { env: 'production', bundle: 'packages' },
  'with bundle: false': { env: 'production', bundle: false },
  'with fingerprints on request': { env: 'production', compile: true, fingerprint: true }
} as const)) {
  const modules: View = (assets, nonce) =>
    assets.importMap({ nonce }) + assets.javascript('app', { type: 'module', nonce })

  test(`a package’s workers run without its modules that need a document: ${what}`, async t => {
    const { page, warnings } = await makePage(t, WORKERS, modules, options)
    const [title, ...told] = await page.evaluate<string[]>('ready')
    t.true(title?.endsWith('pdf'))
    t.deepEqual(told as unknown[], [
      ['pdf', 'undefined', 'module'],
      ['pdf', 'undefined', 'function']
    ])
    t.deepEqual([page.complaints, page.remarks, warnings], [[], [], []])
  })
}
