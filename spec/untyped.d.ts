declare module 'koa2' {
  // The same shape, as far as these specs use it.
  export { default } from 'koa'
}

declare module '@bull-board/koa' {
  import type { Middleware } from 'koa'
  interface Entry {
    readonly method: 'get'
    readonly route: readonly string[]
    readonly handler: () => { readonly name: string; readonly params: object }
  }
  export class KoaAdapter {
    setBasePath(path: string): this
    setStaticPath(route: string, directory: string): this
    setViewsPath(directory: string): this
    setApiRoutes(routes: readonly never[]): this
    setQueues(queues: ReadonlyMap<string, object>): this
    setErrorHandler(handle: (error: Error) => { status: number; body: string }): this
    setEntryRoute(entry: Entry): this
    registerPlugin(): Middleware
  }
}

declare module 'lws-static' {
  import type { Middleware } from 'koa'
  export default class LwsStatic {
    middleware(options: { directory: string; staticExtensions: readonly string[] }): Middleware
  }
}

declare module 'koa-conditional-get' {
  import type { Middleware } from 'koa'
  export default function conditional(): Middleware
}

declare module 'koa-response-time' {
  import type { Middleware } from 'koa'
  export default function responseTime(options?: { readonly hrtime?: boolean }): Middleware
}

declare module 'koa-range' {
  import type { Middleware } from 'koa'
  const range: Middleware
  export default range
}

// Installed by `npm run lane system` alone (spec/system/package.json); npm test checks the types of the rest.
declare module '@20minutes/s3rver'
declare module '@koa/cors'
declare module '@rspack/core'
declare module '@vitejs/plugin-legacy'
declare module '@vitejs/plugin-vue'
declare module 'koa-compress'
declare module 'koa-etag'
declare module 'koa-helmet'
declare module 'koa-logger'
declare module 'koa-send'
declare module 'koa-session'
declare module 'koa-static'
declare module 'koa-static-cache'
declare module 'nunjucks'
declare module 'sirv'
declare module 'webpack'
