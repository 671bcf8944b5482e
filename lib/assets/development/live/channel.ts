// The live channel: tells connected pages what has changed in what they use.
import { randomUUID } from 'node:crypto'
import type { Context } from 'koa'
import { inParallel, oneAtATime } from '../../../concurrency.ts'
import { reasonOf } from '../../../errors.ts'
import { warnOnce } from '../../../printable.ts'
import type { Pipeline } from '../../pipeline.ts'
import { connected } from '../../serving/connection.ts'
import { isBelow } from '../../serving/request-path.ts'
import { encodePath } from '../../urls/canonical-path.ts'
import { Connection } from './connection.ts'
import { stateOf, watchedFiles, type Part } from './page-state.ts'

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
  #nextLook: NodeJS.Timeout | undefined
  /** Whether an event asks for the next look. */
  #isAsked = false

  constructor(pipeline: Pipeline) {
    this.#pipeline = pipeline
    this.#watched = watchedFiles(pipeline.settings, () => this.#lookSoon())
  }

  /** Responds with events until the page is closed. */
  async connect(ctx: Context): Promise<void> {
    if (!(await connected(ctx.res))) return
    if (this.#connections.size >= MAX_CONNECTIONS) ctx.throw(503)
    const prefix = `${encodePath(this.#pipeline.settings.prefix)}/`
    const connection: Connection = new Connection(ctx, prefix, () => {
      this.#connections.delete(connection)
      if (this.#connections.size === 0) this.#stop?.()
    })
    this.#connections.add(connection)
    this.#stop ??= this.#start()
    void this.#look()
  }

  #start(): () => void {
    const endEvents = this.#pipeline.sources.onEvent(() => this.#lookSoon())
    const keepAlive = () => this.#connections.forEach(connection => connection.keepAlive())
    const timer = setInterval(keepAlive, TICK_MS).unref()
    return () => {
      endEvents()
      clearInterval(timer)
      clearTimeout(this.#nextLook)
      this.#stop = undefined
    }
  }

  #lookSoon(): void {
    this.#isAsked = true
    this.#lookIn(SETTLED_MS)
  }

  #lookIn(milliseconds: number): void {
    clearTimeout(this.#nextLook)
    if (this.#stop) this.#nextLook = setTimeout(() => void this.#look(), milliseconds).unref()
  }

  async #look(): Promise<void> {
    const wasAsked = this.#isAsked
    this.#isAsked = false
    const before = process.cpuUsage()
    await this.#tellAll().catch((error: unknown) =>
      this.#warn(`cannot look up what has changed for open pages: ${reasonOf(error)}`)
    )
    const { user, system } = process.cpuUsage(before)
    const rest = wasAsked ? 0 : (user + system) / 1000 / MAX_LOAD
    if (!this.#isAsked) this.#lookIn(Math.max(LOOK_EVERY_MS, rest))
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
      // Meanwhile pages are told about everything else.
      void followed.refresh(0)?.then(() => followed.build !== build && this.#lookSoon())
      return { key: `build of ${urlPath || '/'}`, path: encodePath(urlPath), build }
    })
    for (const connection of connections) {
      const built = builds.flatMap(({ key, path, build }) =>
        build && connection.used.some(used => isBelow(used, path)) ? { key, ...build } : []
      )
      connection.tell([this.#instance, watched, ...built], new Map(states))
    }
  }
}
