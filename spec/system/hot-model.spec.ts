// Random modules and edits: what an edit runs in a page, and whether the page reloads, is what it is with Vite.
import { join } from 'node:path'
import * as fc from 'fast-check'
import type { Middleware } from 'koa'
import { reasonOf } from '../../lib/runtime/errors.ts'
import { makeProject, makeSite, test, until, untilSettled, writeFiles } from '../support/index.ts'
import type { ExecutionContext } from '../support/index.ts'
import { startVite } from '../support/vite-server.ts'
import type { DrivenPage } from './browser.ts'
import { launch } from './chromium.ts'

interface Module {
  /** The numbers of the modules that it imports; those below the number of its own make cycles. */
  readonly imports: readonly number[]
  readonly lazy: readonly number[]
  /** Itself is −1. */
  readonly accepts: readonly number[]
  /** It accepts itself, and passes every version that runs on to its importers. */
  readonly invalidates: boolean
}

const FAULTS = ['none', 'none', 'none', 'syntax', 'throws', 'held'] as const

interface Edit {
  /** The modules that are edited within a tick. */
  readonly modules: readonly number[]
  /** What is wrong with the edit, which the next one corrects; `held` runs until the modules have been edited twice more. */
  readonly fault: (typeof FAULTS)[number]
}

const SIZE = 6
const some = (max: number) => fc.uniqueArray(fc.nat(SIZE - 1), { maxLength: max, minLength: 0 })

const aModule: fc.Arbitrary<Module> = fc
  .record({
    imports: some(2),
    lazy: some(1),
    isSelf: fc.integer({ min: 0, max: 2 }),
    share: fc.nat(2),
    invalidates: fc.boolean()
  })
  .map(({ imports, lazy, isSelf, share, invalidates }) => ({
    imports,
    lazy: lazy.filter(each => !imports.includes(each)),
    accepts: isSelf === 0 ? [-1] : share === 0 ? imports : [],
    invalidates: isSelf === 0 && invalidates
  }))

const aGraph = fc.array(aModule, { minLength: SIZE, maxLength: SIZE })
const anEdit: fc.Arbitrary<Edit> = fc.record({
  modules: fc.uniqueArray(fc.nat(SIZE - 1), { minLength: 1, maxLength: 2 }),
  fault: fc.constantFrom(...FAULTS)
})

const passes = (...imports: number[]): Module => ({
  imports,
  lazy: [],
  accepts: [-1],
  invalidates: true
})
const plain = (...imports: number[]): Module => ({
  imports,
  lazy: [],
  accepts: [],
  invalidates: false
})
/** A circle in which each module passes on what the other did. */
const CIRCLE = [passes(2, 5), plain(), plain(), plain(4), passes(2, 0), plain(2, 4)]

/** Those that the two roots load, since Vite reloads for what any page has loaded. */
function reached(graph: readonly Module[]): ReadonlySet<number> {
  const all = new Set([0, 1])
  for (const each of all)
    for (const next of [...(graph[each]?.imports ?? []), ...(graph[each]?.lazy ?? [])])
      all.add(next)
  return all
}

const ENDINGS = {
  none: '',
  syntax: 'export const = 1',
  throws: "throw new Error('while it runs')",
  held: 'await globalThis.gate'
} satisfies Record<Edit['fault'], string>

function textOf(
  at: number,
  { imports, lazy, accepts, invalidates }: Module,
  version: number,
  fault: Edit['fault'] = 'none'
) {
  const tell = (text: string) => `globalThis.log.push(\`${text}\`)`
  const taken = accepts.map(each => {
    const dependency = each === -1 ? '' : `'./m${each}.js', `
    const what = each === -1 ? `${at} itself` : `${at} takes ${each}`
    const more = invalidates ? '; if (next) import.meta.hot.invalidate()' : ''
    return `import.meta.hot?.accept(${dependency}next => { ${tell(`${what}: \${next?.version}`)}${more} })`
  })
  const list = accepts.map(each => `'./m${each}.js'`)
  const took = tell(`${at} takes \${[${accepts.join()}][index]}: \${next.version}`)
  const allTaken = `import.meta.hot?.accept([${list.join()}], all => all.forEach((next, index) => next && ${took}))`
  return [
    ...imports.map(each => `import * as m${each} from './m${each}.js'`),
    `export const version = ${version}`,
    tell(`run ${at}: ${version}`),
    ...lazy.map(each => `import('./m${each}.js').catch(error => ${tell('${error.name}')})`),
    ...(accepts.length > 1 ? [allTaken] : taken),
    `import.meta.hot?.dispose(() => { ${tell(`disposed ${at}: ${version}`)} })`,
    ENDINGS[fault]
  ].join('\n')
}

