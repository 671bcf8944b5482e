// Shows what is broken, in front of the page: in a shadow root, which the page's styles do not reach.

/** @typedef {{ title: string, location: string, reason: string, excerpt: string, link?: string }} LinkedReport */

const STYLE = `
  :host { all: initial; color-scheme: light dark }
  .backdrop { position: fixed; inset: 0; z-index: 2147483647; overflow: auto; padding: 4vmin; box-sizing: border-box; background: rgb(0 0 0 / 60%) }
  .panel { box-sizing: border-box; max-width: 60rem; margin: 0 auto; padding: 1.5rem; border-top: .25rem solid #d33; border-radius: .5rem; background: #fff; color: #222; font: 16px/1.5 system-ui, sans-serif; box-shadow: 0 1rem 3rem rgb(0 0 0 / 40%) }
  header { display: flex; gap: 1rem; align-items: start; justify-content: space-between }
  h1 { margin: 0; font-size: 1.125rem; color: #b71c1c }
  h1 + h1 { margin-top: 1rem }
  section + section { margin-top: 1.5rem; padding-top: 1.5rem; border-top: 1px solid #8884 }
  p { margin: .5rem 0; overflow-wrap: anywhere; white-space: pre-wrap }
  .location { font: 600 14px/1.5 ui-monospace, monospace }
  pre { margin: .75rem 0 0; padding: .75rem 1rem; overflow: auto; border-left: .25rem solid #d33; background: #f4f4f4; font: 14px/1.5 ui-monospace, monospace; tab-size: 2 }
  a { color: #0b57d0 }
  button { flex: none; padding: .25rem .75rem; border: 1px solid #8888; border-radius: .375rem; background: none; color: inherit; font: inherit; cursor: pointer }
  :focus-visible { outline: 2px solid #0b57d0; outline-offset: 2px }
  .hint { margin: 1.25rem 0 0; color: #666; font-size: 14px }
  @media (prefers-color-scheme: dark) {
    .panel { background: #1c1c1f; color: #eee }
    h1 { color: #ff8a80 }
    pre { background: #0003 }
    a { color: #8ab4f8 }
    .hint { color: #aaa }
    :focus-visible { outline-color: #8ab4f8 }
  }`

/** @type {HTMLElement | undefined} */
let host
let shown = '[]'

/** An empty list removes it. One that was closed stays closed until something changes. @param {LinkedReport[]} problems */
export function showProblems(problems) {
  const text = JSON.stringify(problems)
  if (text === shown) return
  close()
  shown = text
  if (problems.length > 0) open(problems)
}

/** @param {LinkedReport[]} problems */
function open(problems) {
  host = document.createElement('koa-fresh-assets-problems')
  const root = host.attachShadow({ mode: 'open' })
  addStyle(root)
  const hint = 'Save the corrected file, and this goes away. Escape closes it.'
  const panel = element('div', 'panel', ...problems.map(sectionOf), element('p', 'hint', hint))
  panel.setAttribute('role', 'alert')
  const button = element('button', '', 'Close')
  button.addEventListener('click', close)
  const [header] = panel.getElementsByTagName('header')
  if (header) header.append(button)
  root.append(element('div', 'backdrop', panel))
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
  // Keeps Escape from closing something in the page as well.
  event.stopImmediatePropagation()
  close()
}

/** @param {LinkedReport} problem */
function sectionOf({ title, location, reason, excerpt, link }) {
  const place = element(link ? 'a' : 'span', '', location)
  if (link) place.setAttribute('href', link)
  const code = element('pre', '', excerpt)
  // Scrolled by keyboard.
  code.tabIndex = 0
  return element(
    'section',
    '',
    element('header', '', element('h1', '', title)),
    ...(location ? [element('p', 'location', place)] : []),
    element('p', '', reason),
    ...(excerpt ? [code] : [])
  )
}

/**
 * Never from HTML, which a policy may forbid (Trusted Types).
 * @type {(name: string, className: string, ...content: (Node | string)[]) => HTMLElement}
 */
function element(name, className, ...content) {
  const made = document.createElement(name)
  if (className) made.className = className
  made.append(...content)
  return made
}

/** A constructed stylesheet needs no permission of a Content-Security-Policy; an element needs the nonce. @param {ShadowRoot} root */
function addStyle(root) {
  if ('adoptedStyleSheets' in root && 'replaceSync' in CSSStyleSheet.prototype) {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(STYLE)
    root.adoptedStyleSheets = [sheet]
    return
  }
  const own = new URL('live.js', import.meta.url).href
  const script = [...document.scripts].find(({ src }) => src === own)
  const style = element('style', '', STYLE)
  style.nonce = script ? script.nonce : ''
  root.append(style)
}
