declare module 'koa2' {
  // The same shape, as far as these specs use it.
  export { default } from 'koa'
}

declare module '@bull-board/koa'
declare module 'koa-conditional-get'
declare module 'koa-range'
declare module 'koa-response-time'
declare module 'lws-static'

// Installed by `npm run lane system` alone (spec/system/package.json); npm test checks the types of the rest.
declare module '@20minutes/s3rver'
declare module '@koa/cors'
declare module '@rspack/core'
declare module '@vitejs/plugin-legacy'
declare module 'koa-compress'
declare module 'koa-etag'
declare module 'koa-helmet'
declare module 'koa-session'
declare module 'koa-static'
declare module 'sirv'
declare module 'webpack'