const MOST_LINES = 300

const START = `<script>
  Object.assign(globalThis, { log: [], from: 0 })
  // Where all modules of a circle pass on what they take, Vite never stops.
  const write = log.push
  log.push = line => {
    if (log.length - from > ${MOST_LINES}) throw new Error('endless')
    return write.call(log, line)
  }
  // The page behind the other one has a channel as well.
  Object.defineProperty(document, 'hidden', { value: false })
  sessionStorage.loads = Number(sessionStorage.loads ?? 0) + 1
</script>`

interface Seen {
  /** What has happened since the last edit. */
  readonly log: readonly string[]
  /** The number of modules that have run since the page was loaded. */
  readonly ran: number
  readonly loads: number
}

const SEEN = `({
  log: globalThis.log?.slice(globalThis.from) ?? [],
  ran: new Set(globalThis.log?.flatMap(line => line.match(/^run \\d+/) ?? [])).size,
  loads: Number(sessionStorage.loads)
})`

const seenIn = (page: DrivenPage) =>
  page.evaluate<Seen>(SEEN).catch((): Seen => ({ log: [], ran: 0, loads: -1 }))

function lastRun({ log }: Seen): ReadonlyMap<string | undefined, string | undefined> {
  const lines = log.map(line => /^run (\d+): (\d+)$/.exec(line) ?? [])
  return new Map(lines.map(([, at, version]) => [at, version]))
}

const importersOf = (graph: readonly Module[], module: number) =>
  [...reached(graph)].filter(at => {
    const { imports = [], lazy = [] } = graph[at] ?? {}
    return at !== module && [...imports, ...lazy].includes(module)
  })

/** Those that import one of these, through others or not, and these. */
function importing(graph: readonly Module[], given: readonly number[]): ReadonlySet<number> {
  const all = new Set(given)
  for (const each of all) for (const importer of importersOf(graph, each)) all.add(importer)
  return all
}

const invalidatedIn = (graph: readonly Module[], { log }: Seen) =>
  [...graph.keys()].filter(
    at => graph[at]?.invalidates && log.some(line => new RegExp(`^${at} itself: \\d`).test(line))
  )

/** Tells whether all importers of each of them have run, unless the page was loaded anew. */
function isPassedOn(graph: readonly Module[], seen: Seen, loads = 0): boolean {
  const ran = lastRun(seen)
  const hasRun = (at: number) => ran.has(String(at))
  const all = invalidatedIn(graph, seen).map(at => importersOf(graph, at))
  return seen.loads !== loads || all.every(above => above.length > 0 && above.every(hasRun))
}

/** If an edit is passed on to a module that has just run, Vite disposes this version, and goes on with it. */
function withRepeats(log: readonly string[]) {
  const last = new Map(log.map((line, index) => [/^run \d+(?=:)/.exec(line)?.[0], index]))
  const isRepeat = (line: string, index: number) => {
    const [, at] = /^disposed (\d+)/.exec(line) ?? []
    return at !== undefined && index > (last.get(`run ${at}`) ?? index)
  }
  const repeats = log.filter(isRepeat)
  return { repeats, others: log.filter((line, index) => !isRepeat(line, index)) }
}

/** Tells whether a module imports itself, through others or not. */
function isInCircle(graph: readonly Module[], at: number): boolean {
  const below = new Set(graph[at]?.imports)
  for (const each of below) for (const next of graph[each]?.imports ?? []) below.add(next)
  return below.has(at)
}

