// The files of a directory, found, checked and prepared once, so that a request only writes a response.
import { basename } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import {
  isSameInode,
  isUnchangedSince,
  sameStamp,
  type Stamp,
  statOf
} from '../../../files/disk.ts'
import { isInPlace, realPathOfOpen } from '../../../files/containment.ts'
import { isSameDigest } from '../../../files/digest.ts'
import { withFile, type OpenFile } from '../../../files/open-file.ts'
import type { Sender, Stored } from '../../parts.ts'
import type { Settings } from '../../settings/settings.ts'
import { fileIn, type ServedDirectory } from '../directories/served-directory.ts'
import { composed, hasOneSpelling, type Wanted } from '../request-path.ts'
import { Folders } from './folders.ts'
import { FurtherFiles, prepareWith } from './further.ts'
import { readStored, type Memory } from './representation.ts'
import {
  findCopies,
  ifReadable,
  readCopies,
  withDigest,
  type Copies,
  type ServedFile,
  type UseOpened
} from './served-file.ts'

export type Found = ServedFile | undefined

export class ServedFiles {
  readonly directory: ServedDirectory
  readonly #memory: Memory
  readonly #folders: Folders
  readonly #further: FurtherFiles
  readonly #maxFileBytes: number
  /** In milliseconds. Where each request checks its file, three more stats would be most of its cost. */
  readonly #copiesTrust: number
  readonly #loads = new Map<string, Promise<Found>>()

  constructor(
    directory: ServedDirectory,
    memory: Memory,
    settings: Settings,
    senders: readonly Sender[]
  ) {
    const { maxFileBytes } = settings.memory
    this.directory = directory
    this.#memory = memory
    this.#folders = new Folders(directory)
    this.#further = new FurtherFiles(senders, memory)
    this.#maxFileBytes = maxFileBytes
    this.#copiesTrust = settings.publicApp.revalidate * 1000
  }

  /** What is known of a raw path without reading the disk: its file, or that there is none. */
  recall(rawPath: string): Found | 'missing' {
    const known = this.#memory.get(this.directory.memoryKey + rawPath) as Found
    if (known?.isAtHand && known.trustedUntil > performance.now()) return known
    // What is known is by decoded paths.
    return hasOneSpelling(rawPath) && this.#folders.lack(rawPath) ? 'missing' : undefined
  }

