// A project on disk and an application over it, gone when the spec is over.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { AddressInfo } from 'node:net'
import type { ExecutionContext } from 'ava'
import Koa, { type Middleware } from 'koa'
import supertest from 'supertest'
import type { KoaAssetsOptions } from '../../lib/assets/options.ts'
import { koaAssets } from '../../lib/koa-assets.ts'

export type Files = Readonly<Record<string, string | Uint8Array>>

/** A directory with these files, by path; removed when the spec is over. */
export function makeProject(t: ExecutionContext, files: Files = {}): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'koa-fresh-assets-')))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  writeFiles(root, files)
  return root
}

export function writeFiles(root: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
}

export interface Site {
  readonly root: string
  readonly app: Koa
  readonly server: Server
  readonly port: number
  /** What was emitted as `error` on the application. */
  readonly errors: Error[]
  get(path: string): supertest.Test
  head(path: string): supertest.Test
  post(path: string): supertest.Test
}

export interface SiteOptions extends KoaAssetsOptions {
  /** Stands behind koaAssets. */
  readonly routes?: Middleware
}

/** A site of one app, `web`, whose files are given below `apps/web/assets`, unless they say `/` first. */
export async function makeSite(
  t: ExecutionContext,
  files: Files = {},
  { routes, ...options }: SiteOptions = {}
): Promise<Site> {
  const placed = Object.entries(files).map(([path, content]) => [
    path.startsWith('/') ? path.slice(1) : `apps/web/assets/${path}`,
    content
  ])
  const root = options.root ?? makeProject(t, Object.fromEntries(placed))
  const app = new Koa()
  const errors: Error[] = []
  app.on('error', error => errors.push(error))
  app.use(koaAssets({ env: 'development', serve: true, ...options, root }))
  if (routes) app.use(routes)
  const server = createServer(app.callback())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const agent = supertest(server)
  return {
    root,
    app,
    server,
    port: (server.address() as AddressInfo).port,
    errors,
    get: path => agent.get(path),
    head: path => agent.head(path),
    post: path => agent.post(path)
  }
}
