// Replaces stylesheets in the page, which is never without them.

/** @typedef {(url: string) => boolean} IsSame */
/** @typedef {HTMLLinkElement | HTMLStyleElement} Style */
/** @typedef {{ isSame: IsSame, href: string }} Replaced */

/** Maps an element to the one that is loading to replace it. @type {Map<Style, Style>} */
const loading = new Map()
/** The replaced stylesheets by key, as others still import the old ones. @type {Map<string, Replaced>} */
const replaced = new Map()

/** Milliseconds between two checks, as there is no event when an import has loaded. */
const IMPORT_CHECK = 20
/** An import that takes longer, in milliseconds, counts as missing, as after a reload. */
const LONGEST_IMPORT = 2000

/** Returns true if it was found. @type {(key: string, isSame: IsSame, href: string, fail: () => void) => boolean} */
export function replaceStylesheets(key, isSame, href, fail) {
  replaced.set(key, { isSame, href })
  /** @type {NodeListOf<Style>} */
  const all = document.querySelectorAll('link[rel~="stylesheet" i], style')
  const coming = new Set(loading.values())
  const found = [...all].filter(style => {
    if (coming.has(style)) return false
    if ('href' in style && isSame(style.href)) replaceStyle(style, fail, href)
    else if (imports(style.sheet, isSame)) replaceStyle(style, fail)
    else return false
    return true
  })
  return found.length > 0
}

/**
 * Inserts a copy before the old stylesheet, which overrides the copy until it is complete.
 * @type {(style: Style, fail: () => void, href?: string) => void} with the URL of a link that has changed
 */
function replaceStyle(style, fail, href) {
  // A disabled stylesheet shows nothing, and its copy would never load.
  if (style.disabled) {
    if ('href' in style && href) style.href = href
    return
  }
  const earlier = loading.get(style)
  const copy = /** @type {Style} */ (style.cloneNode(true))
  copy.removeAttribute('integrity')
  copy.nonce = style.nonce
  if ('href' in copy) copy.href = href || /** @type {HTMLLinkElement} */ (earlier || style).href
  if (earlier) earlier.remove()
  copy.onload = () => {
    copy.onload = null
    renewImports(copy.sheet)
      .then(() => takePlace(copy, style))
      .catch(() => location.reload())
  }
  // If the copy fails, the old stylesheet stays.
  copy.onerror = () => {
    if (loading.get(style) === copy) loading.delete(style)
    copy.remove()
    fail()
  }
  loading.set(style, copy)
  style.before(copy)
}

/** @param {Style} copy @param {Style} style */
function takePlace(copy, style) {
  if (loading.get(style) !== copy) return
  loading.delete(style)
  if (copy.sheet && style.sheet) copy.sheet.disabled = style.sheet.disabled
  style.remove()
}

/** Imports count directly or through others. @type {(sheet: CSSStyleSheet | null, isSame: IsSame) => boolean} */
const imports = (sheet, isSame) =>
  importsOf(sheet).some(
    ({ href, styleSheet }) => isSame(absolute(href, sheet)) || imports(styleSheet, isSame)
  )

/** Loads imports again, which Firefox takes from memory in a new stylesheet. @param {CSSStyleSheet | null} sheet */
async function renewImports(sheet) {
  const renewed = importsOf(sheet).map(async rule => {
    const url = absolute(rule.href, sheet)
    const newer = [...replaced.values()].find(({ isSame }) => isSame(url))
    const latest = newer ? await replaceImport(rule, newer.href) : rule
    await renewImports(latest.styleSheet)
  })
  await Promise.all(renewed)
}

/** @param {CSSImportRule} rule @param {string} href */
async function replaceImport(rule, href) {
  const sheet = /** @type {CSSStyleSheet} */ (rule.parentStyleSheet)
  const at = [...sheet.cssRules].indexOf(rule)
  const text = rule.cssText.replace(/url\(("|')?.*?\1\)/, () => `url("${href}")`)
  // The new rule is inserted first: once the last import is gone, none could follow `@layer`.
  sheet.insertRule(text, at)
  sheet.deleteRule(at + 1)
  const added = /** @type {CSSImportRule} */ (sheet.cssRules[at])
  const end = performance.now() + LONGEST_IMPORT
  while (!isComplete(added.styleSheet) && performance.now() < end) {
    await new Promise(resolve => setTimeout(resolve, IMPORT_CHECK))
  }
  return added
}

/** A stylesheet is complete with everything that it imports. @type {(sheet: CSSStyleSheet | null) => boolean} */
const isComplete = sheet =>
  !!rulesOf(sheet) && importsOf(sheet).every(({ styleSheet }) => isComplete(styleSheet))

/** @type {(sheet: CSSStyleSheet | null) => CSSImportRule[]} */
const importsOf = sheet => (rulesOf(sheet) || []).filter(rule => rule instanceof CSSImportRule)

/** @param {CSSStyleSheet | null} sheet @returns {CSSRule[] | undefined} undefined while it is loading */
function rulesOf(sheet) {
  try {
    return sheet ? [...sheet.cssRules] : undefined
  } catch (error) {
    // A stylesheet of another site cannot be read. Firefox throws an error with another name while one is loading.
    return /** @type {Error} */ (error).name === 'SecurityError' ? [] : undefined
  }
}

/** @type {(url: string, sheet?: CSSStyleSheet | null) => string} */
const absolute = (url, sheet) => new URL(url, (sheet && sheet.href) || document.baseURI).href