/**
 * Tells whether an edit did the same in both pages. If a module runs again that imports, through others, one that may have
 * passed an earlier edit on, those between run again as well, though with Vite only if it did.
 */
function haveSameLines(
  graph: readonly Module[],
  one: Seen,
  other: Seen,
  above: ReadonlySet<number>,
  isWhole: boolean
): boolean {
  // In a page that was loaded anew, Vite may have two instances of a module.
  const linesOf = ({ log }: Seen) => (one.loads > 1 ? [...new Set(log)] : [...log])
  const { repeats, others } = withRepeats(other.log)
  const rest = linesOf({ ...other, log: others })
  const more = linesOf(one).filter(line => {
    const at = rest.indexOf(line)
    return at < 0 || rest.splice(at, 1).length === 0
  })
  // Here it is the version before.
  const isBefore = (line: string) => {
    const [disposed = '-'] = /^disposed \d+:/.exec(line) ?? []
    return repeats.some(each => each.startsWith(disposed))
  }
  const isAbove = (line: string) => above.has(Number(/^run (\d+):/.exec(line)?.[1]))
  // For a module that accepts itself and has never run, Vite calls nothing: what takes that here runs there as an import.
  const isReplaced = (line: string) => {
    const [, at = ''] = /^(?:disposed )?(\d+)(?:: \d+$| itself| takes)/.exec(line) ?? []
    return !isWhole && lastRun(other).has(at)
  }
  const mayBeMore = (line: string) => isAbove(line) || isReplaced(line) || isBefore(line)
  return rest.length === 0 && more.every(mayBeMore)
}

const RUNS = Number(process.env['GRAPHS'] ?? 16)

/** Several seeds at once have servers of their own, since Vite reloads all pages. */
const SEEDS = (process.env['SEED'] ?? '1').split(',').map(Number)

test.serial('an edit of a module has the same effect on an open page as with Vite', async t => {
  const all = await Promise.allSettled(SEEDS.map(seed => compareGraphs(t, seed)))
  const reasons = all.flatMap(each => (each.status === 'rejected' ? reasonOf(each.reason) : []))
  t.deepEqual(reasons, [])
})

