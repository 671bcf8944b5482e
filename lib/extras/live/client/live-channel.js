// The page's end of the live channel.
import { replaceImages } from './live-images.js'
import { showNotes, showProblems } from './live-overlay.js'
import { replaceStylesheets } from './live-stylesheets.js'

/** @typedef {{ key: string, version: string | null, isLate: boolean, path?: string, url?: string }} Part */

const base = new URL('.', import.meta.url)
const prefix = new URL('..', base).pathname

const MAX_USED = 1000
/** Milliseconds. An image that takes long must not keep the page from connecting. */
const LONGEST_LOAD = 2000
/** Milliseconds to wait, so that assets that the page requests late are followed together. */
const GATHERING = 200
/** Milliseconds. */
const RECONNECT = 500

/** The URL paths that the page has requested. @type {Set<string>} */
const used = new Set()
/** The plain path of each path by which an asset was requested. @type {Map<string, string>} */
const keys = new Map()
/** The versions that the page has; null for an asset that was broken then. @type {Map<string, string | null>} */
const versions = new Map()

/** Characters. Servers limit the header of a request: Node to 16 KiB, cookies included. */
let maxLength = 12_000

/** @type {EventSource | undefined} */
let events
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer
let isReloading = false

function connect() {
  clearTimeout(timer)
  if (events || document.hidden || isReloading) return
  // An edit may have come after the page was opened, and before it is connected. By the clock that stamps files.
  const age = versions.size === 0 ? `&age=${Math.round(Date.now() - performance.timeOrigin)}` : ''
  const source = new EventSource(`${base.href}live?use=${listUsed()}${age}`)
  events = source
  source.onmessage = ({ data }) => receive(JSON.parse(data))
  source.onerror = () => {
    if (events !== source) return
    // It may have been too much for a server with a lower limit, or with longer cookies.
    if (source.readyState === EventSource.CLOSED) maxLength = Math.max(1000, maxLength / 2)
    // By itself it would connect again with the age, and the list, of its first try.
    disconnect()
    timer = setTimeout(connect, RECONNECT)
  }
}

/** In lines; those below the prefix are relative to it. */
function listUsed() {
  let list = ''
  for (const path of new Set([...usedByElements(), ...used])) {
    const short = path.startsWith(prefix) ? path.slice(prefix.length) : path
    const line = encodeURIComponent(`${short}\n`).replace(/%2F/g, '/')
    if (list.length + line.length < maxLength) list += line
  }
  return list
}

/** HTTP/1.1 has six connections for all tabs: one that nobody sees has none. */
function disconnect() {
  clearTimeout(timer)
  if (events) events.close()
  events = undefined
}

/** @param {{ parts: Part[], problems: import('./live-overlay.js').LinkedReport[], notes: string[] }} state */
function receive({ parts, problems, notes }) {
  showProblems(problems)
  showNotes(notes)
  // Not some(): each one that can be replaced is.
  const rest = parts.filter(isChanged).filter(part => !replace(part))
  if (rest.length === 0) return
  isReloading = true
  disconnect()
  location.reload()
}

/** @param {Part} part */
function isChanged({ key, version, isLate, path }) {
  const had = versions.get(key)
  if (path) keys.set(path, key)
  // While it is broken, the page keeps what it has.
  if (version !== null || had === undefined) versions.set(key, version)
  if (version === null) return false
  return had === undefined ? isLate : had !== version
}

/** @param {Part} part @returns {boolean} false for what only a reload shows */
function replace({ key, version, url }) {
  if (!url) return false
  const next = new URL(url, location.href)
  keys.set(next.pathname, key)
  next.searchParams.set('live', String(version).replace(/\W/g, '').slice(0, 12))
  /** @param {string} other */
  const isSame = other => keys.get(pathOf(other) || '') === key
  if (/\.css$/i.test(key)) return replaceStylesheets(key, isSame, next)
  return /\.(?:avif|gif|ico|jpe?g|png|svg|webp)$/i.test(key) && replaceImages(key, isSame, next)
}

/** @param {string} url @returns {string | undefined} only for URLs of this site */
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

/** Modules that modules import, images and fonts of stylesheets, and what is loaded later. @type {import('./live.js').Follow} */
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

/** @type {import('./live.js').Follow} receives what was loaded before */
export function begin(entries) {
  follow(entries)
  document.addEventListener('visibilitychange', () => (document.hidden ? disconnect() : connect()))
  // A page that has a connection is not kept for the back button.
  addEventListener('pagehide', disconnect)
  addEventListener('pageshow', ({ persisted }) => persisted && connect())
  if (document.readyState === 'complete') return connect()
  addEventListener('load', connect, { once: true })
  timer = setTimeout(connect, LONGEST_LOAD)
}
