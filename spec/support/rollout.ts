// Releases of one application on three replicas, which are replaced one by one.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import type { ExecutionContext } from './test.ts'
import { freePort, type ReplicaPorts } from '../../demo/deploy/stack.ts'
import { bundled } from './bundled.ts'
import { digestOf, placed, run } from './fingerprinted.ts'
import type { ReplicaReport, ReplicaSetup } from './release-process.ts'
import { makeProject, writeFiles } from './site.ts'
import { end } from './processes.ts'

/** A larger file is streamed. */
const maxFileBytes = 100_000

const LIBRARY = Array.from({ length: 300 }, (_, at) => `lib('${digestOf(String(at))}')`).join('\n')

/** All but `base.css` change, and one name belongs to this release alone. */
const sourcesOf = (release: number) =>
  placed({
    'stylesheets/base.css': 'p { color: black } '.repeat(100),
    'stylesheets/app.css': `@import 'base.css'; /* release ${release} */ b { background: url(icon.svg) }`,
    'javascripts/app.js': `release(${release});`.repeat(100),
    // Long enough for deltas.
    'javascripts/lib.js': `/* release ${release} */\n${LIBRARY}`,
    [`javascripts/only-${release}.js`]: `only(${release});`,
    'images/icon.svg': `<svg id="release-${release}"/>`.repeat(50),
    'images/hero.png': `release ${release} `.repeat(maxFileBytes / 5),
    // Two that share a module; from the second release on others are joined with each other.
    ...Object.fromEntries(
      ['main', 'more'].map(name => [`javascripts/${name}.js`, moduleOf(release)])
    ),
    'javascripts/part.js': `export const part = () => release(${release})`,
    'javascripts/later.js': `${release > 1 ? "import 'wee'\n" : ''}release(${release})`,
    '/package.json': '{ "dependencies": { "wee": "1" } }',
    '/node_modules/wee/package.json': '{ "name": "wee", "version": "1.0.0", "main": "wee.mjs" }',
    '/node_modules/wee/wee.mjs': "globalThis.wee = 'wee'"
  })

const moduleOf = (release: number) =>
  `import { part } from './part.js'\nrelease(${release}, part, () => import('./later.js'))`

interface Kind {
  readonly isShared: boolean
  readonly hasOwnNames: boolean
}

export class Rollout {
  readonly ports: ReplicaPorts
  /** What all replicas of a release were asked for. */
  readonly reports = new Map<number, ReplicaReport>()
  /** `public` is here when it is shared. */
  readonly home: string
  readonly #kind: Kind
  /** By the position of their ports. */
  readonly #replicas = new Map<number, { readonly child: ChildProcess; readonly release: number }>()
  /** What is being done at a port: a deploy and a crash may meet. */
  readonly #turns = new Map<number, Promise<void>>()

  /**
   * @param isShared whether all releases have one `public`, or each has a copy of the last one's
   * @param hasOwnNames whether the page of each release names an asset that the next one has dropped
   */
  static async make(
    t: ExecutionContext,
    { isShared, hasOwnNames = true }: Pick<Kind, 'isShared'> & Partial<Kind>
  ): Promise<Rollout> {
    const [one, two, three] = [await freePort(), await freePort(), await freePort()]
    const rollout = new Rollout(makeProject(t), [one, two, three], { isShared, hasOwnNames })
    t.teardown(() => rollout.#kill())
    return rollout
  }

  private constructor(home: string, ports: ReplicaPorts, kind: Kind) {
    this.home = home
    this.ports = ports
    this.#kind = kind
  }

  options(release: number) {
    const root = join(this.home, `releases/${release}`)
    const home = this.#kind.isShared ? this.home : root
    return { root, public: join(home, 'public'), memory: { maxFileBytes }, bundle: true }
  }

  /** Writes the sources of a release and precompiles them, over `public` of the release before. */
  async build(release: number, before?: number) {
    const options = this.options(release)
    writeFiles(options.root, sourcesOf(release))
    if (before !== undefined && !this.#kind.isShared)
      cpSync(this.options(before).public, options.public, { recursive: true })
    return run(options)
  }

  /** Starts a replica; one that has its port is stopped first. */
  replace(at: number, release: number): Promise<void> {
    return this.#inTurn(at, async () => {
      await this.#stop(at)
      await this.#start(at, release)
    })
  }

  /** Kills a replica; what supervises it starts the current release. */
  crash(at: number, current: number): Promise<void> {
    return this.#inTurn(at, async () => {
      const child = this.#replicas.get(at)?.child
      this.#replicas.delete(at)
      if (child) await end(child)
      await this.#start(at, current)
    })
  }

  async #inTurn(at: number, work: () => Promise<void>): Promise<void> {
    const turn = (this.#turns.get(at) ?? Promise.resolve()).then(work)
    this.#turns.set(at, turn)
    await turn
  }

  async #start(at: number, release: number): Promise<void> {
    const port = this.ports[at] ?? 0
    const hasOwnName = this.#kind.hasOwnNames
    const setup: ReplicaSetup = { release, port, hasOwnName, options: this.options(release) }
    const program = await bundled('spec/support/release-process.ts')
    const child = fork(program, [JSON.stringify(setup)], { execArgv: [] })
    this.#replicas.set(at, { child, release })
    await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(() => Promise.reject(new Error(`release ${release} did not start`)))
    ])
  }

  async replaceAll(release: number): Promise<void> {
    for (const at of this.ports.keys()) await this.replace(at, release)
  }

  async stopAll(): Promise<void> {
    for (const at of this.ports.keys()) await this.#stop(at)
  }

  async #stop(at: number): Promise<void> {
    const replica = this.#replicas.get(at)
    if (!replica) return
    const { child, release } = replica
    this.#replicas.delete(at)
    child.kill()
    const told = once(child, 'message') as Promise<[ReplicaReport]>
    const [[report]] = await Promise.all([told, once(child, 'exit')])
    const { pages = 0, assets = 0, missing = 0, errors = [] } = this.reports.get(release) ?? {}
    this.reports.set(release, {
      pages: pages + report.pages,
      assets: assets + report.assets,
      missing: missing + report.missing,
      errors: [...errors, ...report.errors]
    })
  }

  async #kill(): Promise<void> {
    for (const { child } of this.#replicas.values()) await end(child)
  }
}
