/** Remembers what helpers wrote for a page, until the URL of an asset may have changed. */

/** A page has few entries; their lists may be long. */
const MAX = 20

/** @param version changes with the URLs of assets */
export function makePageMemory<Written>(version: () => string) {
  const written = new Map<string, Written>()
  let writtenFor: string | undefined
  return (key: string, write: () => Written): Written => {
    const now = version()
    if (now !== writtenFor) written.clear()
    writtenFor = now
    const known = written.get(key)
    if (known !== undefined) return known
    const fresh = write()
    if (written.size >= MAX) written.clear()
    written.set(key, fresh)
    return fresh
  }
}
