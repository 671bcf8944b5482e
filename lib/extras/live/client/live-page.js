// Tells whether the server would still send the page as it is.

/**
 * Asks for the page at this URL, which scripts may have changed, and compares its digest with that of the one that was
 * loaded. It is false for a page without a digest, such as the response to a form, or a stream. @returns {Promise<boolean>}
 */
export async function isSamePage() {
  const [page] = performance.getEntriesByType('navigation')
  const timings = page ? /** @type {PerformanceNavigationTiming} */ (page).serverTiming : undefined
  const timing = timings && timings.find(({ name }) => name === 'page')
  if (!timing) return false
  /** @type {RequestInit} */
  const asDocument = { cache: 'no-store', headers: { Accept: 'text/html,*/*;q=0.8' } }
  const response = await fetch(location.href, asDocument)
  // A text that nobody reads keeps its connection.
  await response.text()
  return (response.headers.get('Server-Timing') || '').includes(`page;desc="${timing.description}"`)
}
