// A project on disk and an application over it, gone when the spec is over.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { realpathSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { Http2Server } from 'node:http2'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { AddressInfo } from 'node:net'
import type { ExecutionContext } from './test.ts'
import Koa, { type Middleware } from 'koa'
import type { KoaAssetsOptions } from '../../lib/runtime/settings/options.ts'
import { koaAssets } from '../../lib/koa-assets.ts'
import { ask, type Answer, type Question } from './ask.ts'
// oxlint-disable-next-line import/no-unassigned-import -- what a site's log is told belongs to no report
import './warnings.ts'
import { isWindows } from './windows.ts'

export type Files = Readonly<Record<string, string | Uint8Array>>

/** A directory with these files, by path; removed when the spec is over. */
export function makeProject(t: Pick<ExecutionContext, 'teardown'>, files: Files = {}): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'koa-fresh-assets-')))
  t.teardown(() => removeProject(root))
  writeFiles(root, files)
  return root
}

/** Removes a folder at once. A disk in user space (FUSE) has what was just closed in its folder for a moment longer. */
export const removeFolder = (path: string): void =>
  rmSync(path, { recursive: true, maxRetries: 10 })

/** On Windows what a watcher has open stays until its process ends: `npm run lane windows` has a folder for these. */
export async function removeProject(root: string): Promise<void> {
  const remove = () => rm(root, { recursive: true, force: true, maxRetries: 3, retryDelay: 20 })
  await remove().catch(async (error: NodeJS.ErrnoException) => {
    if (isWindows) return
    if (error.code !== 'EACCES') throw error
    openFolders(root)
    await remove()
  })
}

/** Root may remove what is in a folder that a spec has closed; an ordinary user opens it again. */
function openFolders(folder: string): void {
  chmodSync(folder, 0o755)
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) openFolders(join(folder, entry.name))
}

export function writeFiles(root: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
}

/** Leads a link to another place in one step, as a deploy does. */
export function leadLink(link: string, to: string): void {
  symlinkSync(to, `${link}.next`)
  renameSync(`${link}.next`, link)
}

export interface Site {
  readonly root: string
  readonly app: Koa
  readonly server: Server
  readonly port: number
  /** What was emitted as `error` on the application. */
  readonly errors: Error[]
  /** Sends the path as it is, and gives back what came over the wire. */
  readonly ask: (path: string, question?: Question) => Promise<Answer>
  /** Where a file lies: below `apps/web/assets`, or below the root when it says `/` first. */
  readonly at: (path: string) => string
  /** Writes a file, with an mtime in seconds if one is given. */
  readonly write: (path: string, content: string | Uint8Array, mtime?: number) => void
  /** A file's text; undefined when it is not there. */
  readonly read: (path: string) => string | undefined
}

export interface SiteOptions extends KoaAssetsOptions {
  /** Stands behind koaAssets. */
  readonly routes?: Middleware
  /** Stands in front of koaAssets. */
  readonly front?: Middleware
  /** Another Koa than the newest. */
  readonly koa?: new () => Koa
  /** What koaAssets is part of. */
  readonly wrap?: (assets: Middleware) => Middleware
  readonly maxHeaderSize?: number
}

/** A site of one app, `web`, whose files are given below `apps/web/assets`, unless they say `/` first. */
export async function makeSite(
  t: ExecutionContext,
  files: Files = {},
  { routes, front, koa = Koa, wrap = assets => assets, maxHeaderSize, ...options }: SiteOptions = {}
): Promise<Site> {
  const root = options.root ?? makeProject(t)
  for (const [path, content] of Object.entries(files)) writeFiles(root, { [place(path)]: content })
  const app = new koa()
  const errors: Error[] = []
  app.on('error', error => errors.push(error))
  if (front) app.use(front)
  app.use(wrap(koaAssets({ env: 'development', serve: true, ...options, root })))
  if (routes) app.use(routes)
  // On a busy machine a request may wait for its turn longer than Node allows.
  const limits = { headersTimeout: 0, requestTimeout: 0, maxHeaderSize }
  const server = createServer(limits, app.callback())
  const port = await open(t, server)
  const at = (path: string) => join(root, place(path))
  return {
    root,
    app,
    server,
    port,
    errors,
    ask: (path, question) => ask(port, path, question),
    at,
    write(path, content, mtime) {
      writeFiles(root, { [place(path)]: content })
      if (mtime !== undefined) utimesSync(at(path), mtime, mtime)
    },
    read: path => (existsSync(at(path)) ? readFileSync(at(path), 'utf8') : undefined)
  }
}

// Longer than any spec: a request on a kept connection never crosses with the server's closing it, which a busy
// machine would be slow to tell the client.
const KEEP_ALIVE_MS = 3_600_000

/** The loopback port at which a server listens until the spec is over. */
export async function open(
  t: Pick<ExecutionContext, 'teardown'>,
  server: Server | Http2Server
): Promise<number> {
  if ('keepAliveTimeout' in server) server.keepAliveTimeout = KEEP_ALIVE_MS
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.close()
    if ('closeAllConnections' in server) server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

/** The path from the root of a file that is given below `apps/web/assets`, unless it says `/` first. */
export function place(path: string): string {
  return path.startsWith('/') ? path.slice(1) : `apps/web/assets/${path}`
}
