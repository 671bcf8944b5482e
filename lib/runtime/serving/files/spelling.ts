// Tells whether a file has its path as it is written on disk: a guard compares the path as it was sent.
import { readdir } from 'node:fs/promises'
import { dirname, sep } from 'node:path'
import { errorCode, isMiss, isSameFileAt, isSameInode, statOf } from '../../files/disk.ts'
import { composed } from '../../files/paths.ts'
import { isRefusal } from '../../files/refusals.ts'

/** @returns whether the file system of a directory ignores case; what lies in it is taken to do the same */
export async function ignoresCase(directory: string): Promise<boolean> {
  const upper = directory.toUpperCase()
  const [stats, twin] = await Promise.all([directory, upper === directory ? '' : upper].map(statOf))
  return stats !== undefined && twin !== undefined && isSameInode(stats, twin)
}

/**
 * @param file absolute, below the directory
 * @param isCaseIgnored by its file system
 */
export async function isSpelled(
  directory: string,
  file: string,
  isCaseIgnored: boolean
): Promise<boolean> {
  if (!isCaseIgnored && isComposed(file)) return true
  for (let path = file; path.length > directory.length; path = dirname(path))
    if (!(await isNameIn(dirname(path) + sep, path.slice(dirname(path).length + 1)))) return false
  return true
}

/** Neither a descriptor nor realpath(3) need show how a name is written where case is ignored. */
async function isNameIn(folder: string, name: string): Promise<boolean> {
  const twin = isComposed(name) ? undefined : await statOf(folder + composed(name))
  // On macOS the composed name leads to the same file, and is its only spelling in a URL.
  if (twin && (await isSameFileAt(folder + name, twin))) return false
  const names = await namesIn(folder)
  return names.some(each => composed(each) === composed(name))
}

function isComposed(name: string): boolean {
  return name === composed(name)
}

/** Lists the names in a folder; none for one that only lets its files be opened. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (!isMiss(error) && !isRefusal(error) && errorCode(error) !== 'EACCES') throw error
    return []
  }
}
