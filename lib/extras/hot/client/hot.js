// Makes `import.meta.hot` of each module, and replaces edited modules in the page. The rules and their order are Vite's.

/**
 * Paths are decoded.
 * @typedef {{ importers: string[], accepted: string[], acceptsItself: boolean, tick: number, isInvalidated?: boolean }} Module
 * @typedef {{ tick: number, edited?: string[], pruned?: string[], modules?: Record<string, Module> }} News
 * @typedef {{ title: string, location: string, reason: string, excerpt: string }} Problem
 * @typedef {{ isLoaded: (path: string) => boolean, reload: () => unknown, show: () => void }} LivePage
 * @typedef {{ deps: string[], run: (modules: unknown[]) => void }} Callback
 * @typedef {(data: any) => unknown} Listener
 * @typedef {{ url: string, tick: number, callbacks: Callback[],
 *   dispose?: Listener, replaced?: Listener, prune?: Listener, listeners: [string, Listener][], context: HotModule }} Entry
 * @typedef {{ type: string, path: string, acceptedPath: string, timestamp: number, isWithinCircularImport: boolean }} Update
 * @typedef {[string, ...string[]]} Way
 */

/** @type {Map<string, Entry>} */
const entries = new Map()
/** @type {Map<string, Module>} */
const graph = new Map()
/** Updates run one after the other. @type {Promise<unknown>} */
let queue = Promise.resolve()
/** The modules that have passed the update on, in order, while callbacks run. @type {string[]} */
let passedOnBy = []
/** @type {LivePage} */
let page = { isLoaded: () => false, reload: () => location.reload(), show() {} }

/** @type {(url: string, base?: string) => string} */
const pathOf = (url, base = location.href) => decodeURIComponent(new URL(url, base).pathname)

/** Returns the context of a module. A new version begins without callbacks. @param {string} url */
function contextOf(url) {
  const path = pathOf(url)
  const tick = Number(new URL(url).searchParams.get('t'))
  const entry = entries.get(path) || makeEntry(path)
  const replaced = entry.dispose
  if (tick > entry.tick) Object.assign(entry, { url, tick, callbacks: [], listeners: [], replaced })
  return entry.context
}

const nameOf = (/** @type {string} */ event) => event.replace('vite:', '')

/** @param {string} path @returns {Entry} */
function makeEntry(path) {
  const nothing = () => undefined
  /** @type {HotModule} */
  const context = {
    data: {},
    accept(/** @type {any} */ given, /** @type {any} */ callback = nothing) {
      const isOwn = !given || typeof given === 'function'
      const run = isOwn ? given || nothing : callback
      const deps = [isOwn ? entry.url : given].flat().map(each => pathOf(each, entry.url))
      entry.callbacks.push({ deps, run: Array.isArray(given) ? run : ([next]) => run(next) })
    },
    dispose: listener => (entry.dispose = listener),
    prune: listener => (entry.prune = listener),
    invalidate(message) {
      const by = [...passedOnBy, path]
      console.debug(`${path} was invalidated${message ? `: ${message}` : ''}`)
      enqueue(() => passOn(path, message, by))
    },
    on: (event, listener) => entry.listeners.push([nameOf(event), listener]),
    off: (event, listener) =>
      (entry.listeners = entry.listeners.filter(
        ([name, each]) => name !== nameOf(event) || each !== listener
      ))
  }
  // Some libraries call these.
  Object.assign(context, { acceptExports: nothing, decline: nothing, send: nothing })
  /** @type {Entry} */
  const entry = { url: '', tick: -1, callbacks: [], listeners: [], context }
  entries.set(path, entry)
  return entry
}

/** @type {(path: string, message: string | undefined, by: string[]) => Promise<unknown>} */
async function passOn(path, message, by) {
  const module = graph.get(path)
  // Only a module that has replaced itself may do so, and once until it runs again, as in Vite.
  if (!module?.tick || !module.acceptsItself || module.isInvalidated) return undefined
  module.isInvalidated = true
  await notify('invalidate', { path, message, firstInvalidatedBy: by[0] })
  const importers = othersAbove(path)
  return importers.length > 0 ? update(importers, by) : page.reload()
}

/** @param {string} event @param {object} payload */
async function notify(event, payload) {
  const all = [...entries.values()].flatMap(({ listeners }) => listeners)
  const calls = all.filter(([name]) => name === event).map(async each => each[1](payload))
  await Promise.all(calls.map(call => call.catch(error => report(event, error))))
}

/** @param {() => unknown} work */
function enqueue(work) {
  queue = queue.then(work).catch(error => report('import.meta.hot', error))
}

/** @param {string} location @param {unknown} error */
function report(location, error) {
  console.error(error)
  const { stack = '' } = /** @type {Error} */ (error || {})
  // The stack does not begin with the message in Firefox.
  const reason = stack.includes(String(error)) ? stack : `${String(error)}\n${stack}`
  const title = 'A module that was edited has failed'
  hot.problems = [...hot.problems, { title, location, reason, excerpt: '' }]
  page.show()
}

/**
 * Applies news from the server. Returns the parts of the page that need a reload.
 * @template {{ url?: string }} Part
 * @param {News} news @param {Part[]} parts @param {LivePage} livePage
 * @returns {Part[]}
 */
