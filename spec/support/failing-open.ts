// A server in a process in which one open of a file fails, those of Node's loader of modules included: when it starts, or
// when each of its parts is used for the first time. It sends what its responses were then, and what they are afterwards.
import { createHash } from 'node:crypto'
import { get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pathToFileURL } from 'node:url'
import Koa, { type Context } from 'koa'
import type { KoaAssetsOptions } from '../../lib/runtime/settings/options.ts'

export interface Trial {
  readonly options: KoaAssetsOptions
  readonly paths: readonly string[]
  readonly phase: 'start' | 'first use'
  /** Which open fails, from 1; 0 for none. */
  readonly at: number
  readonly code: 'EMFILE' | 'EIO'
}

export interface Outcome {
  /** The files that were opened in the phase. */
  readonly opened: readonly string[]
  /** The responses after the fault, by path: status and digest. */
  readonly after: Readonly<Record<string, string>>
  /** Why the server did not start, if it did not. */
  readonly ended?: string | undefined
  readonly unhandled: readonly string[]
}

/** What extras add. */
interface Extras {
  readonly sendFile: (path: string, options: object) => Promise<void>
  readonly assets: { readonly entry?: (name: string) => string }
}

type Call = (this: unknown, ...words: unknown[]) => unknown

// Users run CommonJS: from ES modules, Node 20 leaves a rejection where a file within a package of CommonJS fails.
const { koaAssets } = (await import(
  pathToFileURL('dist/koa-assets.js').href
)) as typeof import('../../lib/koa-assets.ts')

const { options, paths, phase, at, code } = JSON.parse(process.argv[2] ?? '') as Trial
const opened: string[] = []
const unhandled: string[] = []
let after: Record<string, string> = {}
let isCounting = false

/** What Node's own modules call, the loader too, which has its functions of `fs` from before any of ours. */
const bindingOf = Reflect.get(process, 'binding') as Call
const binding = bindingOf.call(process, 'fs') as Record<string, Call>
for (const name of ['open', 'openFileHandle', 'readFileUtf8']) {
  const call = binding[name]
  if (!call) continue
  binding[name] = function (this: unknown, ...words) {
    const [path] = words
    if (!isCounting || typeof path !== 'string') return Reflect.apply(call, this, words)
    opened.push(path)
    if (opened.length !== at) return Reflect.apply(call, this, words)
    const error = new Error(`${code}: no luck, open '${path}'`)
    Object.assign(error, { code, syscall: 'open', path, errno: code === 'EIO' ? -5 : -24 })
    if (name === 'openFileHandle') return Promise.reject(error)
    const request = words.find(each => typeof each === 'object' && each && 'oncomplete' in each)
    if (!request) throw error
    setImmediate(() => (request as { oncomplete: Call }).oncomplete(error))
    return undefined
  }
}

function finish(ended?: string): void {
  isCounting = false
  process.send?.({ opened, after, ended, unhandled } satisfies Outcome, () => process.exit())
}

process.on('unhandledRejection', error => unhandled.push(String(error)))
process.on('uncaughtException', error => finish(String(error)))

async function respond(port: number, asked = paths): Promise<Record<string, string>> {
  const responses: Record<string, string> = {}
  for (const path of asked) {
    responses[path] = await new Promise(resolve => {
      get({ host: '127.0.0.1', port, path }, response => {
        const hash = createHash('sha256')
        response.on('data', (chunk: Buffer) => hash.update(chunk))
        response.on('error', error => resolve(String(error)))
        // The page for developers names the root, which is another one in each trial.
        const digest = () => (path.endsWith('/-/') ? '' : hash.digest('hex'))
        response.on('end', () => resolve(`${response.statusCode} ${digest()}`))
      }).on('error', error => resolve(String(error)))
    })
  }
  return responses
}

function start() {
  isCounting = phase === 'start'
  const app = new Koa()
  app.use(koaAssets({ serve: true, ...options }))
  app.use(async ctx => {
    const { assets, sendFile } = ctx as Context & Extras
    const download = { root: '.', download: true }
    if (ctx.path === '/download') return sendFile.call(ctx, 'notes.txt', download)
    if (ctx.path !== '/page') return
    const tags = [assets.stylesheet('app'), assets.javascript('app', { type: 'module' })]
    ctx.body = [...tags, assets.entry?.('src/main.js')].join('\n')
  })
  app.silent = true
  return app
}

try {
  const server = start().listen(0, '127.0.0.1', async () => {
    const { port } = server.address() as AddressInfo
    if (phase === 'first use') await respond(port, ['/none'])
    // The rest of the start is in the background.
    isCounting = true
    await respond(port)
    isCounting = false
    after = await respond(port)
    finish()
  })
} catch (error) {
  finish(String(error))
}
