// Serves the scripts of the live channel, which tells connected pages of changes in the files that they use.
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { PassThrough } from 'node:stream'
import type { Context } from 'koa'
import { inParallel, oneAtATime } from '../../runtime/concurrency.ts'
import { statOf } from '../../runtime/files/disk.ts'
import { reasonOf, warnOnce } from '../../runtime/errors.ts'
import { publishingIn } from '../../publishing/building/on-request.ts'
import type { Page, Pages } from '../../runtime/app/extra.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'
import { connected } from '../../runtime/serving/stream.ts'
import { suppressDisconnects } from '../../runtime/serving/respond.ts'
import { isBelow } from '../../runtime/serving/request.ts'
import { encodePath } from '../../runtime/urls/spelling.ts'
import { bundlesIn } from '../vite/bundles.ts'
import { pageConsole } from './console.ts'
import {
  followingIn,
  stateOf,
  stateOfPackages,
  statesOfIcons,
  watchedFiles,
  type AssetState,
  type Following,
  type Part
} from './page-state.ts'

/** The scripts for browsers refer to each other by relative URLs. */
const SCRIPTS = ['', '-channel', '-console', '-overlay', '-stylesheets'].map(
  each => `live${each}.js`
)

export function livePages(pipeline: Pipeline): Pages {
  const channel = new Channel(pipeline)
  const hasConsole = pipeline.settings.live?.console ?? false
  return {
    ...Object.fromEntries(SCRIPTS.map(name => [name, scriptAt(`client/${name}`, import.meta.url)])),
    live: ctx => channel.connect(ctx),
    ...(hasConsole ? { 'POST live': pageConsole(pipeline) } : { 'live-console.js': sendNothing })
  }
}

const sendNothing = (ctx: Context) => void Object.assign(ctx, { type: 'text/javascript', body: '' })