  /**
   * The file as it is on disk now or, within `revalidate`, was when it was last looked up.
   * @param stamp the target's stamp, if the caller has just looked it up
   */
  find(wanted: Wanted, stamp?: Stamp): Promise<Found> | Found {
    const known = this.#known(wanted.path)
    if (known && !stamp && known.trustedUntil > performance.now()) return known
    if (!known && !stamp && this.#folders.lack(wanted.path)) return undefined
    const file = fileIn(this.directory, wanted.path)
    return ifReadable(file, this.#look(wanted, known, stamp))
  }

  /** Makes the next `find` read the disk. */
  forget({ path }: Pick<Wanted, 'path'>): void {
    this.#memory.delete(this.#key(path))
    // What is being loaded may be out of date.
    this.#loads.delete(path)
  }

  /**
   * Opens a file, describes it as it is then, and uses it while it is open. One that is replaced before it is
   * checked is opened again: not every system knows the path of an open file whose name was given to another.
   * @param known what it was when it was found; it is forgotten when that is gone
   * @returns undefined for anything but a regular file, for a link that leads out of the directory, for a
   *   name in another case, and for bytes that do not match the fingerprint
   */
  async open<T>(
    wanted: Wanted,
    use: UseOpened<T>,
    known?: ServedFile,
    attempts = 3
  ): Promise<T | undefined> {
    let isReplaced = false
    const used = await withFile(fileIn(this.directory, wanted.path), async opened => {
      const isSame = known && sameStamp(known.representations[0].stamp, opened.stats)
      // The source of a verified one may have to be published again.
      if (known?.isVerified && !isSame) return undefined
      const file = isSame ? known : await this.#describe(wanted, opened)
      if (file) return use(file, opened)
      const now = await statOf(opened.path)
      isReplaced = now !== undefined && !isSameInode(now, opened.stats)
      return undefined
    })
    if (isReplaced && attempts > 1) return this.open(wanted, use, known, attempts - 1)
    if (known && used === undefined) this.forget(wanted)
    return used
  }

  /** Whether there is a file that can be sent; it is not read. */
  async has(wanted: Pick<Wanted, 'app' | 'path'>): Promise<boolean> {
    const file = fileIn(this.directory, wanted.path)
    const isServed = withFile(file, opened => this.#mayBeServed(wanted, opened))
    return (await ifReadable(file, isServed)) ?? false
  }

  async #look(wanted: Wanted, known: Found, stamp?: Stamp): Promise<Found> {
    const { path } = wanted
    const trust = this.directory.revalidateMiss(wanted)
    // Opening a file shows its stamp.
    if (!known && !stamp && trust > 0) return this.#loads.get(path) ?? this.#load(wanted, trust)
    const now = stamp ?? (await statOf(fileIn(this.directory, path)))
    if (!now) return this.#drop(path)
    if (known?.hasRested && (await this.#isUnchanged(wanted, known, now))) return known
    const joined = await this.#loads.get(path)
    // A load in progress may have opened the file before it was replaced.
    const isCurrent = joined && sameStamp(joined.representations[0].stamp, now)
    return isCurrent ? joined : this.#load(wanted)
  }

  async #isUnchanged(wanted: Wanted, known: ServedFile, stamp: Stamp): Promise<boolean> {
    const [identity] = known.representations
    if (!sameStamp(identity.stamp, stamp)) return false
    const now = performance.now()
    if (known.copiesTrustedUntil <= now) {
      known.copiesTrustedUntil = now + this.#copiesTrust
      if (!isDeepStrictEqual(known.copies, await this.#copiesOf(wanted, identity))) return false
    }
    if (!known.isVerified) known.trustedUntil = this.#trustedUntil(wanted)
    return true
  }

  /** @param trust seconds for which a miss is trusted */
  #load(wanted: Wanted, trust = 0): Promise<Found> {
    const { path } = wanted
    const isCurrent = () => this.#loads.get(path) === load
    const load = this.open(wanted, file => file)
      .then(async file => {
        if (file && isCurrent()) this.#memory.set(this.#key(path), file)
        if (!file && trust > 0) await this.#folders.learn(path, trust)
        return file ?? this.#drop(path)
      })
      .finally(() => isCurrent() && this.#loads.delete(path))
    this.#loads.set(path, load)
    return load
  }

  async #describe(wanted: Wanted, opened: OpenFile): Promise<Found> {
    const [openedAt, maxBytes] = [Date.now(), this.#maxFileBytes]
    const { fingerprintOf, isOrdinary, fieldsOf, place } = this.directory
    if (!(await this.#mayBeServed(wanted, opened))) return undefined
    const stored = await readStored('identity', opened, maxBytes)
    const fingerprint = fingerprintOf?.(wanted)
    const copies = await this.#copiesOf(wanted, stored)
    const needsDigest = fingerprint !== undefined || copies.some(Boolean)
    const identity = needsDigest ? await withDigest(stored, opened) : stored
    const isVerified =
      fingerprint !== undefined && isSameDigest(fingerprint.digest, identity.digest)
    if (fingerprint && !isVerified && !(await isOrdinary?.(wanted, fingerprint.name))) {
      return undefined
    }
    const own = fieldsOf(wanted, isVerified)
    const sent = await this.#further.of({
      ...identity,
      ...{ path: wanted.path, place, around: own.around, plain: fingerprint?.name },
      names: () => this.#namesBeside(wanted),
      digested: () => withDigest(identity, opened)
    })
    const rest = await readCopies(place, identity, copies, maxBytes)
    const make = prepareWith(own, rest.length > 0, sent)
    const representations = [make(identity), ...rest.map(make)] as const
    const file: ServedFile = {
      ...{ representations, copies, isVerified },
      further: this.#further.finders(this.#key(wanted.path), sent, make),
      isAtHand: hasOneSpelling(wanted.path) && representations.every(({ body }) => body),
      hasRested: representations.every(({ stamp }) => isUnchangedSince(stamp, openedAt)),
      open: use => this.open(wanted, use, file),
      trustedUntil: isVerified ? Infinity : this.#trustedUntil(wanted),
      copiesTrustedUntil: performance.now() + this.#copiesTrust
    }
    return file
  }

  /** Whatever links lead to it. */
  async #mayBeServed(wanted: Pick<Wanted, 'app' | 'path'>, opened: OpenFile): Promise<boolean> {
    const { isHidden, place, revalidateMiss } = this.directory
    for (const name of isHidden ? [opened.path, (await realPathOfOpen(opened)) ?? ''] : [])
      if (await isHidden?.(name)) return false
    if (!(await isInPlace(place)(opened))) return false
    return this.#folders.haveNames(wanted.path, revalidateMiss(wanted))
  }

  async #copiesOf(wanted: Wanted, file: Pick<Stored, 'file' | 'stamp'>): Promise<Copies> {
    if (this.directory.isPublishedOnRequest?.(wanted)) return []
    const names = await this.#namesBeside(wanted)
    return findCopies(file, copy => names?.has(composed(basename(copy))) ?? true)
  }

  #namesBeside(wanted: Wanted): Promise<ReadonlyMap<string, boolean> | undefined> {
    return this.#folders.beside(wanted.path, this.directory.revalidateMiss(wanted))
  }

  #drop(path: string): undefined {
    this.#memory.delete(this.#key(path))
  }

  #known(path: string): Found {
    return this.#memory.get(this.#key(path)) as Found
  }

  #key(path: string): string {
    return this.directory.memoryKey + path
  }

  #trustedUntil(wanted: Wanted): number {
    return performance.now() + this.directory.revalidate(wanted) * 1000
  }
}
