// Connects the page to the live channel, and applies its news.
import { showNotes, showProblems } from './live-overlay.js'
import { replaceStylesheets } from './live-stylesheets.js'

/** @typedef {{ key: string, version: string | null, isLate: boolean, path?: string, url?: string }} Part */
/** @typedef {import('./live-overlay.js').LinkedReport} LinkedReport */
/**
 * Replaces modules, if that extra exists.
 * @typedef {{ tick?: number, problems: LinkedReport[], take: (news: object, parts: Part[], page: object) => Part[],
 *   notify: (event: string, payload: object) => Promise<void> }} Hot
 */

/** @returns {Hot | undefined} */
const hotOf = () => Reflect.get(globalThis, 'koaFreshAssetsHot')

const base = new URL('.', import.meta.url)
const prefix = new URL('..', base).pathname

const MAX_USED = 1000
/** An image that takes longer, in milliseconds, must not keep the page from connecting. */
const LONGEST_LOAD = 2000
/** Assets that the page requests within this many milliseconds are followed together. */
const GATHERING = 200
/** Milliseconds before the page connects again. */
const RECONNECT = 500
/** The key of the part whose version a restart of the server changes. */
const INSTANCE = 'instance'

/** The URL paths that the page has requested. @type {Set<string>} */
const used = new Set()
/** Maps each path by which an asset was requested to its plain path. @type {Map<string, string>} */
const keys = new Map()
/** The versions that the page has; null for an asset that was broken. @type {Map<string, string | null>} */
const versions = new Map()

/** The characters of paths in a request: servers limit the header, Node to 16 KiB, cookies included. */
let maxLength = 12_000

/** @type {EventSource | undefined} */
let events
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer
let isReloading = false

function connect() {
  clearTimeout(timer)
  if (events || document.hidden || isReloading) return
  // An edit may come before the page connects. The server compares ages by the clock that stamps files.
  const age = versions.size === 0 ? `&age=${Math.round(Date.now() - performance.timeOrigin)}` : ''
  const { tick } = hotOf() || {}
  const since = age || tick === undefined ? '' : `&tick=${tick}`
  const source = new EventSource(`${base.href}live?use=${listUsed()}${age}${since}`)
  events = source
  source.onmessage = ({ data }) => receive(JSON.parse(data))
  source.onerror = () => {
    if (events !== source) return
    // The request may have been too long for a server with a lower limit, or with longer cookies.
    if (source.readyState === EventSource.CLOSED) maxLength = Math.max(1000, maxLength / 2)
    // EventSource would reconnect with the age and the list of its first try.
    disconnect()
    timer = setTimeout(connect, RECONNECT)
  }
}

/** Lists one path on each line, those below the prefix relative to it. */
function listUsed() {
  let list = ''
  for (const path of new Set([...usedByElements(), ...used])) {
    const short = path.startsWith(prefix) ? path.slice(prefix.length) : path
    const line = encodeURIComponent(`${short}\n`).replace(/%2F/g, '/')
    if (list.length + line.length < maxLength) list += line
  }
  return list
}

/** All tabs share six connections over HTTP/1.1, so a hidden page closes its own. */
function disconnect() {
  clearTimeout(timer)
  if (events) events.close()
  events = undefined
}

/** @type {LinkedReport[]} */
let told = []

function show() {
  const { problems = [] } = hotOf() || {}
  showProblems([...told, ...problems])
}

/** @param {{ parts: Part[], problems: LinkedReport[], notes: string[], hot?: object }} state */
function receive({ parts, problems, notes, hot: news }) {
  told = problems
  show()
  showNotes(notes)
  // All replaceable parts are replaced; some() would stop too early.
  const rest = parts.filter(isChanged).filter(part => !replace(part))
  const hot = hotOf()
  if (hot && problems.length > 0) void hot.notify('error', { type: 'error', err: problems[0] })
  const left = hot && news ? hot.take(news, rest, { isLoaded, reload, show }) : rest
  if (left.length === 0) return
  if (left.every(({ key }) => key === INSTANCE)) void reloadIfOther()
  else void reload()
}

async function reload() {
  if (isReloading) return
  isReloading = true
  disconnect()
  const hot = hotOf()
  if (hot) await hot.notify('beforeFullReload', { type: 'full-reload' })
  location.reload()
}

