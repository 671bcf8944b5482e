// The live channel: tells connected pages what has changed in what they use.
import { randomUUID } from 'node:crypto'
import type { Context } from 'koa'
import { inParallel, oneAtATime } from '../../../concurrency.ts'
import { reasonOf } from '../../../errors.ts'
import { warnOnce } from '../../../printable.ts'
import type { Pipeline } from '../../pipeline.ts'
import { connected } from '../../serving/connection.ts'
import { isBelow } from '../../serving/request-path.ts'
import { encodePath } from '../../urls/encode.ts'
import { Connection } from './connection.ts'
import { partOf, stateOf, watchedFiles, type Part } from './page-state.ts'

const MAX_CONNECTIONS = 256
/** With fingerprints, assets that are looked up at the same time share one check of all sources. */
const CONCURRENCY = 256

/** An editor that saves causes several events; these milliseconds after the last, it is done. */
const SETTLED_MS = 20

/** Milliseconds. A server that is being closed waits for its connections. */
const TICK_MS = 500

/** Milliseconds between checks without an event, which may be lost, and the share of a core that they may use. */
const LOOK_EVERY_MS = 2000
const MAX_LOAD = 0.02

export class Channel {
  readonly #pipeline: Pipeline
  /** Encoded, with a slash at its end. */
  readonly #prefix: string
  readonly #watched: () => Promise<Part>
  readonly #warn = warnOnce()
  readonly #connections = new Set<Connection>()
  readonly #tellAll = oneAtATime(() => this.#tell())
  /** A page that is told a different one, or is older than the process, reloads: the server was restarted. */
  readonly #instance: Part = {
    key: 'instance',
    version: randomUUID(),
    changedAt: performance.timeOrigin
  }
  #stop: (() => void) | undefined
  #settling: NodeJS.Timeout | undefined
  #nextLook = 0

  constructor(pipeline: Pipeline) {
    this.#pipeline = pipeline
    this.#prefix = `${encodePath(pipeline.settings.prefix)}/`
    this.#watched = watchedFiles(pipeline.settings, () => this.#lookSoon())
  }

  /** Responds with events until the page is closed. */
  async connect(ctx: Context): Promise<void> {
    if (!(await connected(ctx.res))) return
    if (this.#connections.size >= MAX_CONNECTIONS) ctx.throw(503)
    const connection: Connection = new Connection(ctx, this.#prefix, () => {
      this.#connections.delete(connection)
      if (this.#connections.size === 0) this.#stop?.()
    })
    this.#connections.add(connection)
    this.#stop ??= this.#start()
    void this.#look()
  }

  #start(): () => void {
    const endEvents = this.#pipeline.sources.onEvent(() => this.#lookSoon())
    this.#nextLook = performance.now() + LOOK_EVERY_MS
    const timer = setInterval(() => this.#tick(), TICK_MS).unref()
    return () => {
      endEvents()
      clearInterval(timer)
      clearTimeout(this.#settling)
      this.#settling = this.#stop = undefined
    }
  }

  #tick(): void {
    for (const connection of this.#connections) connection.keepAlive()
    if (performance.now() >= this.#nextLook) void this.#lookUnasked()
  }

  async #lookUnasked(): Promise<void> {
    this.#nextLook = Infinity
    const before = process.cpuUsage()
    await this.#look()
    const { user, system } = process.cpuUsage(before)
    const wait = Math.max(LOOK_EVERY_MS, (user + system) / 1000 / MAX_LOAD)
    this.#nextLook = performance.now() + wait
  }

  #lookSoon(): void {
    if (this.#settling) this.#settling.refresh()
    else if (this.#stop) this.#settling = setTimeout(() => void this.#look(), SETTLED_MS).unref()
  }

  async #look(): Promise<void> {
    this.#settling = undefined
    try {
      await this.#tellAll()
    } catch (error) {
      this.#warn(`cannot look up what has changed for open pages: ${reasonOf(error)}`)
    }
  }

  async #tell(): Promise<void> {
    const connections = [...this.#connections]
    const used = [...new Set(connections.flatMap(connection => connection.used))]
    const watched = await this.#watched()
    const states = await inParallel(used, CONCURRENCY, async path => {
      return [path, await stateOf(this.#pipeline, path)] as const
    })
    const builds = this.#pipeline.bundles.followed.map(followed => {
      const { urlPath, build } = followed
      void this.#lookAfter(followed.refresh(0), () => followed.build !== build)
      return { path: encodePath(urlPath), part: partOf(followed) }
    })
    for (const connection of connections) {
      const built = builds.flatMap(({ path, part }) =>
        part && connection.used.some(used => isBelow(used, path)) ? part : []
      )
      connection.tell([this.#instance, watched, ...built], new Map(states))
    }
  }

  /** Meanwhile pages are told about everything else. */
  async #lookAfter(refreshed: Promise<void> | undefined, isOther: () => boolean): Promise<void> {
    await refreshed
    if (isOther()) this.#lookSoon()
  }
}
