declare module 'koa2' {
  // The same shape, as far as these specs use it.
  export { default } from 'koa'
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
