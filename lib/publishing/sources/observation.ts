// Remembers what was seen at a path: the file or directory that was read, or the directory that lacked a name. A later
// check can then tell whether anything changed, so that what was made from it must be made again.
import { basename, dirname, join } from 'node:path'
import { inTurns } from '../../runtime/concurrency.ts'
import { digestOf } from '../../runtime/files/digest.ts'
import { isSettled, sameStamp, type Stamp, stampOf, statOf } from '../../runtime/files/disk.ts'
import { readSnapshot, type Snapshot } from '../../runtime/files/open-file.ts'

export type Observation = FileObservation | DirectoryObservation

export interface FileObservation {
  readonly path: string
  readonly stamp: Stamp
  /** Present when the file changed so recently that its stamp may not show another change. */
  readonly digest?: string | undefined
}

interface DirectoryObservation {
  readonly path: string
  /** Absent when the directory changed so recently that its stamp may not show another change. */
  readonly stamp?: Stamp | undefined
  readonly absent: readonly string[]
}

export function isFileObservation(observation: Observation): observation is FileObservation {
  return !('absent' in observation)
}

/** @param readAt when reading began, in milliseconds since 1970 */
export function observe(path: string, { bytes, stamp }: Snapshot, readAt: number): FileObservation {
  return isSettled(stamp, readAt) ? { path, stamp } : { path, stamp, digest: digestOf(bytes) }
}

// Observes files and directories, and the directories of missing paths: a new entry changes a directory's stamp. If the
// directory is missing, too, its nearest existing ancestor is observed.
export async function observeAll(paths: Iterable<string>): Promise<Observation[]> {
  const known = new Map<string, ReturnType<typeof lookAt>>()
  const look = (directory: string) => {
    const looked = known.get(directory) ?? lookAt(directory)
    known.set(directory, looked)
    return looked
  }
  const files = await Promise.all(
    Array.from(paths, async path => {
      let [at, directory] = [path, await look(dirname(path))]
      for (; !directory && at !== dirname(at); directory = await look(dirname(at))) at = dirname(at)
      const stats = at === path ? await statOf(path) : undefined
      if (!stats) directory?.absent.push(basename(at))
      const readAt = Date.now()
      // A change of its entries changes the stamp of a directory.
      if (stats?.isDirectory()) return [{ path, stamp: stampOf(stats) }]
      const read = stats?.isFile() ? await readSnapshot(path) : undefined
      return read ? [observe(path, read, readAt)] : []
    })
  )
  const directories = (await Promise.all(known.values())).flatMap(each => each ?? [])
  return [...files.flat(), ...directories.filter(({ absent }) => absent.length > 0)]
}

/** Must be called before the names in a directory are looked up: the next check sees whatever arrives in between. */
async function lookAt(path: string) {
  const lookedAt = Date.now()
  const stats = await statOf(path)
  const stamp = stats && isSettled(stats, lookedAt) ? stampOf(stats) : undefined
  return stats && { path, stamp, absent: new Array<string>() }
}

/** Looks again: undefined if anything changed, else the same object, unless its stamp has become conclusive. */
export async function recheck<T extends Observation>(observation: T): Promise<T | undefined> {
  const { path, stamp } = observation
  const checkedAt = Date.now()
  // The stat comes before the names in a directory: the next check sees whatever arrives in between.
  const stats = await statOf(path)
  const isSame = stats && stamp && sameStamp(stats, stamp)
  if (isFileObservation(observation)) {
    const { digest } = observation
    if (!isSame || digest === undefined) return isSame ? observation : undefined
    const now = await readSnapshot(path)
    if (!now || !sameStamp(now.stamp, stats) || digestOf(now.bytes) !== digest) return undefined
    return isSettled(stats, checkedAt) ? { ...observation, digest: undefined } : observation
  }
  if (isSame) return observation
  const found = await Promise.all(observation.absent.map(name => statOf(join(path, name))))
  if (found.some(Boolean)) return undefined
  return stats && isSettled(stats, checkedAt)
    ? { ...observation, stamp: stampOf(stats) }
    : observation
}

// Looks before files are read again. The returned function tells whether all files that were then read had the same
// stamps before. Any other may have been saved after it was read: times do not show it, as a disk's clock may be late.
export async function lookBefore(known: readonly Observation[] = []) {
  const stats = await Promise.all(known.map(({ path }) => statOf(path)))
  const wasThere = ({ path, stamp }: FileObservation) =>
    stats.some((now, at) => known[at]?.path === path && now && sameStamp(now, stamp))
  return (inputs: readonly Observation[]) =>
    known.length === 0 || inputs.filter(isFileObservation).every(wasThere)
}

export async function hasSameInputs(
  made: { inputs: readonly Observation[] },
  look: (each: Observation) => Promise<Observation | undefined> = recheck
): Promise<boolean> {
  const inputs = await Promise.all(made.inputs.map(each => look(each)))
  if (!inputs.every(input => input !== undefined)) return false
  // An observation that has become conclusive saves the next reading.
  made.inputs = inputs
  return true
}

/** A value, or the failure to make it, with the files and directories on which it depends. */
export type Made<T> = { inputs: readonly Observation[] } & (
  | { readonly value: T }
  | { readonly error: unknown }
)

export class Remembered<T> {
  readonly #make: () => Promise<Made<T>>
  readonly #inTurns = inTurns<T>()
  #made: Made<T> | undefined

  /** @param make rejects with errors that are not remembered */
  constructor(make: () => Promise<Made<T>>) {
    this.#make = make
  }

  /** Makes it again if an input has changed; a failure is kept with its inputs, and thrown until one changes. */
  get(): Promise<T> {
    return this.#inTurns('', async () => {
      const known = this.#made
      const made = known && (await hasSameInputs(known)) ? known : await this.#makeAgain()
      if ('error' in made) throw made.error
      return made.value
    })
  }

  /** Lets the next `get` make the value again, whatever its inputs, because something else has changed. */
  forget(): void {
    this.#made = undefined
  }

  async #makeAgain(): Promise<Made<T>> {
    const areAsBefore = await lookBefore(this.#made?.inputs)
    this.#made = undefined
    const made = await this.#make()
    // Otherwise an input was saved meanwhile, and the next `get` makes the value again.
    if (areAsBefore(made.inputs)) this.#made = made
    return made
  }
}
