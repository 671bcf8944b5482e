// Groups of stored responses: Cache-Groups and Cache-Group-Invalidation (RFC 9875), and the fields in which
// CDNs expect the same.
import { optionError } from '../options.ts'

// What every cache must support (sections 2 and 3). A cache may ignore a field that exceeds it, and would
// then keep what it was told to drop.
const MAX_GROUPS = 32
const GROUP = /^[ -~]{1,32}$/
const EXPECTED_GROUP = '1 to 32 printable ASCII characters'
// Surrogate-Key and xkey are split at blanks, Cache-Tag at commas; Cloudflare forbids blanks in tags as well.
const SEPARATOR = /[ ,]/

/**
 * The groups as a list of strings (RFC 9651 sections 3.1 and 3.3.3): `"book-7", "books"`.
 *
 * @throws TypeError for a group that is not 1 to 32 printable ASCII characters, and for more than 32 groups
 */
export function formatGroups(groups: readonly string[]): string {
  for (const group of groups) {
    if (typeof group !== 'string' || !GROUP.test(group)) {
      throw optionError('a cache group', EXPECTED_GROUP, group)
    }
  }
  if (groups.length > MAX_GROUPS) {
    throw new TypeError(
      `a response may have ${MAX_GROUPS} cache groups, which every cache supports, got ${groups.length}`
    )
  }
  return groups.map(group => `"${group.replace(/["\\]/g, '\\$&')}"`).join(', ')
}

/**
 * The groups as a CDN reads them: separated by commas in a field of tags (`Cache-Tag`), else by blanks
 * (`Surrogate-Key`, `xkey`).
 *
 * @throws TypeError for a group with a blank or a comma
 */
export function formatKeys(header: string, groups: readonly string[]): string {
  const unfit = groups.find(group => SEPARATOR.test(group))
  if (unfit !== undefined) {
    throw optionError('a cache group', `without blanks and commas, which separate ${header}`, unfit)
  }
  return groups.join(/tag/i.test(header) ? ',' : ' ')
}
