// Random modules and edits: what an edit runs in a page, and whether the page reloads, is what it is with Vite.
import { join } from 'node:path'
import * as fc from 'fast-check'
import type { Middleware } from 'koa'
import { test } from '../support/test.ts'
import { makeProject, makeSite, writeFiles } from '../support/site.ts'
import { until } from '../support/until.ts'
import { startVite } from '../support/vite-server.ts'
import type { DrivenPage } from './browser.ts'
import { launch } from './chromium.ts'

interface Module {
  /** The numbers of the modules that it imports; those below the number of its own make cycles. */
  readonly imports: readonly number[]
  readonly lazy: readonly number[]
  /** Itself is −1. */
  readonly accepts: readonly number[]
}

/** The modules that are edited within a tick. */
type Edit = readonly number[]

const SIZE = 6
const some = (max: number) => fc.uniqueArray(fc.nat(SIZE - 1), { maxLength: max, minLength: 0 })

const aModule: fc.Arbitrary<Module> = fc
  .record({
    imports: some(2),
    lazy: some(1),
    isSelf: fc.integer({ min: 0, max: 2 }),
    share: fc.nat(3)
  })
  .map(({ imports, lazy, isSelf, share }) => ({
    imports,
    lazy: lazy.filter(each => !imports.includes(each)),
    accepts: isSelf === 0 ? [-1] : share === 0 ? imports : []
  }))

const aGraph = fc.array(aModule, { minLength: SIZE, maxLength: SIZE })
const anEdit: fc.Arbitrary<Edit> = fc.uniqueArray(fc.nat(SIZE - 1), { minLength: 1, maxLength: 2 })

/** Those that the two roots load, since Vite reloads for what any page has loaded. */
function reached(graph: readonly Module[]): ReadonlySet<number> {
  const all = new Set([0, 1])
  for (const each of all)
    for (const next of [...(graph[each]?.imports ?? []), ...(graph[each]?.lazy ?? [])])
      all.add(next)
  return all
}

function textOf(at: number, { imports, lazy, accepts }: Module, version: number) {
  const tell = (text: string) => `globalThis.log.push(\`${text}\`)`
  const taken = accepts.map(each => {
    const dependency = each === -1 ? '' : `'./m${each}.js', `
    const what = each === -1 ? `${at} itself` : `${at} takes ${each}`
    return `import.meta.hot?.accept(${dependency}next => { ${tell(`${what}: \${next?.version}`)} })`
  })
  return [
    ...imports.map(each => `import * as m${each} from './m${each}.js'`),
    `export const version = ${version}`,
    tell(`run ${at}: ${version}`),
    ...lazy.map(each => `import('./m${each}.js').catch(error => ${tell('${error.name}')})`),
    ...taken,
    `import.meta.hot?.dispose(() => { ${tell(`disposed ${at}: ${version}`)} })`
  ].join('\n')
}

const START = `<script>
  globalThis.log = []
  // The page behind the other one has a channel as well.
  Object.defineProperty(document, 'hidden', { value: false })
  sessionStorage.loads = Number(sessionStorage.loads ?? 0) + 1
</script>`

interface Seen {
  readonly log: readonly string[]
  readonly loads: number
}

const look = (page: DrivenPage) =>
  page
    .evaluate<Seen>('({ log: globalThis.log ?? [], loads: Number(sessionStorage.loads) })')
    .catch((): Seen => ({ log: [], loads: -1 }))

/** The last version of each module that ran. */
function lastRun({ log }: Seen): ReadonlyMap<string | undefined, string | undefined> {
  const lines = log.map(line => /^run (\d+): (\d+)$/.exec(line) ?? [])
  return new Map(lines.map(([, at, version]) => [at, version]))
}

const RUNS = Number(process.env['GRAPHS'] ?? 8)

