// Shows problems in front of the page, and notes in its corner, out of reach of the page's styles.

/** @typedef {{ title: string, location: string, reason: string, excerpt: string, link?: string }} LinkedReport */

/** The styles are keyed by class or element name. @type {Readonly<Record<string, string>>} */
const STYLES = {
  'koa-fresh-assets-problems': 'all: initial; color-scheme: light dark',
  'koa-fresh-assets-notes': 'all: initial; color-scheme: light dark',
  notes:
    'position: fixed; inset: auto auto 0 0; z-index: 2147483646; padding: .25rem .5rem; border-top: .125rem solid #d90; background: Canvas; color: CanvasText; font: 13px/1.5 system-ui, sans-serif',
  backdrop:
    'position: fixed; inset: 0; z-index: 2147483647; overflow: auto; padding: 4vmin; background: rgb(0 0 0 / 60%)',
  panel:
    'max-width: 60rem; margin: 0 auto; padding: 1.5rem; border-top: .25rem solid #d33; background: Canvas; color: CanvasText; font: 16px/1.5 system-ui, sans-serif',
  h1: 'margin: 0; font-size: 1.125rem',
  p: 'overflow-wrap: anywhere; white-space: pre-wrap',
  pre: 'padding: .75rem 1rem; overflow: auto; border-left: .25rem solid #d33; background: #8882; font: 14px/1.5 ui-monospace, monospace',
  button: 'float: right; font: inherit',
  close: 'margin-left: .5rem; border: 0; background: none; color: inherit; font: inherit'
}

/** @type {HTMLElement | undefined} */
let host
let shown = '[]'

/** Shows problems, or none. A closed overlay stays closed until something changes. @param {LinkedReport[]} problems */
export function showProblems(problems) {
  const text = JSON.stringify(problems)
  if (text === shown) return
  close()
  shown = text
  if (problems.length === 0) return
  host = element('koa-fresh-assets-problems', {})
  const hint = 'Save the corrected file, and this goes away. Escape closes it.'
  const button = element('button', {}, 'Close')
  button.addEventListener('click', close)
  const content = [button, ...problems.flatMap(partsOf), element('p', {}, hint)]
  const panel = element('div', { class: 'panel', role: 'alert' }, ...content)
  host.attachShadow({ mode: 'open' }).append(element('div', { class: 'backdrop' }, panel))
  document.documentElement.append(host)
  addEventListener('keydown', closeOnEscape, true)
}

function close() {
  removeEventListener('keydown', closeOnEscape, true)
  if (host) host.remove()
  host = undefined
}

/** @param {KeyboardEvent} event */
function closeOnEscape(event) {
  if (event.key !== 'Escape') return
  // Escape must not close something in the page as well.
  event.stopImmediatePropagation()
  close()
}

/** @type {HTMLElement | undefined} */
let corner
let noted = ''

/** Shows notes, or none. Closed ones stay closed until the page is reloaded. @param {string[]} notes */
export function showNotes(notes) {
  const text = notes.join(' · ')
  if (text === noted) return
  noted = text
  if (corner) corner.remove()
  corner = undefined
  if (text === '') return
  const shown = element('koa-fresh-assets-notes', {})
  const button = element('button', { class: 'close', 'aria-label': 'Close' }, '×')
  button.addEventListener('click', () => shown.remove())
  const content = element('div', { class: 'notes', role: 'status' }, text, button)
  shown.attachShadow({ mode: 'open' }).append(content)
  document.documentElement.append(shown)
  corner = shown
}

/** @param {LinkedReport} problem */
function partsOf({ title, location, reason, excerpt, link }) {
  const place = link ? element('a', { href: link }, location) : location
  return [
    element('h1', {}, title),
    ...(location ? [element('p', {}, place)] : []),
    element('p', {}, reason),
    // A keyboard scrolls only an element with the focus.
    ...(excerpt ? [element('pre', { tabindex: '0' }, excerpt)] : [])
  ]
}

/**
 * Makes an element without HTML and style attributes, which a policy may forbid (Trusted Types, `style-src`).
 * @type {(name: string, attributes: Record<string, string>, ...content: (Node | string)[]) => HTMLElement}
 */
function element(name, attributes, ...content) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.style.cssText = STYLES[attributes['class'] || name] || ''
  made.append(...content)
  return made
}