/** Reloads if a restarted server sends another page; otherwise typed text stays. */
async function reloadIfOther() {
  try {
    if (!(await isSamePage())) void reload()
  } catch (error) {
    console.debug('the server does not respond yet', error)
    // The next message asks again.
    versions.set(INSTANCE, null)
  }
}

/**
 * Requests the page at this URL, which scripts may have changed, and compares its digest with that of the loaded one.
 * It is false for a page without a digest, such as the response to a form or a stream. @returns {Promise<boolean>}
 */
async function isSamePage() {
  const [page] = performance.getEntriesByType('navigation')
  const timings = page ? /** @type {PerformanceNavigationTiming} */ (page).serverTiming : undefined
  const timing = timings && timings.find(({ name }) => name === 'page')
  if (!timing) return false
  /** @type {RequestInit} */
  const asDocument = { cache: 'no-store', headers: { Accept: 'text/html,*/*;q=0.8' } }
  const response = await fetch(location.href, asDocument)
  // An unread text would keep its connection.
  await response.text()
  return (response.headers.get('Server-Timing') || '').includes(`page;desc="${timing.description}"`)
}

/** Tells whether a path is loaded; with too many to remember, any may be. @param {string} path decoded */
function isLoaded(path) {
  const all = [...keys.keys(), ...used, ...usedByElements()]
  return used.size >= MAX_USED || all.some(each => decodeURIComponent(each) === path)
}

/** @param {Part} part */
function isChanged({ key, version, isLate, path }) {
  const had = versions.get(key)
  if (path) keys.set(path, key)
  // A broken asset leaves the page unchanged.
  if (version !== null || had === undefined) versions.set(key, version)
  if (version === null) return false
  return had === undefined ? isLate : had !== version
}

/** @param {Part} part @returns {boolean} false if only a reload shows the change */
function replace({ key, version, url }) {
  if (!url || !/\.css$/i.test(key)) return false
  const next = new URL(url, location.href)
  keys.set(next.pathname, key)
  next.searchParams.set('live', String(version).replace(/\W/g, '').slice(0, 12))
  const isSame = (/** @type {string} */ other) => keys.get(pathOf(other) || '') === key
  // A restarting server may be gone when the stylesheet is requested; the next connection tells of it again.
  return replaceStylesheets(key, isSame, next.href, () => versions.set(key, null))
}

/** @param {string} url @returns {string | undefined} a path for a URL of this site */
function pathOf(url) {
  const { origin, pathname } = new URL(url, document.baseURI)
  return origin === location.origin ? pathname : undefined
}

function usedByElements() {
  const selector = 'link[rel~="stylesheet" i], link[rel~="icon" i], script[src], img[src]'
  const elements = [...document.querySelectorAll(selector)]
  const urls = elements.map(each => String(Reflect.get(each, 'href') || Reflect.get(each, 'src')))
  return urls.map(pathOf).filter(isFollowed)
}

/** @param {string | undefined} path @returns {path is string} */
function isFollowed(path) {
  return path !== undefined && !path.startsWith(base.pathname)
}

/** Follows what modules and stylesheets load, also later. @type {import('./live.js').Follow} */
export function follow(entries) {
  const before = used.size
  for (const { name, initiatorType } of entries) {
    const path = pathOf(name)
    if (!isFollowed(path) || keys.has(path) || used.size >= MAX_USED) continue
    const isData = /^(?:fetch|xmlhttprequest|beacon|iframe)$/.test(initiatorType)
    if (!isData || path.startsWith(prefix)) used.add(path)
  }
  if (used.size === before || !events) return
  disconnect()
  timer = setTimeout(connect, GATHERING)
}

/** Follows what was loaded before, and connects. @type {import('./live.js').Follow} */
export function begin(entries) {
  follow(entries)
  document.addEventListener('visibilitychange', () => (document.hidden ? disconnect() : connect()))
  // A browser does not keep a page with a connection for the back button.
  addEventListener('pagehide', disconnect)
  addEventListener('pageshow', ({ persisted }) => persisted && connect())
  if (document.readyState === 'complete') return connect()
  addEventListener('load', connect, { once: true })
  timer = setTimeout(connect, LONGEST_LOAD)
}
