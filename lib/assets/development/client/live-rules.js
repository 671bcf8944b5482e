// What can be read of the stylesheets in the page.

/**
 * @param {CSSStyleSheet | null} sheet
 * @returns {sheet is CSSStyleSheet}
 */
export function isLoaded(sheet) {
  try {
    return sheet !== null && sheet.cssRules.length >= 0
  } catch (error) {
    // While it is loading, in Firefox.
    if (/** @type {Error} */ (error).name === 'InvalidAccessError') return false
    throw error
  }
}

/** @param {CSSStyleSheet | null} sheet */
export function rulesOf(sheet) {
  return sheet && isReadable(sheet) && isLoaded(sheet) ? [...sheet.cssRules] : []
}

/**
 * The rules of another site cannot be read.
 *
 * @param {CSSStyleSheet} sheet
 */
export function isReadable(sheet) {
  return new URL(sheet.href || location.href).origin === location.origin
}

/**
 * @param {string} url
 * @param {CSSStyleSheet | null} [sheet]
 */
export function absolute(url, sheet) {
  return new URL(url, (sheet && sheet.href) || document.baseURI).href
}
