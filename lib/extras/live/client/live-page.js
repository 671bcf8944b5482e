// Tells whether the server would still send the page as it is.

/**
 * Asks for the page once more, and compares the digests that the server gives both. It is false for a page without one,
 * such as the response to a form, or a stream. @returns {Promise<boolean>}
 */
export async function isSamePage() {
  const [page] = performance.getEntriesByType('navigation')
  const timings = page ? /** @type {PerformanceNavigationTiming} */ (page).serverTiming : undefined
  const timing = timings && timings.find(({ name }) => name === 'page')
  if (!page || !timing) return false
  /** @type {RequestInit} */
  const asDocument = { cache: 'no-store', headers: { Accept: 'text/html,*/*;q=0.8' } }
  const { headers } = await fetch(page.name, asDocument)
  return (headers.get('Server-Timing') || '').includes(`page;desc="${timing.description}"`)
}