export function scriptAt(path: string, base: string, change = async (code: string) => code): Page {
  return async ctx => {
    ctx.type = 'text/javascript'
    ctx.set({ 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' })
    ctx.body = await change(await readFile(new URL(path, base), 'utf8'))
  }
}

const SCRIPT = /\.m?js$/i
const MAX_CONNECTIONS = 256
/** Assets with fingerprints that are looked up at the same time share one check of all sources. */
const CONCURRENCY = 256
/** A look follows an event soon, but later if an editor has just emptied a file, or pages load an edited script. */
const [SOON_MS, LATER_MS] = [1, 50]
/** The longest time that a closing server waits for its connections, in milliseconds. */
const TICK_MS = 500
/** Events may be lost, so pages are checked this often, and less often if that takes more than this share of a core. */
const [LOOK_EVERY_MS, LOOK_AT_LEAST_EVERY_MS] = [2000, 10_000]
const MAX_LOAD = 0.02

class Channel {
  readonly #pipeline: Pipeline
  readonly #watched: () => Promise<Part>
  readonly #following: Following | undefined
  readonly #warn = warnOnce()
  readonly #connections = new Set<Connection>()
  /** A page that gets another version, or is older than the process, asks whether it is still current. */
  readonly #instance: Part = {
    key: 'instance',
    version: randomUUID(),
    changedAt: performance.timeOrigin
  }
  /** The states at the last look, by the paths that pages use. */
  #assets = new Map<string, AssetState | undefined>()
  #brokenPackages: AssetState | undefined
  /** The generation of the sources at the last look at all of them. */
  #generation = -1
  /** The files that events have reported since then. */
  #edited = new Set<string>()
  #stop: (() => void) | undefined
  #nextLook: NodeJS.Timeout | undefined
  #isAsked = false

  constructor(pipeline: Pipeline) {
    this.#pipeline = pipeline
    this.#watched = watchedFiles(pipeline.settings, () => this.#lookAgain())
    this.#following = followingIn(pipeline.running)
    if (this.#following) this.#following.onNews = () => this.#lookAgain()
  }

  async connect(ctx: Context): Promise<void> {
    if (!(await connected(ctx.res))) return
    if (this.#connections.size >= MAX_CONNECTIONS) ctx.throw(503)
    const { base, prefix } = this.#pipeline.settings
    const connection: Connection = new Connection(ctx, `${base}${encodePath(prefix)}/`, () => {
      this.#connections.delete(connection)
      if (this.#connections.size === 0) this.#stop?.()
    })
    this.#connections.add(connection)
    this.#stop ??= this.#start()
    this.#lookAgain()
  }

  #start(): () => void {
    const endEvents = publishingIn(this.#pipeline).sources.onEvent(path => {
      if (path !== undefined) this.#edited.add(path)
      this.#lookAgain()
    })
    const keepAlive = () => this.#connections.forEach(connection => connection.keepAlive())
    const timer = setInterval(keepAlive, TICK_MS).unref()
    return () => {
      endEvents()
      clearInterval(timer)
      clearTimeout(this.#nextLook)
      this.#stop = undefined
    }
  }

  #lookAgain(milliseconds = SOON_MS, isAsked = true): void {
    this.#isAsked = isAsked
    clearTimeout(this.#nextLook)
    if (this.#stop) this.#nextLook = setTimeout(() => void this.#look(), milliseconds).unref()
  }

  async #look(): Promise<void> {
    const wasAsked = this.#isAsked
    this.#isAsked = false
    const before = process.cpuUsage()
    try {
      // No event reports changes in packages.
      if (!wasAsked || this.#brokenPackages)
        this.#brokenPackages = await stateOfPackages(this.#pipeline)
      await this.#tell()
    } catch (error) {
      this.#warn(`cannot look up what has changed for open pages: ${reasonOf(error)}`)
    }
    const { user, system } = process.cpuUsage(before)
    const rest = wasAsked ? 0 : (user + system) / 1000 / MAX_LOAD
    const pause = Math.min(Math.max(LOOK_EVERY_MS, rest), LOOK_AT_LEAST_EVERY_MS)
    if (!this.#isAsked) this.#lookAgain(pause, false)
  }

  readonly #tell = oneAtATime(async () => {
    const connections = [...this.#connections]
    const used = [...new Set(connections.flatMap(connection => connection.used))]
    const edited = this.#edited
    this.#edited = new Set()
    const stats = await Promise.all(Array.from(edited, statOf))
    if (stats.some(each => each?.size === 0n)) return this.#lookAgain(LATER_MS)
    const watched = await this.#watched()
    const isEdited = (path: string) =>
      this.#assets.get(path)?.inputs?.some(each => edited.has(each))
    // An edited script is sent first: pages request it while the rest is checked. Stylesheets are sent with importers.
    const first = used.filter(path => SCRIPT.test(path) && isEdited(path))
    const { sources } = publishingIn(this.#pipeline)
    const { generation } = sources
    // Packages that are rebuilt for an edited script are told together with it.
    const isFirst = first.length > 0 && generation === this.#generation
    if (!isFirst) this.#assets = new Map(used.map(path => [path, this.#assets.get(path)]))
    await inParallel(isFirst ? first : used, CONCURRENCY, async path =>
      this.#assets.set(path, await stateOf(this.#pipeline, path))
    )
    if (sources.generation !== generation) return this.#lookAgain()
    this.#generation = generation
    await this.#tellOf(connections, watched)
    if (isFirst && !this.#isAsked) this.#lookAgain(LATER_MS)
  })

  async #tellOf(connections: readonly Connection[], watched: Part): Promise<void> {
    const assets = this.#assets
    const told = connections.filter(({ isTold }) => isTold).flatMap(each => each.used)
    this.#following?.look(assets, new Set(told))
    const icons = await statesOfIcons(this.#pipeline)
    const { base } = this.#pipeline.settings
    const bundles = bundlesIn(this.#pipeline.running)?.followed ?? []
    const builds = bundles.map(bundle => {
      const { urlPath, build } = bundle
      // Pages are told about everything else meanwhile.
      void bundle.refresh(0)?.then(() => bundle.build !== build && this.#lookAgain())
      const key = `build of ${urlPath || '/'}`
      return { key, path: base + encodePath(urlPath), build, note: bundle.source.state }
    })
    for (const connection of connections) {
      if (!connection.used.every(path => assets.has(path))) continue
      const used = builds.filter(({ path }) => connection.used.some(each => isBelow(each, path)))
      const built = used.flatMap(({ key, build }) => (build ? { key, ...build } : []))
      const notes = used.flatMap(({ note }) => note ?? [])
      const own = connection.used.map(path => assets.get(path))
      const shared = [this.#instance, watched, ...built]
      const states = [...own, ...icons, this.#brokenPackages].filter(each => each !== undefined)
      connection.tell(shared, states, notes, this.#following)
    }
  }
}

const MAX_USED = 1000
/** Proxies end idle connections, often after 30 s. */
const HEARTBEAT_MS = 15_000
/** A page with more unread bytes is disconnected. */
const MAX_WAITING_BYTES = 256 * 1024

/** A connection with one page (the HTML standard, "Server-sent events"). */
class Connection {
  readonly used: readonly string[]
  /** Koa gets the stream, so middleware in front can still set fields and cookies. */
  readonly #events = new PassThrough()
  readonly #server: { readonly listening?: boolean } | undefined
  /** The time at which the page was opened, in milliseconds since 1970; NaN if it was connected before. */
  readonly #openedAt: number
  /** The tick of the latest edit that the page knows; only later ones are sent. */
  #tick: number
  #told = ''
  #writtenAt = 0

  /** @param prefix precedes paths that do not begin with a slash */
  constructor(ctx: Context, prefix: string, onClose: () => void) {
    const query = new URLSearchParams(ctx.querystring)
    const paths = (query.get('use') ?? '').split('\n', MAX_USED).filter(Boolean)
    this.used = [...new Set(paths.map(path => (path.startsWith('/') ? path : prefix + path)))]
    this.#openedAt = Date.now() - Number(query.get('age') ?? NaN)
    this.#tick = query.has('tick') ? Number(query.get('tick')) : this.#openedAt
    this.#server = Reflect.get(ctx.req.socket, 'server') as { listening?: boolean } | undefined
    suppressDisconnects(ctx)
    ctx.type = 'text/event-stream'
    ctx.set({
      // A compressor would hold an event back until more arrive.
      'Cache-Control': 'no-store, no-transform',
      'X-Accel-Buffering': 'no'
    })
    ctx.body = this.#events
    ctx.res.once('close', () => {
      this.#events.destroy()
      onClose()
    })
    // Writing sends the head of the response: until then the browser is still connecting.
    this.#write(':\n\n')
  }

  /** True for a page that was told something, in this connection or an earlier one. */
  get isTold(): boolean {
    return this.#told !== '' || Number.isNaN(this.#openedAt)
  }

  tell(
    shared: readonly Part[],
    used: readonly AssetState[],
    notes: readonly string[],
    following?: Following
  ): void {
    const parts = [...shared, ...used.map(({ part }) => part)].map(({ changedAt, ...part }) => {
      // The part changed before the page connected. A time in the future would reload the page again and again.
      const isLate = changedAt > this.#openedAt && changedAt <= Date.now()
      return { ...part, isLate }
    })
    // One source may break several assets.
    const problems = new Map(used.map(({ problem }) => [JSON.stringify(problem), problem ?? []]))
    const state = { parts, problems: [...problems.values()].flat(), notes }
    const text = JSON.stringify(state)
    const hot = following?.since(this.#tick)
    if (text === this.#told && !hot) return
    this.#told = text
    this.#tick = following?.tick ?? this.#tick
    const more = following && { hot: { tick: this.#tick, ...hot } }
    this.#write(`data: ${JSON.stringify({ ...state, ...more })}\n\n`)
  }

  keepAlive(): void {
    if (this.#server?.listening === false) this.#events.end()
    else if (performance.now() - this.#writtenAt > HEARTBEAT_MS) this.#write(':\n\n')
  }

  #write(text: string): void {
    const events = this.#events
    this.#writtenAt = performance.now()
    if (!events.writable) return
    events.write(text)
    if (events.readableLength + events.writableLength > MAX_WAITING_BYTES) events.destroy()
  }
}
