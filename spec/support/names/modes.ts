// What a project answers in development, with fingerprints on request, and precompiled: without sockets, for the sake
// of its speed.
import { posix } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { settleProject } from '../../../lib/runtime/app/extras.ts'
import { publishingIn } from '../../../lib/publishing/building/on-request.ts'
import { Pipeline } from '../../../lib/runtime/app/pipeline.ts'
import { locate, rawPath } from '../../../lib/runtime/serving/request.ts'
import type { KoaAssetsOptions } from '../../../lib/runtime/settings/options.ts'
import { withoutBase } from '../../../lib/runtime/urls/spelling.ts'
import { AssetError } from '../../../lib/runtime/errors.ts'
import type { App } from './project.ts'

export const MODES = {
  development: { env: 'development', public: 'public-plain' },
  'fingerprints on request': { env: 'development', fingerprint: true, public: 'public-live' },
  precompiled: { env: 'production' }
} as const satisfies Record<string, KoaAssetsOptions>

export type Mode = keyof typeof MODES

interface Asked {
  readonly app: App
  readonly name: string
}

interface Answer {
  /** The mark in the bytes; undefined: the name is refused, by an error or, in development, by a warning. */
  readonly mark: string | undefined
  /** The marks of what the references in its text lead to, as they are written in the source. */
  readonly references: ReadonlyMap<string, string | undefined>
}

/** A name that no project has. */
const LAST = 'last.svg'

const REFUSED: Answer = { mark: undefined, references: new Map() }
const MARK = /<[^>]*>/
/** The references, as the source has them, in its comment. */
const WRITTEN = /\/\* <[^>]*> (.*) \*\//
const REFERENCE = /(?:url|import)\(["']([^"']*)["']\)/g

export class Server {
  readonly #warnings: string[] = []
  readonly #pipeline: Pipeline
  readonly #isPlain: boolean

  constructor(options: KoaAssetsOptions, mode: Mode) {
    const settings = settleProject({ serve: true, live: false, ...options, ...MODES[mode] }, {})
    this.#pipeline = new Pipeline(settings, message => void this.#warnings.push(message))
    this.#isPlain = mode === 'development'
  }

  async start(): Promise<void> {
    await this.#pipeline.loading
    await this.#pipeline.refresh()
  }

  stop(): void {
    if (this.#isOnRequest) publishingIn(this.#pipeline).sources.unwatch()
  }

  /** Asks for names of apps, as their views do. */
  async answers(asked: readonly Asked[]): Promise<readonly (Asked & Answer)[]> {
    const written = asked.map(each => ({ ...each, url: this.#written(each) }))
    const refused = this.#isPlain ? await this.#warnedOf(asked) : []
    const all: (Asked & Answer)[] = []
    for (const { app, name, url } of written) {
      const path = url && withoutBase(url, this.#pipeline.settings.base)
      const isRefused = path === undefined || refused.includes(path)
      all.push({ app, name, ...(isRefused ? REFUSED : await this.#answerAt(path)) })
    }
    return all
  }

  get #isOnRequest(): boolean {
    return this.#pipeline.settings.apps.some(({ compile }) => compile)
  }

  #written({ app, name }: Asked): string | undefined {
    try {
      return this.#pipeline.viewHelpers(app.name).path(name)
    } catch (error) {
      if (!(error instanceof AssetError)) throw error
      return undefined
    }
  }

  /** Waits for the check of the last name, which has no source, and returns the paths of those warned of. */
  async #warnedOf([first]: readonly Asked[]): Promise<readonly string[]> {
    if (first) this.#written({ ...first, name: LAST })
    while (!this.#warnings.some(each => each.includes(LAST))) await setImmediate()
    return this.#warnings.flatMap(each => /a page links to (\/[^ ,;:]*)/.exec(each)?.[1] ?? [])
  }

  async #answerAt(path: string): Promise<Answer> {
    const text = await this.#textAt(path)
    const mark = text && MARK.exec(text)?.[0]
    if (!mark) return REFUSED
    const references = new Map<string, string | undefined>()
    const written = WRITTEN.exec(text)?.[1]?.split(' ') ?? []
    for (const [at, [, reference = '']] of [...text.matchAll(REFERENCE)].entries()) {
      const isAbsolute = reference.startsWith('/')
      // A browser encodes what is written without.
      const url = encodeURI(decodeURI(reference))
      const to = isAbsolute
        ? withoutBase(url, this.#pipeline.settings.base)
        : posix.join(posix.dirname(path), url)
      references.set(written[at] ?? '', MARK.exec((await this.#textAt(to)) ?? '')?.[0])
    }
    return { mark, references }
  }

  async #textAt(path: string): Promise<string | undefined> {
    const wanted = locate(rawPath(path), this.#pipeline.settings)
    if (typeof wanted !== 'object') return undefined
    const found = await this.#pipeline.current(wanted)
    return found?.variants[0].body?.toString()
  }
}
