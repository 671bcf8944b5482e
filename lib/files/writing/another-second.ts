// Mtimes by which servers in front tell one content of a name from another.
import { write } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { promised, SECOND_NS, type Stamp } from '../disk.ts'
import { describe, readInto, setMtime, type OpenFile } from '../open-file.ts'

/** FAT stamps even seconds alone, and cuts an odd one off. */
const LATER = [1n, 2n]
/** More than what FAT makes of a second. */
const MAX_WAIT_MS = 3000
const LOOK_AGAIN_MS = 50

/**
 * Gives a file that was just written an mtime in a later second than what it replaces; where times cannot be
 * set, it waits for one.
 * @param path by which the file is reached where a call on an open one is denied
 */
export async function setAnotherSecond(
  file: OpenFile,
  path: string,
  { mtimeNs: taken }: Stamp
): Promise<void> {
  const second = taken / SECOND_NS
  const isSame = () => describe(path, file.fd).stats.mtimeNs / SECOND_NS === second
  for (const later of LATER) {
    if (!(await setMtime(file, path, (second + later) * SECOND_NS))) break
    if (!isSame()) return
  }
  const end = performance.now() + MAX_WAIT_MS
  while (isSame() && performance.now() < end) {
    await setTimeout(LOOK_AGAIN_MS)
    await writeAgain(file)
  }
}

/** Writes its first byte again. */
async function writeAgain(file: OpenFile): Promise<void> {
  const byte = Buffer.alloc(1)
  const length = await readInto(byte, file, 0)
  await promised<number>(done => write(file.fd, byte, 0, length, 0, done))
}
