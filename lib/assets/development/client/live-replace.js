// Replaces stylesheets and images in the page, without a moment in which there are none.

/** @typedef {(url: string) => boolean} IsSame */
/** @typedef {HTMLLinkElement | HTMLStyleElement} Style */

/**
 * The element that is loading, by the one that it will replace.
 * @type {Map<Style, Style>}
 */
const loading = new Map()
/**
 * The stylesheets that were replaced: others import them as before.
 * @type {Map<string, { isSame: IsSame, next: URL }>} by their keys
 */
const replacedStylesheets = new Map()
/**
 * The images that were replaced: a new stylesheet names them as before.
 * @type {Map<string, () => void>} by their keys
 */
const replacedImages = new Map()

/** Milliseconds between two looks: no event tells when an import has loaded. */
const IMPORT_CHECK = 20
/** Milliseconds. What cannot be loaded is then missing, as after a reload. */
const LONGEST_IMPORT = 2000

/**
 * @param {string} key
 * @param {IsSame} isSame
 * @param {URL} next
 * @returns {boolean} whether it was found
 */
export function replaceStylesheets(key, isSame, next) {
  replacedStylesheets.set(key, { isSame, next })
  const replaced = styles().filter(style => {
    if ('href' in style && isSame(style.href)) replaceStyle(style, next.href)
    else if (imports(style.sheet, isSame)) replaceStyle(style)
    else return false
    return true
  })
  return replaced.length > 0
}

function styles() {
  /** @type {NodeListOf<Style>} */
  const all = document.querySelectorAll('link[rel~="stylesheet" i], style')
  const coming = new Set(loading.values())
  return [...all].filter(style => !coming.has(style))
}

/**
 * In front of the old one, which overrides it until it is complete.
 *
 * @param {Style} style
 * @param {string} [href] of a link that is not what it was
 */
function replaceStyle(style, href) {
  const earlier = loading.get(style)
  if (earlier) earlier.remove()
  const next = /** @type {Style} */ ((earlier || style).cloneNode(true))
  next.removeAttribute('integrity')
  next.nonce = style.nonce
  if (href && 'href' in next) next.href = href
  next.onload = async () => {
    next.onload = null
    await renewImports(next.sheet)
    if (loading.get(style) !== next) return
    loading.delete(style)
    style.remove()
    for (const replaceAgain of replacedImages.values()) replaceAgain()
  }
  // The old one stays.
  next.onerror = () => {
    if (loading.get(style) === next) loading.delete(style)
    next.remove()
  }
  loading.set(style, next)
  style.before(next)
}

/**
 * Whether a stylesheet imports another, directly or through others.
 *
 * @param {CSSStyleSheet | null} sheet
 * @param {IsSame} isSame
 * @returns {boolean}
 */
function imports(sheet, isSame) {
  return importsOf(sheet).some(
    ({ href, styleSheet }) => isSame(absolute(href, sheet)) || imports(styleSheet, isSame)
  )
}

/**
 * Firefox takes what a new stylesheet imports from memory.
 *
 * @param {CSSStyleSheet | null} sheet
 */
async function renewImports(sheet) {
  const renewed = importsOf(sheet).map(async rule => {
    const url = absolute(rule.href, sheet)
    const newer = [...replacedStylesheets.values()].find(({ isSame }) => isSame(url))
    const latest = newer ? await replaceImport(rule, newer.next.href) : rule
    await renewImports(latest.styleSheet)
  })
  await Promise.all(renewed)
}

/**
 * @param {CSSImportRule} rule
 * @param {string} href
 */
async function replaceImport(rule, href) {
  const sheet = /** @type {CSSStyleSheet} */ (rule.parentStyleSheet)
  const at = [...sheet.cssRules].indexOf(rule)
  const text = rule.cssText.replace(/url\(("|')?.*?\1\)/, () => `url("${href}")`)
  sheet.deleteRule(at)
  sheet.insertRule(text, at)
  const added = /** @type {CSSImportRule} */ (sheet.cssRules[at])
  const end = performance.now() + LONGEST_IMPORT
  while (!isLoaded(added.styleSheet) && performance.now() < end) {
    await new Promise(resolve => setTimeout(resolve, IMPORT_CHECK))
  }
  return added
}

/** @param {CSSStyleSheet | null} sheet */
function importsOf(sheet) {
  return rulesOf(sheet).filter(rule => rule instanceof CSSImportRule)
}

/**
 * @param {CSSStyleSheet | null} sheet
 * @returns {sheet is CSSStyleSheet}
 */
function isLoaded(sheet) {
  try {
    return sheet !== null && sheet.cssRules.length >= 0
  } catch (error) {
    // While it is loading, in Firefox.
    if (/** @type {Error} */ (error).name === 'InvalidAccessError') return false
    throw error
  }
}

/** @param {CSSStyleSheet | null} sheet */
function rulesOf(sheet) {
  // The rules of another site cannot be read.
  const isReadable = sheet && new URL(sheet.href || location.href).origin === location.origin
  return isReadable && isLoaded(sheet) ? [...sheet.cssRules] : []
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
 * @param {string} key
 * @param {IsSame} isSame
 * @param {URL} next
 * @returns {boolean} whether it was found
 */
export function replaceImages(key, isSame, next) {
  const replaceAll = () => {
    const elements = [...document.querySelectorAll(SHOWING)].map(element =>
      replaceInElement(element, isSame, next)
    )
    const styles = Array.from(allStyles(), ([style, sheet]) =>
      replaceInStyle(style, sheet, isSame, next)
    )
    return [...elements, ...styles].some(Boolean)
  }
  replacedImages.set(key, replaceAll)
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
