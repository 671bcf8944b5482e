// Makes `import.meta.hot` of each module, and replaces edited modules in the page. The rules and their order are Vite's.

/**
 * Paths are decoded. A boundary takes an edit by itself, or through the import that it accepts.
 * @typedef {{ importers: string[], accepted: string[], acceptsItself: boolean, tick: number, isInvalidated?: boolean }} Module
 * @typedef {{ tick: number, edited?: string[], pruned?: string[], modules?: Record<string, Module> }} News
 * @typedef {{ title: string, location: string, reason: string, excerpt: string }} Problem
 * @typedef {{ isLoaded: (path: string) => boolean, reload: () => unknown, show: () => void }} LivePage
 * @typedef {{ deps: string[], run: (modules: unknown[]) => void }} Callback
 * @typedef {(data: any) => unknown} Listener
 * @typedef {{ path: string, url: string, tick: number, urls: Map<string, string>, callbacks: Callback[], data: object,
 *   dispose?: Listener, prune?: Listener, listeners: [event: string, listener: Listener][], context: HotModule }} Entry
 * @typedef {{ path: string, accepted: string, isCircular: boolean }} Boundary
 */

/** @type {Map<string, Entry>} */
const entries = new Map()
/** @type {Map<string, Module>} */
const graph = new Map()
/** Updates follow each other. @type {Promise<unknown>} */
let queue = Promise.resolve()
/** The first module of those that pass an update on to their importers, while callbacks run. @type {string | undefined} */
let passedOnBy
/** @type {LivePage} */
let page = { isLoaded: () => false, reload: () => location.reload(), show() {} }

/** @param {string} url */
function pathOf(url) {
  return decodeURIComponent(new URL(url, location.href).pathname)
}

/** Returns the context of a module. A new version of it begins without callbacks. @param {string} url */
function contextOf(url) {
  const path = pathOf(url)
  const tick = Number(new URL(url).searchParams.get('t'))
  const known = entries.get(path)
  if (known && tick <= known.tick) return known.context
  const entry = known || makeEntry(path)
  Object.assign(entry, { url, tick, urls: new Map(), callbacks: [], listeners: [] })
  entries.set(path, entry)
  return entry.context
}

/** @param {string} path @returns {Entry} */
function makeEntry(path) {
  /** @param {string[]} urls @param {Callback['run']} run */
  const take = (urls, run) => {
    for (const url of urls) entry.urls.set(pathOf(url), url)
    entry.callbacks.push({ deps: urls.map(pathOf), run })
  }
  const absolute = (/** @type {string} */ url) => new URL(url, entry.url).href
  const nothing = () => undefined
  /** @type {HotModule} */
  const context = {
    get data() {
      return entry.data
    },
    accept(/** @type {any} */ given, /** @type {any} */ callback = given || nothing) {
      if (!given || typeof given === 'function') take([entry.url], ([next]) => callback(next))
      else if (Array.isArray(given)) take(given.map(absolute), callback)
      else take([absolute(given)], ([next]) => callback(next))
    },
    dispose: listener => (entry.dispose = listener),
    prune: listener => (entry.prune = listener),
    invalidate(message) {
      const first = passedOnBy || path
      console.debug(`${path} was invalidated${message ? `: ${message}` : ''}`)
      enqueue(() => passOn(path, message, first))
    },
    on: (event, listener) => entry.listeners.push([event.replace('vite:', ''), listener]),
    off(event, listener) {
      const isOther = (/** @type {string} */ name) => name !== event.replace('vite:', '')
      entry.listeners = entry.listeners.filter(each => isOther(each[0]) || each[1] !== listener)
    }
  }
  // Libraries call these.
  Object.assign(context, { acceptExports: nothing, decline: nothing, send: nothing })
  const lists = { callbacks: [], listeners: [], urls: new Map() }
  /** @type {Entry} */
  const entry = { path, url: '', tick: 0, ...lists, data: {}, context }
  return entry
}

/** @type {(path: string, message: string | undefined, first: string) => Promise<unknown>} */
async function passOn(path, message, first) {
  const module = graph.get(path)
  // Vite does so for a module that has replaced itself, and once for each edit.
  if (!module || !module.tick || !module.acceptsItself || module.isInvalidated) return undefined
  module.isInvalidated = true
  await notify('invalidate', { path, message, firstInvalidatedBy: first })
  const importers = module.importers.filter(each => each !== path && page.isLoaded(each))
  return importers.length > 0 ? update(importers, first) : page.reload()
}

/** @param {string} event @param {object} payload */
async function notify(event, payload) {
  const all = [...entries.values()].flatMap(({ listeners }) => listeners)
  const calls = all.filter(([name]) => name === event).map(async each => each[1](payload))
  for (const call of await Promise.allSettled(calls))
    if (call.status === 'rejected') report(event, call.reason)
}

/** @param {() => unknown} work */
function enqueue(work) {
  queue = queue.then(work).catch(error => report('import.meta.hot', error))
}

/** @param {string} location @param {unknown} error */
function report(location, error) {
  console.error(error)
  const { stack = '' } = /** @type {Error} */ (error || {})
  // In Firefox it does not begin with the message.
  const reason = stack.includes(String(error)) ? stack : `${String(error)}\n${stack}`
  const title = 'A module that was edited has failed'
  hot.problems = [...hot.problems, { title, location, reason, excerpt: '' }]
  page.show()
}

/**
 * Takes what the server tells. Returns the parts of the page that only a reload shows.
 * @template {{ url?: string }} Part
 * @param {News} news @param {Part[]} parts @param {LivePage} livePage
 * @returns {Part[]}
 */
