// Replaces stylesheets and images in the page, without a moment in which there are none.

/** @typedef {(url: string) => boolean} IsSame */

/**
 * The stylesheet that is loading, by the one that it will replace.
 * @type {Map<HTMLLinkElement, HTMLLinkElement>}
 */
const loading = new Map()
/**
 * The images that were replaced: a new stylesheet names them as before.
 * @type {Map<string, () => void>}
 */
const replacedImages = new Map()

/**
 * @param {IsSame} isSame
 * @param {URL} next
 * @returns {boolean} whether it was found
 */
export function replaceStylesheets(isSame, next) {
  const replaced = links().filter(link => {
    if (isSame(link.href)) replaceLink(link, next.href)
    else if (imports(link.sheet, isSame)) replaceLink(link, withVersionOf(next, latest(link).href))
    else return false
    return true
  })
  return replaced.length > 0
}

function links() {
  /** @type {NodeListOf<HTMLLinkElement>} */
  const all = document.querySelectorAll('link[rel~="stylesheet" i]')
  const coming = new Set(loading.values())
  return [...all].filter(link => !coming.has(link))
}

/** @param {HTMLLinkElement} link */
function latest(link) {
  return loading.get(link) || link
}

/**
 * @param {URL} next
 * @param {string} href
 */
function withVersionOf(next, href) {
  const url = new URL(href)
  url.searchParams.set('live', next.searchParams.get('live') || '')
  return url.href
}

/**
 * @param {HTMLLinkElement} link
 * @param {string} href
 */
function replaceLink(link, href) {
  if (loading.has(link)) latest(link).remove()
  const next = /** @type {HTMLLinkElement} */ (link.cloneNode())
  next.removeAttribute('integrity')
  next.nonce = link.nonce
  next.href = href
  next.onload = () => {
    if (loading.get(link) !== next) return
    loading.delete(link)
    link.remove()
    for (const replaceAgain of replacedImages.values()) replaceAgain()
  }
  // The old one stays.
  next.onerror = () => {
    if (loading.get(link) === next) loading.delete(link)
    next.remove()
  }
  loading.set(link, next)
  link.after(next)
}

/**
 * Whether a stylesheet imports another, directly or through others.
 *
 * @param {CSSStyleSheet | null} sheet
 * @param {IsSame} isSame
 * @returns {boolean}
 */
function imports(sheet, isSame) {
  return rulesOf(sheet).some(rule => {
    if (!(rule instanceof CSSImportRule)) return false
    const { href, styleSheet } = rule
    return isSame(absolute(href, sheet)) || imports(styleSheet, isSame)
  })
}

/** @param {CSSStyleSheet | null} sheet */
function rulesOf(sheet) {
  // The rules of another site cannot be read.
  const isReadable = sheet && new URL(sheet.href || location.href).origin === location.origin
  return isReadable ? [...sheet.cssRules] : []
}

/**
 * @param {string} url
 * @param {CSSStyleSheet | null} [sheet]
 */
function absolute(url, sheet) {
  return new URL(url, (sheet && sheet.href) || document.baseURI).href
}

/**
 * In elements, in their style attributes, and in stylesheets, where not every browser asks for an image again.
 *
 * @param {IsSame} isSame
 * @param {URL} next
 * @returns {boolean} whether it was found
 */
export function replaceImages(isSame, next) {
  const replaceAll = () => {
    const elements = [...document.querySelectorAll(SHOWING)].map(element =>
      replaceInElement(element, isSame, next)
    )
    const styles = Array.from(allStyles(), ([style, sheet]) =>
      replaceInStyle(style, sheet, isSame, next)
    )
    return [...elements, ...styles].some(Boolean)
  }
  replacedImages.set(next.pathname, replaceAll)
  return replaceAll()
}

const SHOWING = 'img, source, input[src], video[poster], link[rel~="icon" i]'
const ATTRIBUTES = ['src', 'srcset', 'poster', 'href']

/**
 * @param {Element} element
 * @param {IsSame} isSame
 * @param {URL} next
 */
function replaceInElement(element, isSame, next) {
  return ATTRIBUTES.map(name => {
    const before = element.getAttribute(name)
    if (before === null) return false
    // A srcset is a list of URLs, each with its size.
    const after = before.replace(/[^\s,]+/g, url => (isSame(url) ? next.href : url))
    if (after !== before) element.setAttribute(name, after)
    return after !== before
  }).some(Boolean)
}

/** @returns {Generator<[CSSStyleDeclaration, CSSStyleSheet | null]>} */
function* allStyles() {
  for (const element of document.querySelectorAll('[style*="url("]')) {
    if ('style' in element) yield [/** @type {HTMLElement} */ (element).style, null]
  }
  for (const sheet of document.styleSheets) yield* stylesOf(rulesOf(sheet), sheet)
}

/**
 * @param {CSSRule[]} rules
 * @param {CSSStyleSheet} sheet
 * @returns {Generator<[CSSStyleDeclaration, CSSStyleSheet]>}
 */
function* stylesOf(rules, sheet) {
  for (const rule of rules) {
    const { style, cssRules, styleSheet } = /** @type {CSSStyleRule & CSSImportRule} */ (rule)
    if (styleSheet) yield* stylesOf(rulesOf(styleSheet), styleSheet)
    if (cssRules) yield* stylesOf([...cssRules], sheet)
    if (style) yield [style, sheet]
  }
}

/**
 * @param {CSSStyleDeclaration} style
 * @param {CSSStyleSheet | null} sheet
 * @param {IsSame} isSame
 * @param {URL} next
 */
function replaceInStyle(style, sheet, isSame, next) {
  return [...style]
    .map(name => {
      const before = style.getPropertyValue(name)
      const after = before.replace(/url\((["']?)(.*?)\1\)/g, (whole, _, url) =>
        isSame(absolute(url, sheet)) ? `url("${next.href}")` : whole
      )
      if (after !== before) style.setProperty(name, after, style.getPropertyPriority(name))
      return after !== before
    })
    .some(Boolean)
}
