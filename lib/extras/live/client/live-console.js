// Sends errors of the page to the server's terminal. With `live: { console: false }` this is an empty file.

/** The number of different texts that a page sends until it is reloaded, and their length in characters. */
const [MAX_TEXTS, MAX_LENGTH] = [100, 4000]
/** The number of times that each text has come. @type {Map<string, number>} */
const counts = new Map()

/** Sends a text when it comes for the first, 10th, 100th and 1000th time. @param {string} text */
function tell(text) {
  const count = (counts.get(text) || 0) + 1
  if (count === 1 && counts.size >= MAX_TEXTS) return
  counts.set(text, count)
  if (!/^10*$/.test(String(count))) return
  const times = count > 1 ? ` (${count} times by now)` : ''
  const body = `in the page ${location.pathname}${times}: ${text.slice(0, MAX_LENGTH)}`
  const url = new URL('live', import.meta.url).href
  fetch(url, { method: 'POST', body, keepalive: true }).catch(error => console.debug(url, error))
}

/** @type {(text: string, file: string | null, line: number | null, column: number | null) => void} */
const tellAt = (text, file, line, column) =>
  tell(file ? `${text}\n    at ${file}:${line}:${column}` : text)

/** @param {unknown} value */
function shown(value) {
  // oxlint-disable-next-line typescript/no-base-to-string -- it is not an object
  if (typeof value !== 'object') return String(value)
  if (!(value instanceof Error)) return asJson(value)
  // Only Chromium begins the stack with the message.
  const { name, message, stack = '' } = value
  return stack.includes(message) ? stack : `${name}: ${message}\n${stack}`
}

/** `String` throws for an object without a prototype. @param {object | null} value */
function asJson(value) {
  try {
    return JSON.stringify([value]).slice(1, -1)
  } catch (error) {
    return `${Object.prototype.toString.call(value)}, which is not JSON: ${String(error)}`
  }
}

addEventListener('error', ({ error, message, filename, lineno, colno }) => {
  // A script that cannot be parsed has a place, but no stack.
  if (error instanceof Error && /:\d+:\d/.test(error.stack || '')) tell(`Uncaught ${shown(error)}`)
  else tellAt(message, filename, lineno, colno)
})
addEventListener('unhandledrejection', ({ reason }) =>
  tell(`Unhandled rejection: ${shown(reason)}`)
)

const { error: original } = console
/** @param {unknown[]} values */
console.error = (...values) => {
  original.apply(console, values)
  const [first = '', ...rest] = values.map(shown)
  const text = first.replace(/%[sdifoOc]/g, mark =>
    mark === '%c' && rest.shift() ? '' : rest.shift() || ''
  )
  const isPlace = (/** @type {string} */ line) =>
    /:\d+:\d+\)?$/.test(line) && !line.includes(import.meta.url)
  const caller = String(new Error('from').stack).split('\n').find(isPlace)
  const place = values.some(each => each instanceof Error) ? '' : `\n    ${(caller || '').trim()}`
  tell(`console.error: ${[text, ...rest].join(' ')}${place}`)
}

/** @typedef {{ effectiveDirective: string, sourceFile: string | null, lineNumber: number | null, columnNumber: number | null }} Violation */

/** @param {Violation} violation @param {string | null} blocked */
function tellViolation({ effectiveDirective, sourceFile, lineNumber, columnNumber }, blocked) {
  const text = `Content-Security-Policy: ${effectiveDirective} does not allow ${blocked}`
  tellAt(text, sourceFile, lineNumber, columnNumber)
}

addEventListener('securitypolicyviolation', event => tellViolation(event, event.blockedURI))
// Chromium also reports what was refused before this script ran.
if (typeof ReportingObserver === 'function') {
  const early = new ReportingObserver(() => undefined, { types: ['csp-violation'], buffered: true })
  early.observe()
  for (const { body } of /** @type {any[]} */ (early.takeRecords()))
    tellViolation(body, body.blockedURL)
  early.disconnect()
}