async function compareGraphs(t: ExecutionContext, seed: number): Promise<void> {
  const viteRoot = makeProject(t, { 'index.html': '' })
  const view: Middleware = ({ path, assets, response }, next) => {
    const [, folder] = /^\/(c\d+)\/$/.exec(path) ?? []
    if (folder === undefined) return next()
    response.type = 'html'
    const tags = [0, 1].map(at => assets.javascript(`${folder}/m${at}.js`, { type: 'module' }))
    response.body = `<!doctype html><link rel="icon" href="data:,">${assets.live()}${START}${tags.join('')}`
    return undefined
  }
  const site = await makeSite(t, { 'js/none.js': '' }, { routes: view })
  const { origin } = await startVite(t, viteRoot, {
    server: { watch: { awaitWriteFinish: false } }
  })
  const browser = launch(t)
  let cases = 0
  let inOrder = 0
  let compared = 0
  let unseen = 0
  const faults = new Map<string, number>()

  const compareAll = async (graph: readonly Module[], edits: readonly Edit[]) => {
    const folder = `c${cases++}`
    const loaded = reached(graph)
    const passing = [...graph.keys()].filter(at => graph[at]?.invalidates)
    const above = importing(graph, passing)
    const versions = graph.map(() => 1)
    const write = (at: number, fault: Edit['fault'] = 'none') => {
      const text = textOf(at, graph[at] as Module, versions[at] as number, fault)
      site.write(`js/${folder}/m${at}.js`, text)
      writeFiles(viteRoot, { [join(folder, `m${at}.js`)]: text })
    }
    for (const at of loaded) write(at)
    const scripts = [0, 1].map(at => `<script type="module" src="/${folder}/m${at}.js"></script>`)
    writeFiles(viteRoot, {
      [`${folder}/index.html`]: `<!doctype html><link rel="icon" href="data:,">${START}${scripts.join('')}`
    })
    const [ours, vites] = [
      await browser.open(`http://127.0.0.1:${site.port}/${folder}/`),
      await browser.open(`${origin}/${folder}/index.html`)
    ]
    const all = [...loaded].map(each => `run ${each}: 1`).toSorted()
    const both = () => Promise.all([seenIn(ours), seenIn(vites)])
    const hasAll = ({ log }: Seen) => all.every(each => log.includes(each))
    const isSettled = async () => (await both()).every(hasAll)
    await until(isSettled, `${folder}: everything runs`)
    const tick = () => ours.evaluate('globalThis.koaFreshAssetsHot.tick').catch(() => undefined)
    const isConnected = () =>
      until(async () => (await tick()) !== undefined, `${folder} was told of its state`)
    await isConnected()
    const complaints = () => [ours, vites].map(page => page.complaints.length)
    const each = (expression: string) =>
      Promise.all([ours, vites].map(page => page.evaluate(expression)))
    const edit = (modules: readonly number[], fault: Edit['fault']) => {
      for (const at of modules) (versions[at] as number)++
      for (const at of modules) write(at, fault)
    }
    /** Vite leaves out what is saved within 50 ms of what was saved before. */
    const editAgain = async (modules: readonly number[]) => {
      const last = await tick()
      await untilSettled()
      edit(modules, 'none')
      const isTold = async () => ![last, undefined].includes(await tick())
      await until(isTold, `${folder} is told of another edit`)
    }
    /** Waits a while for what Vite may never do. */
    const look = async (holds: (seen: readonly [Seen, Seen]) => boolean, times = 40) => {
      let seen = await both()
      // What modules load lazily comes later.
      const isThere = async () => {
        const last = JSON.stringify(seen)
        await untilSettled()
        seen = await both()
        return holds(seen) && JSON.stringify(seen) === last
      }
      await until(isThere, `${folder}: the same is seen`, times).catch(() => undefined)
      return seen
    }
    /** Returns false if Vite does not show the edit. */
    const compare = async (modules: readonly number[], fault: Edit['fault'], isNext = false) => {
      const started = await both()
      if (!isNext) await each('globalThis.from = globalThis.log.length')
      if (fault === 'held')
        await each('void (globalThis.gate = new Promise(open => { globalThis.open = open }))')
      const complained = complaints()
      edit(modules, fault)
      if (fault === 'syntax') {
        // What loads it lazily catches the error.
        const noticed = (seen: readonly Seen[]) =>
          complaints().map(
            (count, at) =>
              count > (complained[at] ?? 0) ||
              seen[at]?.loads !== started[at]?.loads ||
              seen[at]?.log.includes('SyntaxError')
          )
        const [one, other] = noticed(await look(seen => noticed(seen).every(Boolean)))
        if (!one) throw new Error(`no complaint: ${JSON.stringify({ graph, modules })}`)
        await isConnected()
        return other === true
      }
      const hasRun = (seen: Seen, page: 0 | 1) =>
        modules.every(at => lastRun(seen).get(String(at)) === String(versions[at])) &&
        isPassedOn(graph, seen, started[page].loads)
      if (fault === 'held') {
        const seen = await look(([one, other]) => hasRun(one, 0) && hasRun(other, 1))
        const isHeld = hasRun(seen[1], 1)
        // Nothing holds it in a page that was loaded anew.
        const isSamePage = seen.every(({ loads }, at) => loads === started[at]?.loads)
        if (isHeld && isSamePage) for (let times = 0; times < 2; times++) await editAgain(modules)
        await each('globalThis.open?.()')
        if (!isHeld) return false
      }
      // Vite replaces one module after the other, and with one that is held the order is left to chance.
      // A module that threw while the page was loaded kept those above it from running, and a browser remembers that for
      // each URL. If a circle is to run then, Vite gives new URLs to a part of it, and may fail again, reload, or do nothing;
      // here all of it gets them, or the page is loaded anew. What counts is that everything runs.
      const isCircle =
        started[0].ran !== loaded.size &&
        [...importing(graph, modules)].some(at => isInCircle(graph, at))
      const isExact = modules.length === 1 && fault !== 'held' && !isNext && !isCircle
      const sorted = ({ log }: Seen) => log.toSorted().join()
      const isSame = ([one, other]: readonly [Seen, Seen]) =>
        hasRun(one, 0) &&
        hasRun(other, 1) &&
        // Of two instances that Vite has in a page that was loaded anew, the one that throws may run first.
        (!isExact ||
          (fault === 'throws' && one.loads !== started[0]?.loads) ||
          haveSameLines(graph, one, other, above, started[0].ran === loaded.size))
      // A page in which a module had failed has run all of them once that is corrected.
      const isWhole = ({ ran }: Seen) => fault !== 'none' || ran === loaded.size
      const seen = await look(seen => isSame(seen) && seen.every(isWhole))
      if (seen[1].log.length > MOST_LINES) return false
      const [one, other] = seen
      const [own = 0, theirs = 0] = seen.map(({ loads }, at) => loads - (started[at]?.loads ?? 0))
      const told = JSON.stringify({ graph, modules, fault, isNext, one, other, own, theirs })
      // Vite does nothing about modules that only import each other, nor about those that an error kept from running.
      if (hasRun(one, 0) && isWhole(one) && !(hasRun(other, 1) && isWhole(other))) return false
      if (!isSame(seen) || (!isWhole(one) && isWhole(other)))
        throw new Error(`not the same: ${told}`)
      // One that is held is edited three times, for which Vite may reload once.
      const most = theirs > 0 && fault === 'held' ? 3 : theirs
      if (!isCircle && (isExact ? own !== theirs : own > most))
        throw new Error(`other reloads: ${told}`)
      if (isExact) {
        compared++
        if (one.log.join() === other.log.join()) inOrder++
      }
      // A module that threw while the page was loaded, and accepts itself, is replaced alone: its importers never ran.
      if (!isWhole(one)) return false
      // What else an edit runs is not left to the next one.
      await look(([one, other]) => sorted(one) === sorted(other), 4)
      await isConnected()
      // Every version that ran is disposed as often, however many edits came while another was being replaced.
      const disposed = (at: number, version: number) =>
        one.log.filter(line => line === `disposed ${at}: ${version}`).length
      const [at = 0] = modules
      if (
        isNext &&
        own === 0 &&
        disposed(at, Number(versions[at]) - 1) > disposed(at, Number(versions[at]) - 4)
      )
        throw new Error(`disposed twice: ${told}`)
      return true
    }
    for (const { modules, fault } of edits) {
      // What imports a module with a fault does not run.
      const edited = modules.filter(at => loaded.has(at)).slice(0, fault === 'none' ? 2 : 1)
      if (edited.length === 0) continue
      faults.set(fault, (faults.get(fault) ?? 0) + 1)
      const isShown =
        (await compare(edited, fault)) &&
        (fault === 'none' || (await compare(edited, 'none', fault === 'held')))
      if (!isShown) {
        unseen++
        break
      }
    }
    // One that is closed may not answer any more.
    for (const page of [ours, vites]) page.command('Page.close').catch(() => undefined)
  }
  const someEdits = fc.array(anEdit, { minLength: 1, maxLength: 4 })
  const holds = fc.asyncProperty(aGraph, someEdits, async (graph, edits) => {
    // What is not seen again came from a moment in which one of the servers was busy.
    await compareAll(graph, edits).catch(async (error: unknown) => {
      t.log(`once more: ${reasonOf(error)}`)
      await compareAll(graph, edits)
    })
  })
  await fc.assert(holds, {
    numRuns: RUNS,
    endOnFailure: true,
    includeErrorInReport: true,
    examples: [[CIRCLE, [{ modules: [2], fault: 'none' }]]],
    seed
  })
  t.log(
    `seed ${seed}: ${RUNS} graphs, ${compared} edits, ${inOrder} of them in the same order; ${unseen} that Vite does not show; ${JSON.stringify([...faults])}`
  )
  t.true(compared > RUNS / 4, `${compared} edits`)
  t.true(cases >= RUNS)
}
