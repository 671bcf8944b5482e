// Finds, checks and prepares the files of a directory once. A file that this process may not read counts as missing.
import { basename } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { CODINGS, type Coding } from '../files/codings.ts'
import { isInPlace, realPathOfOpen } from '../files/containment.ts'
import { isSameInode, isSettled, sameStamp, stampOf, statOf, type Stamp } from '../files/disk.ts'
import { withFile, type OpenFile } from '../files/open-file.ts'
import { composed } from '../files/paths.ts'
import { ifReadable } from '../files/refusals.ts'
import type { Target } from '../settings/public-directory.ts'
import type { Settings } from '../settings/settings.ts'
import {
  deltaReader,
  fileIn,
  type Directory,
  type Found,
  type Memory,
  type Sender,
  type Sent,
  type ServedFile,
  type UseOpened,
  type Variants
} from './file.ts'
import { hasOneSpelling, type Wanted } from './request.ts'
import { isSpelled, namesAround, namesUpTo, type FolderNames } from './folder-names.ts'
import {
  bytesOf,
  findCopies,
  readCopies,
  readVariant,
  Variant,
  withDigest,
  type Bytes
} from './variant.ts'

/** A directory with more names than this is not remembered. */
const MAX_TOP = 5000

export class ServedFiles {
  readonly directory: Directory
  readonly #memory: Memory
  /** The names in the directory itself: a path that begins with none of them is a miss without a look at the disk. */
  #top: { readonly names: FolderNames | undefined; readonly until: number } | undefined
  readonly #sender: Sender | undefined
  readonly #isInPlace: ReturnType<typeof isInPlace>
  readonly #maxFileBytes: number
  /** The copies are trusted for this many milliseconds, since looking for them would be most of the cost of a check. */
  readonly #copiesTrust: number
  readonly #loads = new Map<string, Promise<Found>>()
  readonly #deltasBy: ReturnType<typeof deltaReader>

  constructor(directory: Directory, memory: Memory, settings: Settings, sender?: Sender) {
    this.directory = directory
    this.#memory = memory
    this.#deltasBy = deltaReader(memory)
    this.#sender = sender
    this.#isInPlace = isInPlace(directory.place)
    this.#maxFileBytes = settings.memory.maxFileBytes
    this.#copiesTrust = settings.publicApp.revalidate * 1000
  }

  recall(rawPath: string): Found | 'missing' {
    const known = this.#memory.get(this.directory.memoryKey + rawPath) as Found
    if (known?.isAtHand && known.trustedUntil > performance.now()) return known
    return hasOneSpelling(rawPath) && this.#lacks(rawPath) ? 'missing' : undefined
  }

