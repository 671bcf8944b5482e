// Which names contain a hash of the file's content. A file that is wrongly taken for hashed is stale in
// browsers for a year, and one that is not recognised costs a revalidation: when in doubt, it is not hashed.
import { posix } from 'node:path'
import { hasFixedUrl } from '../urls/fingerprint.ts'

/** A file, and its name before the bundler added a hash, without extension; undefined when not known. */
export type NamedFile = readonly [file: string, stem: string | undefined]

/** The hashes that bundlers write by default. */
export const HASHES = {
  /** base64url: Rollup and Rolldown, so Vite. */
  vite: /^[\w-]{8,22}$/,
  /** base32. */
  esbuild: /^[A-Z2-7]{8}$/,
  /** Hexadecimal. */
  webpack: /^(?=.*\d)(?=.*[a-f])[0-9a-f]{8,64}$/
} as const

// Words that people write into names: `DataTable`, `component`, `VERSION2`, `20240101`.
const WORD = /^(?:[a-z]*(?:[A-Z][a-z]{2,})*|[A-Z]+)\d*$/

/** @param groups files whose names follow one pattern each: all of a group have a hash, or none has */
export function hashedAmong(groups: readonly (readonly NamedFile[])[], hash: RegExp): Set<string> {
  const suffixed = groups.map(files => ({ files, own: ownSuffixes(files, hash) }))
  const count = suffixed.reduce((sum, { own }) => sum + own.length, 0)
  const hashed = suffixed.flatMap(({ files, own }) => {
    // Nobody gives each file a different word.
    const isPattern = count > 1 && own.length === files.length
    return own.filter(({ suffix }) => isPattern || !isWritten(suffix))
  })
  return new Set(hashed.map(({ file }) => file).filter(file => !hasFixedUrl(file)))
}

/** A suffix that several files share stands for a release, such as a date or a commit. */
function ownSuffixes(files: readonly NamedFile[], hash: RegExp) {
  const bearers = new Map<string, Set<string>>()
  for (const [file, stem] of files) {
    const suffix = suffixOf(file, stem)
    if (suffix === undefined || !hash.test(suffix)) continue
    bearers.set(suffix, (bearers.get(suffix) ?? new Set()).add(file))
  }
  return [...bearers].flatMap(([suffix, [file, ...others]]) =>
    file !== undefined && others.length === 0 ? [{ file, suffix }] : []
  )
}

/** `assets/main.tsx` -> `main` */
export function stemOf(file: string): string {
  return posix.basename(file, posix.extname(file))
}

/** What follows the stem: `main-BX3f_9aZ.js` -> `BX3f_9aZ`. */
function suffixOf(file: string, stem: string | undefined): string | undefined {
  const whole = stemOf(file)
  if (stem === undefined) return /[^-.]+$/.exec(whole)?.[0]
  const follows = whole.startsWith(stem) && /[-.]/.test(whole.charAt(stem.length))
  return follows ? whole.slice(stem.length + 1) : undefined
}

function isWritten(suffix: string): boolean {
  return suffix.split(/[-_]/).every(part => WORD.test(part))
}
