// Replaces images in the page, and reads its stylesheets.

/** @typedef {(url: string) => boolean} IsSame */

/** Replaced images are remembered by key: a new stylesheet names the old ones. @type {Map<string, () => void>} */
const replacedImages = new Map()

/** Called when a stylesheet has been loaded. */
export function replaceImagesAgain() {
  for (const replaceAgain of replacedImages.values()) replaceAgain()
}

/**
 * Replaces an image in elements, style attributes and stylesheets, where not every browser asks for it again.
 * Returns true if it was found.
 *
 * @type {(key: string, isSame: IsSame, next: URL) => boolean}
 */
export function replaceImages(key, isSame, next) {
  const replaceAll = () => {
    const elements = [...document.querySelectorAll(SHOWING)]
    const inElements = elements.map(element => replaceInElement(element, isSame, next))
    const inStyles = Array.from(allStyles(), ([style, sheet]) =>
      replaceInStyle(style, sheet, isSame, next)
    )
    return [...inElements, ...inStyles].some(Boolean)
  }
  replacedImages.set(key, replaceAll)
  return replaceAll()
}

const SHOWING = 'img, source, input[src], video[poster], link[rel~="icon" i]'
const ATTRIBUTES = ['src', 'srcset', 'poster', 'href']

/** @type {(element: Element, isSame: IsSame, next: URL) => boolean} */
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
  for (const sheet of document.styleSheets) yield* stylesOf(sheet)
}

/** @type {(sheet: CSSStyleSheet, rules?: CSSRule[]) => Generator<[CSSStyleDeclaration, CSSStyleSheet]>} */
function* stylesOf(sheet, rules = rulesOf(sheet) || []) {
  for (const rule of rules) {
    const { style, cssRules, styleSheet } = /** @type {CSSStyleRule & CSSImportRule} */ (rule)
    if (styleSheet) yield* stylesOf(styleSheet)
    if (cssRules) yield* stylesOf(sheet, [...cssRules])
    if (style) yield [style, sheet]
  }
}

/** @type {(style: CSSStyleDeclaration, sheet: CSSStyleSheet | null, isSame: IsSame, next: URL) => boolean} */
function replaceInStyle(style, sheet, isSame, next) {
  const changed = [...style].map(name => {
    const before = style.getPropertyValue(name)
    const after = before.replace(/url\((["']?)(.*?)\1\)/g, (whole, _, url) =>
      isSame(absolute(url, sheet)) ? `url("${next.href}")` : whole
    )
    if (after !== before) style.setProperty(name, after, style.getPropertyPriority(name))
    return after !== before
  })
  return changed.includes(true)
}

/** @param {CSSStyleSheet | null} sheet @returns {CSSRule[] | undefined} undefined while it is loading */
export function rulesOf(sheet) {
  try {
    return sheet ? [...sheet.cssRules] : undefined
  } catch (error) {
    // A stylesheet of another site cannot be read. Firefox throws an error with another name while one is loading.
    return /** @type {Error} */ (error).name === 'SecurityError' ? [] : undefined
  }
}

/** @param {string} url @param {CSSStyleSheet | null} [sheet] */
export function absolute(url, sheet) {
  return new URL(url, (sheet && sheet.href) || document.baseURI).href
}