function take({ tick, edited = [], pruned = [], modules = {} }, parts, livePage) {
  page = livePage
  hot.tick = tick
  for (const [path, module] of Object.entries(modules)) graph.set(path, module)
  const isImported = (/** @type {string} */ path) =>
    !/\.css$/i.test(path) || (graph.get(path) || { importers: [] }).importers.some(page.isLoaded)
  const ours = edited.filter(path => page.isLoaded(path) && isImported(path))
  const left = parts.filter(({ url }) => !url || !ours.includes(pathOf(url)))
  if (left.length > 0) return left
  if (ours.length > 0) enqueue(() => update(ours))
  if (pruned.length > 0) enqueue(() => prune(pruned))
  return []
}

/** @type {(edited: string[], first?: string) => Promise<unknown>} @param first the module that passed it on */
async function update(edited, first) {
  /** @type {Boundary[]} */
  const boundaries = []
  for (const path of edited) {
    /** @type {Boundary[]} */
    const found = []
    // Modules that only import each other accept nothing; Vite leaves the page as it was.
    const isLost = isDeadEnd(path, [path], new Set(), found) || found.length === 0
    if (isLost || found.some(each => each.accepted === first)) return page.reload()
    const isKnown = (/** @type {Boundary} */ one) =>
      boundaries.some(other => other.path === one.path && other.accepted === one.accepted)
    boundaries.push(...found.filter(each => !isKnown(each)))
  }
  hot.problems = []
  page.show()
  const updates = boundaries.map(({ path, accepted }) => {
    const { tick = 0 } = graph.get(accepted) || {}
    return { type: 'js-update', path, acceptedPath: accepted, timestamp: tick }
  })
  await notify('beforeUpdate', { type: 'update', updates })
  const loaded = await Promise.all(boundaries.map(each => load(each, first)))
  passedOnBy = first
  for (const apply of loaded) if (apply) apply()
  passedOnBy = undefined
  return notify('afterUpdate', { type: 'update', updates })
}

/** @type {(path: string, way: string[], seen: Set<string>, found: Boundary[]) => boolean} */
function isDeadEnd(path, way, seen, found) {
  if (seen.has(path)) return false
  seen.add(path)
  const module = graph.get(path)
  if (!module) return true
  if (module.acceptsItself && entries.has(path)) {
    found.push({ path, accepted: path, isCircular: isInCycle(path, way, [path], new Set()) })
    return false
  }
  const importers = module.importers.filter(page.isLoaded)
  if (importers.length === 0) return true
  for (const importer of importers) {
    const longer = [...way, importer]
    const { accepted = [] } = graph.get(importer) || {}
    if (accepted.includes(path) && entries.has(importer)) {
      const isCircular = isInCycle(importer, longer, [importer], new Set())
      found.push({ path: importer, accepted: path, isCircular })
    } else if (!way.includes(importer) && isDeadEnd(importer, longer, seen, found)) return true
  }
  return false
}

/** @type {(path: string, way: string[], from: string[], seen: Set<string>) => boolean} */
function isInCycle(path, way, from, seen) {
  if (seen.has(path)) return false
  seen.add(path)
  const { importers = [] } = graph.get(path) || {}
  return importers.some(importer => {
    if (importer === path) return false
    if (way.includes(importer)) return true
    return !from.includes(importer) && isInCycle(importer, way, [...from, importer], seen)
  })
}

/** Runs the new version, and returns what tells the module that accepts it. @param {Boundary} boundary @param {string} [first] */
async function load({ path, accepted, isCircular }, first) {
  const entry = /** @type {Entry} */ (entries.get(path))
  const callbacks = entry.callbacks.filter(({ deps }) => deps.includes(accepted))
  if (path !== accepted && callbacks.length === 0) return undefined
  const url = new URL(entry.urls.get(accepted) || '', entry.url)
  const { tick = 0 } = graph.get(accepted) || {}
  const old = entries.get(accepted)
  const isThere = old && old.tick === tick
  // Of edits that came while an update was waited for, the first to be shown loads the last version. One that is passed
  // on is handed over, though another module may have imported it already.
  if (isThere && first === undefined) return undefined
  url.search = `t=${tick}`
  /** @type {unknown} */
  let next
  try {
    if (old && old.dispose && !isThere) await old.dispose(old.data)
    next = await import(url.href)
  } catch (error) {
    // The order in which a cycle runs first cannot be had again.
    if (isCircular) page.reload()
    else report(accepted, error)
  }
  return () => {
    for (const { deps, run } of callbacks) {
      try {
        run(deps.map(dep => (dep === accepted ? next : undefined)))
      } catch (error) {
        report(path, error)
      }
    }
  }
}

/** Tells modules that nothing imports any more. @param {string[]} paths */
async function prune(paths) {
  await notify('beforePrune', { type: 'prune', paths })
  const gone = paths.flatMap(path => entries.get(path) || [])
  await Promise.all(gone.map(({ dispose, data }) => dispose && dispose(data)))
  await Promise.all(gone.map(each => each.prune && each.prune(each.data)))
  for (const each of gone) each.data = {}
}

const hot = Object.assign(contextOf, {
  /** The tick of the latest edit that the page was told of. @type {number | undefined} */
  tick: undefined,
  /** The overlay shows these as well. @type {Problem[]} */
  problems: [],
  take,
  notify
})
Reflect.set(globalThis, 'koaFreshAssetsHot', hot)