  /** Finds the file as it is now or, within `revalidate`, was. @param target just found or written */
  find(wanted: Wanted, target?: Target): Promise<Found> | Found {
    const { path } = wanted
    const { stamp, bytes } = target ?? {}
    const mayTake = bytes && bytes.length <= this.#maxFileBytes
    if (stamp && mayTake && !this.directory.fingerprintOf?.(wanted))
      return this.#take(wanted, stamp, bytes)
    const known = this.#memory.get(this.#key(path)) as Found
    if (known || stamp) {
      if (known && !stamp && known.trustedUntil > performance.now()) return known
      return ifReadable(this.#file(path), this.#look(wanted, known, stamp))
    }
    const { revalidate, revalidateMiss = revalidate } = this.directory
    const trust = revalidateMiss(wanted)
    // No stat is needed: opening the file gives its stamp.
    if (trust > 0) return this.#loads.get(path) ?? this.#load(wanted, trust)
    return ifReadable(this.#file(path), this.#look(wanted))
  }

  forget({ path }: Pick<Wanted, 'path'>): void {
    this.#memory.delete(this.#key(path))
    // A load in progress may be out of date.
    this.#loads.delete(path)
  }

  // A file that is replaced before it is checked is opened again: not every system knows the path of such a descriptor.
  async open<T>(
    wanted: Wanted,
    use: UseOpened<T>,
    known?: ServedFile,
    attempts = 3
  ): Promise<T | undefined> {
    let isReplaced = false
    const used = await withFile(this.#file(wanted.path), async opened => {
      const isSame = known && sameStamp(known.stamp, opened.stats)
      // The source of a verified file may need to be published again.
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

  async #look(wanted: Wanted, known?: ServedFile, stamp?: Stamp): Promise<Found> {
    const { path } = wanted
    const now = stamp ?? (await statOf(this.#file(path)))
    if (!now) return this.#drop(path)
    if (known?.isSettled && (await this.#isUnchanged(wanted, known, now))) return known
    const joined = await this.#loads.get(path)
    // A load in progress may have opened the file before it was replaced.
    const isCurrent = joined && sameStamp(joined.stamp, now)
    return isCurrent ? joined : this.#load(wanted, 0)
  }

  async #isUnchanged(wanted: Wanted, known: ServedFile, stamp: Stamp): Promise<boolean> {
    if (!sameStamp(known.stamp, stamp)) return false
    const now = performance.now()
    if (known.copiesTrustedUntil <= now && this.#mayHaveCopies(wanted)) {
      known.copiesTrustedUntil = now + this.#copiesTrust
      const names = await namesAround(this.#file(wanted.path), this.#copiesTrust, stamp)
      const copies = await findCopies(this.#file(wanted.path), this.#codingsBeside(wanted, names))
      if (!isDeepStrictEqual(known.copies, copies)) return false
    }
    if (!known.isVerified) known.trustedUntil = this.#trustedUntil(wanted)
    return true
  }

  /** @param trust seconds for which a miss is trusted */
  #load(wanted: Wanted, trust: number): Promise<Found> {
    const load = this.#read(wanted, trust, () => this.#loads.get(wanted.path) === load)
    this.#loads.set(wanted.path, load)
    return load
  }

  async #read(wanted: Wanted, trust: number, isCurrent: () => boolean): Promise<Found> {
    const { path } = wanted
    try {
      const opened = this.open(wanted, each => each)
      const file = await ifReadable(this.#file(path), opened)
      if (file && isCurrent()) this.#memory.set(this.#key(path), file)
      if (!file && trust > 0 && !this.#isTopKnown) {
        const names = await namesUpTo(MAX_TOP, this.directory.place.dir)
        this.#top = { names, until: performance.now() + trust * 1000 }
      }
      return file ?? this.#drop(path)
    } finally {
      if (isCurrent()) this.#loads.delete(path)
    }
  }

  async #describe(wanted: Wanted, opened: OpenFile): Promise<Found> {
    const openedAt = Date.now()
    if (!(await this.#mayServe(opened))) return undefined
    const [directory, max] = [this.directory, this.#maxFileBytes]
    const { place } = directory
    const read = await readVariant('identity', opened, max)
    const names = await namesAround(read.file, this.#copiesTrust, read.stamp)
    const codings = this.#codingsBeside(wanted, names)
    const fingerprint = directory.fingerprintOf?.(wanted)
    // A big file is not digested for copies that do not exist, as that takes long.
    const hasCopies = async () => (await findCopies(read.file, codings)).size > 0
    const needsDigest = fingerprint || (read.digest === undefined && (await hasCopies()))
    const identity = needsDigest ? await withDigest(read, opened) : read
    const isVerified = fingerprint !== undefined && fingerprint.digest === identity.digest
    const isDoubtful = fingerprint && !isVerified
    if (isDoubtful && !(await directory.isOrdinary?.(wanted, fingerprint.name))) return undefined
    const own = directory.fieldsOf(wanted, isVerified)
    const at = { opened, place, path: wanted.path, plain: fingerprint?.name, names }
    const { around } = own
    const sent = around && (await this.#sender?.of(identity, { ...at, around }))
    const { copies, others } = await readCopies(place, identity, codings, max)
    const selecting = [others.length > 0 ? 'Accept-Encoding' : [], sent?.vary ?? []].flat()
    const vary = [...new Set(selecting)].join(', ') || undefined
    const fields = { ...own, ofDeltas: sent?.ofDeltas, vary }
    const made = (bytes: Bytes) => new Variant(bytes, fields)
    const variants = [made(identity), ...others.map(made)] as const
    return this.#served(wanted, variants, { copies, isVerified, find: sent?.find }, openedAt)
  }

  /** This is a separate function, as everything that its closures refer to is kept as long as the file. */
  #served(
    wanted: Wanted,
    variants: Variants,
    found: Pick<ServedFile, 'copies' | 'isVerified'> & Pick<Partial<Sent>, 'find'>,
    openedAt: number
  ): ServedFile {
    const { copies, isVerified, find } = found
    const [{ stamp, shared }] = variants
    const file: ServedFile = {
      // No spread: every hit reads this object.
      stamp,
      variants,
      copies,
      isVerified,
      deltaFor: find && this.#deltasBy(find, this.#key(wanted.path), shared),
      isAtHand: hasOneSpelling(wanted.path) && variants.every(({ body }) => body),
      isSettled: variants.every(each => isSettled(each.stamp, openedAt)),
      open: use => this.open(wanted, use, file),
      trustedUntil: isVerified ? Infinity : this.#trustedUntil(wanted),
      copiesTrustedUntil: performance.now() + this.#copiesTrust
    }
    return file
  }

  /** Keeps bytes that were just published: their links and names need no check, and they are not read again. */
  async #take(wanted: Wanted, stamp: Stamp, bytes: Uint8Array): Promise<Found> {
    const file = this.#file(wanted.path)
    if (await this.directory.isHidden?.(file)) return this.#drop(wanted.path)
    const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    const identity = bytesOf('identity', file, { bytes: body, stamp: stampOf(stamp) })
    const fields = this.directory.fieldsOf(wanted, false)
    const found = { copies: new Map(), isVerified: false }
    const served = this.#served(wanted, [new Variant(identity, fields)], found, Date.now())
    this.forget(wanted)
    this.#memory.set(this.#key(wanted.path), served)
    return served
  }

  async #mayServe(opened: OpenFile): Promise<boolean> {
    const { isHidden, place } = this.directory
    if (!(await this.#isInPlace(opened))) return false
    if (!(await isSpelled(place.dir, opened, this.#copiesTrust))) return false
    for (const name of isHidden ? [opened.path, (await realPathOfOpen(opened)) ?? ''] : [])
      if (await isHidden?.(name)) return false
    return true
  }

  #mayHaveCopies(wanted: Wanted): boolean {
    return !this.directory.isPublishedOnRequest?.(wanted)
  }

  /** Returns the codings of copies that may exist: those among the names there, or all if these are not known. */
  #codingsBeside(wanted: Wanted, names: FolderNames | undefined): readonly Coding[] {
    const name = composed(basename(wanted.path))
    const mayBe = ({ extension }: Coding) => names?.has(name + extension) ?? true
    return this.#mayHaveCopies(wanted) ? CODINGS.filter(mayBe) : []
  }

  get #isTopKnown(): boolean {
    return this.#top !== undefined && this.#top.until > performance.now()
  }

  /** A name with a dot is always looked up: a deploy may just have added it, and pages refer to it at once. */
  #lacks(path: string): boolean {
    if (!this.#isTopKnown) return false
    const start = this.directory.urlPath.length + 1
    const end = path.indexOf('/', start)
    const first = path.slice(start, end === -1 ? undefined : end)
    // Publishing an asset may make the folder `top`.
    const mayAppear = first === '' || first.includes('.') || first === this.directory.top
    return !mayAppear && this.#top?.names?.has(first) === false
  }

  #drop(path: string): undefined {
    this.#memory.delete(this.#key(path))
  }

  #key(path: string): string {
    return this.directory.memoryKey + path
  }

  #file(path: string): string {
    return fileIn(this.directory, path)
  }

  #trustedUntil(wanted: Wanted): number {
    return performance.now() + this.directory.revalidate(wanted) * 1000
  }
}
