// Both middleware, and koaFiles. Each half has an entry of its own as well, which does not load the context types of the other.
export * from './koa-assets.ts'
export * from './koa-http-cache.ts'
export * from './koa-files.ts'