function take({ tick, edited = [], pruned = [], modules = {} }, parts, livePage) {
  page = livePage
  hot.tick = tick
  for (const [path, module] of Object.entries(modules)) graph.set(path, module)
  const isModule = (/** @type {string} */ path) =>
    !/\.css$/i.test(path) || importersOf(path).length > 0
  const ours = edited.filter(path => page.isLoaded(path) && isModule(path))
  const left = parts.filter(({ url }) => !url || !ours.includes(pathOf(url)))
  if (left.length > 0) return left
  if (ours.length > 0) enqueue(() => update(ours))
  if (pruned.length > 0) enqueue(() => prune(pruned))
  return []
}

/** @type {(edited: string[], by?: string[]) => Promise<unknown>} */
async function update(edited, by = []) {
  /** @type {Map<string, Update>} */
  const all = new Map()
  for (const path of edited) {
    /** @type {Update[]} */
    const found = []
    // Modules that only import each other accept nothing; there Vite leaves the page unchanged.
    const isLost = isDeadEnd([path], new Set(), found) || found.length === 0
    // A cycle of modules that pass the update on can run for ever in Vite.
    if (isLost || found.some(each => by.includes(each.acceptedPath))) return page.reload()
    for (const each of found) all.set(`${each.path}\n${each.acceptedPath}`, each)
  }
  for (const path of allAbove(edited)) delete graph.get(path)?.isInvalidated
  hot.problems = []
  page.show()
  const payload = { type: 'update', updates: [...all.values()] }
  await notify('beforeUpdate', payload)
  const calls = (await Promise.all(payload.updates.map(each => load(each, by)))).flat()
  passedOnBy = by
  for (const call of calls) call()
  passedOnBy = []
  return notify('afterUpdate', payload)
}

/** Returns the importers that the page has loaded; a module may import itself. @param {string} path */
const importersOf = path => (graph.get(path)?.importers ?? []).filter(page.isLoaded)

/** @param {string} path */
const othersAbove = path => importersOf(path).filter(each => each !== path)

/** @type {(way: Way, seen: Set<string>, found: Update[]) => boolean} true if a way up to the page has nothing that takes an edit */
function isDeadEnd(way, seen, found) {
  const [acceptedPath] = way
  if (seen.has(acceptedPath)) return false
  seen.add(acceptedPath)
  const { tick: timestamp = 0, acceptsItself = false } = graph.get(acceptedPath) || {}
  const isOwn = acceptsItself && entries.has(acceptedPath)
  const importers = importersOf(acceptedPath)
  const ways = isOwn ? [way] : importers.map(each => /** @type {Way} */ ([each, ...way]))
  const isLost = (/** @type {Way} */ way) => {
    const [path] = way
    const isTaken = isOwn || graph.get(path)?.accepted.includes(acceptedPath)
    if (!isTaken) return isDeadEnd(way, seen, found)
    const above = allAbove(othersAbove(path))
    const isWithinCircularImport = way.some(each => above.has(each))
    // An error kept the module from running, and browsers remember that for its URL: another way may run it, but not if
    // it imports that URL again.
    if (!entries.has(path)) return isWithinCircularImport
    found.push({ type: 'js-update', path, acceptedPath, timestamp, isWithinCircularImport })
    return false
  }
  return ways.length === 0 || ways.some(isLost)
}

/** Returns the modules and all that import them, directly or not. @param {string[]} paths */
function allAbove(paths) {
  const above = new Set(paths)
  for (const each of above) for (const other of othersAbove(each)) above.add(other)
  return above
}

/** Runs the new version, and returns calls of the callbacks for it. @param {Update} update @param {string[]} by */
async function load({ path, acceptedPath, timestamp, isWithinCircularImport }, by) {
  const entry = /** @type {Entry} */ (entries.get(path))
  const callbacks = entry.callbacks.filter(({ deps }) => deps.includes(acceptedPath))
  if (path !== acceptedPath && callbacks.length === 0) return []
  const url = new URL(`?t=${timestamp}`, entry.url)
  url.pathname = acceptedPath.replace(/%/g, '%25')
  const old = entries.get(acceptedPath)
  const isThere = old && old.tick === timestamp
  // The first of several waiting edits has loaded the last version. One that is passed on must still be handed over.
  if (isThere && by.length === 0) return []
  /** @type {unknown} */
  let next
  try {
    // A module that has already run as an import of another has not disposed of its previous version.
    await old?.[isThere ? 'replaced' : 'dispose']?.(old.context.data)
    next = await import(url.href).finally(() => delete old?.replaced)
  } catch (error) {
    // The order in which a cycle first ran cannot be repeated.
    if (isWithinCircularImport) page.reload()
    else report(acceptedPath, error)
  }
  return callbacks.map(({ deps, run }) => () => {
    try {
      run(deps.map(dep => (dep === acceptedPath ? next : undefined)))
    } catch (error) {
      report(path, error)
    }
  })
}

/** Notifies modules that nothing imports any more. @param {string[]} paths */
async function prune(paths) {
  await notify('beforePrune', { type: 'prune', paths })
  const gone = paths.flatMap(path => entries.get(path) || [])
  await Promise.all(gone.map(({ dispose, context }) => dispose?.(context.data)))
  await Promise.all(gone.map(({ prune, context }) => prune?.(context.data)))
  for (const { context } of gone) Object.assign(context, { data: {} })
}

const hot = Object.assign(contextOf, {
  /** The tick of the latest edit that the page knows. @type {number | undefined} */
  tick: undefined,
  /** Problems that the overlay also shows. @type {Problem[]} */
  problems: [],
  take,
  notify
})
Reflect.set(globalThis, 'koaFreshAssetsHot', hot)
