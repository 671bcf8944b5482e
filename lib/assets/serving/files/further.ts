// What extras add to the files that are sent. A further representation is read when a request first asks for it,
// and remembered like a file.
import type { IncomingHttpHeaders } from 'node:http'
import type { Further, Sender, Sent, SentFile, Stored } from '../../parts.ts'
import type { SharedFields } from '../directories/served-directory.ts'
import {
  makeRepresentation,
  type Kept,
  type Memory,
  type Representation
} from './representation.ts'

type Make = (stored: Stored) => Representation

/** What reads a representation that a request may be sent instead of the file; undefined if there can be none. */
export type FindFurther = (headers: IncomingHttpHeaders) => LoadFurther | undefined

type LoadFurther = () => Promise<Representation | undefined>

/** With no representation if it is not sent: so it is not checked for each request. */
interface KeptFurther extends Kept {
  readonly needs: string
}

export class FurtherFiles {
  readonly #senders: readonly Sender[]
  readonly #memory: Memory
  readonly #loads = new Map<string, Promise<KeptFurther | undefined>>()

  constructor(senders: readonly Sender[], memory: Memory) {
    this.#senders = senders
    this.#memory = memory
  }

  async of(file: SentFile): Promise<readonly Sent[]> {
    const all = await Promise.all(this.#senders.map(sender => sender.of(file)))
    return all.filter(each => each !== undefined)
  }

  /** @param key of the file in memory */
  finders(key: string, sent: readonly Sent[], make: Make): readonly FindFurther[] {
    return sent.flatMap(({ find }) => {
      if (!find) return []
      return (headers: IncomingHttpHeaders) => {
        const wanted = find(headers)
        return wanted && (() => this.#find(key + wanted.key, wanted, make))
      }
    })
  }

  async #find(key: string, wanted: Further, make: Make): ReturnType<LoadFurther> {
    const known = this.#memory.get(key) as KeptFurther | undefined
    const load = known ?? this.#loads.get(key) ?? this.#load(key, wanted, make)
    if (load instanceof Promise) this.#loads.set(key, load)
    const kept = await load
    return kept?.needs === wanted.needs ? kept.representations[0] : undefined
  }

  async #load(key: string, { read }: Further, make: Make): Promise<KeptFurther | undefined> {
    try {
      const { needs, stored } = (await read()) ?? {}
      if (needs === undefined) return undefined
      const kept = { needs, representations: stored ? [make(stored)] : [] }
      this.#memory.set(key, kept)
      return kept
    } finally {
      this.#loads.delete(key)
    }
  }
}

/** Makes the representations of a file, with what extras add to them. */
export function prepareWith(own: SharedFields, hasCopies: boolean, sent: readonly Sent[]): Make {
  const copies = hasCopies ? ['Accept-Encoding'] : []
  const vary = [...new Set([...copies, ...sent.flatMap(each => each.vary)])].join(', ')
  const further = Object.fromEntries(sent.flatMap(({ fields }) => fields))
  const shared = sent.length > 0 ? { ...own, further } : own
  return stored => makeRepresentation(stored, shared, vary || undefined)
}
