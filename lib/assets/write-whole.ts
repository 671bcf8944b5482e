// Writes a file whole or not at all: a temporary file in the same directory, then a rename.
import { chmod, copyFile, mkdir, open, rename, stat, unlink, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isMiss, missing, statOf, type Mark } from './disk.ts'
import { sweepOnce, temporaryName } from './temporary.ts'

/** Bytes, or the path of a file to copy. */
export type Content = Uint8Array | { readonly copyOf: string }

/**
 * Writes a target with mode 0644 and the given mtime, and returns the mark that it has then;
 * undefined when another process has replaced it meanwhile.
 *
 * @param check rejects for a written file that must not get the target's name
 */
export async function writeWhole(
  target: string,
  content: Content,
  mtimeNs: bigint,
  check?: (temporary: string) => Promise<void>
): Promise<Mark | undefined> {
  const directory = dirname(target)
  await makeDirectory(directory)
  await sweepOnce(directory)
  const temporary = join(directory, temporaryName())
  try {
    await fill(temporary, content)
    await check?.(temporary)
    await chmod(temporary, 0o644)
    await stamp(temporary, mtimeNs)
    const { ino, dev } = await stat(temporary, { bigint: true })
    await rename(temporary, target)
    const mark = await statOf(target)
    return mark?.ino === ino && mark.dev === dev ? mark : undefined
  } catch (error) {
    await missing(unlink(temporary))
    throw error
  }
}

async function fill(path: string, content: Content): Promise<void> {
  if ('copyOf' in content) return copyFile(content.copyOf, path)
  const handle = await open(path, 'wx')
  try {
    await handle.writeFile(content)
  } finally {
    await handle.close()
  }
}

/** Gives a file the mtime of its source. */
export async function stamp(path: string, mtimeNs: bigint): Promise<void> {
  const seconds = Number(mtimeNs) / 1e9
  await utimes(path, seconds, seconds)
}

/** Seconds travel as a double and are cut to microseconds: what comes back is less than two off. */
export function isStamped({ mtimeNs }: Mark, wanted: bigint): boolean {
  const difference = mtimeNs - wanted
  return difference < 2000n && difference > -2000n
}

/** Readable by a front web server, whatever the umask. */
async function makeDirectory(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true })
  if (first === undefined) return
  for (let path = directory; path.length >= first.length; path = dirname(path)) {
    await chmod(path, 0o755)
  }
}

/** Removes a file, if it is there. */
export async function remove(path: string): Promise<void> {
  try {
    await unlink(path)
  } catch (error) {
    if (!isMiss(error)) throw error
  }
}
