// Sorts the entries of a source folder into sources, partials, folders and those that are ignored.
import type { Dirent } from 'node:fs'
import { join } from 'node:path'
import { realpathOf, statOf } from './disk.ts'
import { isInside } from './paths.ts'
import type { Symlinks } from './containment.ts'

/** Names, in no particular order. */
export interface FolderEntries {
  readonly files: readonly string[]
  /** Compilers import these, and one may take precedence over another; none is published. */
  readonly partials: readonly string[]
  readonly folders: readonly string[]
  /** A dangling link: its target may appear without a change to this folder. */
  readonly isDangling: boolean
}

/** @param chain real paths from the top of the source down to this folder */
export async function classifyEntries(
  path: string,
  all: readonly Dirent[],
  chain: readonly string[],
  symlinks: Symlinks
): Promise<FolderEntries> {
  const entries = all.filter(({ name }) => !IGNORED.some(([rule]) => rule.test(name)))
  const kinds = await Promise.all(entries.map(entry => kindOf(path, entry, chain, symlinks)))
  const namesOf = (kind: EntryKind) =>
    entries.filter((_, at) => kinds[at] === kind).map(e => e.name)
  const files = namesOf('file')
  return {
    files: files.filter(name => !PARTIAL.test(name)),
    partials: files.filter(name => PARTIAL.test(name)),
    folders: namesOf('folder'),
    isDangling: entries.some((entry, at) => entry.isSymbolicLink() && !kinds[at])
  }
}

type EntryKind = 'file' | 'folder'

async function kindOf(
  path: string,
  entry: Dirent,
  chain: readonly string[],
  symlinks: Symlinks
): Promise<EntryKind | undefined> {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'folder'
  if (!entry.isSymbolicLink() || symlinks === 'deny') return undefined
  const link = join(path, entry.name)
  const [real, stats] = await Promise.all([realpathOf(link), statOf(link)])
  if (!real || !stats) return undefined
  if (symlinks === 'inside' && !isInside(chain[0] ?? real, real)) return undefined
  if (stats.isDirectory()) return chain.includes(real) ? undefined : 'folder'
  return stats.isFile() ? 'file' : undefined
}

export function isHidden(name: string): boolean {
  return name.startsWith('.')
}

/** Sass and Less name partials in this way. Some packages, such as lodash-es, have scripts with such names. */
const PARTIAL = /^_.*\.(?:s[ac]ss|less)$/i

const IGNORED = [
  [/^\./, 'a name that begins with a dot is not published'],
  [/^-$/, 'a folder named - is not published: below it are the pages of development'],
  [/~$|\.sw[opx]$|^#.*#$/, "an editor's backup or swap file is not published"],
  [/\.d\.[cm]?ts$/, 'a TypeScript declaration file is not published']
] as const
const RULES = [...IGNORED, [PARTIAL, 'a Sass or Less partial is not published']] as const

/** The rule by which a file at this path would not be published, even if it exists. */
export function whyHidden(path: string): string | undefined {
  const names = path.split('/').filter(name => name !== '.' && name !== '..')
  return RULES.find(([rule]) => names.some(name => rule.test(name)))?.[1]
}