test.serial('what an edit runs, and whether it reloads, is what it is with Vite', async t => {
  const viteRoot = makeProject(t, { 'index.html': '' })
  const view: Middleware = ({ path, assets, response }, next) => {
    const [, folder] = /^\/(c\d+)\/$/.exec(path) ?? []
    if (folder === undefined) return next()
    response.type = 'html'
    const tags = [0, 1].map(at => assets.javascript(`${folder}/m${at}.js`, { type: 'module' }))
    response.body = `<!doctype html><link rel="icon" href="data:,">${assets.live()}${START}${tags.join('')}`
    return undefined
  }
  let channels = 0
  const front: Middleware = (ctx, next) => {
    if (ctx.path.endsWith('/-/live')) channels++
    return next()
  }
  const site = await makeSite(t, { 'js/none.js': '' }, { routes: view, front })
  const { origin } = await startVite(t, viteRoot, {
    server: { watch: { awaitWriteFinish: false } }
  })
  const browser = launch(t)
  let cases = 0
  let inOrder = 0
  let compared = 0
  let unseen = 0

  const holds = fc.asyncProperty(
    aGraph,
    fc.array(anEdit, { minLength: 1, maxLength: 4 }),
    async (graph, edits) => {
      const folder = `c${cases++}`
      const loaded = reached(graph)
      const versions = graph.map(() => 1)
      const write = (at: number) => {
        const text = textOf(at, graph[at] as Module, versions[at] as number)
        site.write(`js/${folder}/m${at}.js`, text)
        writeFiles(viteRoot, { [join(folder, `m${at}.js`)]: text })
      }
      for (const at of loaded) write(at)
      const scripts = [0, 1].map(at => `<script type="module" src="/${folder}/m${at}.js"></script>`)
      writeFiles(viteRoot, {
        [`${folder}/index.html`]: `<!doctype html><link rel="icon" href="data:,">${START}${scripts.join('')}`
      })
      const before = channels
      const [ours, vites] = [
        await browser.open(`http://127.0.0.1:${site.port}/${folder}/`),
        await browser.open(`${origin}/${folder}/index.html`)
      ]
      const all = [...loaded].map(each => `run ${each}: 1`).toSorted()
      const both = (): Promise<Seen[]> => Promise.all([look(ours), look(vites)])
      const hasAll = ({ log }: Seen) => all.every(each => log.includes(each))
      const isSettled = async () => (await both()).every(hasAll)
      await until(isSettled, `${folder}: everything runs`)
      await until(() => channels > before, `${folder} is connected`)
      await until(
        async () => (await ours.evaluate('globalThis.koaFreshAssetsHot.tick')) !== undefined,
        'it was told'
      )
      for (const modules of edits) {
        const edited = modules.filter(each => loaded.has(each))
        if (edited.length === 0) continue
        const started = await both()
        for (const page of [ours, vites]) await page.evaluate('globalThis.log.length = 0')
        for (const at of edited) (versions[at] as number)++
        edited.forEach(at => write(at))
        const expected = edited.map(at => [String(at), String(versions[at])] as const)
        let seen = await both()
        const hasRun = (each: Seen) =>
          expected.every(([at, version]) => lastRun(each).get(at) === version)
        const isExact = edited.length === 1
        const sorted = ({ log }: Seen) => log.toSorted().join()
        const isSame = ([one, other]: readonly Seen[]) =>
          one !== undefined &&
          other !== undefined &&
          hasRun(one) &&
          hasRun(other) &&
          (!isExact || sorted(one) === sorted(other))
        await until(
          async () => isSame((seen = await both())),
          `${folder}: the same is seen`,
          300
        ).catch(() => undefined)
        const [one, other] = seen as [Seen, Seen]
        const reloads = seen.map(({ loads }, at) => loads - (started[at]?.loads ?? 0))
        const told = JSON.stringify({ graph, edited, one, other, reloads })
        // Vite does nothing about modules that only import each other.
        if (hasRun(one) && !hasRun(other)) {
          unseen++
          break
        }
        if (!isSame(seen)) throw new Error(`not the same: ${told}`)
        const [own = 0, theirs = 0] = reloads
        if (isExact ? own !== theirs : own > theirs) throw new Error(`other reloads: ${told}`)
        if (isExact) {
          compared++
          if (one.log.join() === other.log.join()) inOrder++
        }
      }
      for (const page of [ours, vites]) await page.evaluate("location.href = 'about:blank'")
    }
  )
  await fc.assert(holds, {
    numRuns: RUNS,
    endOnFailure: true,
    includeErrorInReport: true,
    seed: Number(process.env['SEED'] ?? 1)
  })
  t.log(
    `${compared} edits, ${inOrder} of them in the same order; ${unseen} that Vite does not show`
  )
  t.true(unseen < cases / 2)
  t.true(cases >= RUNS)
})
