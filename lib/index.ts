// Both middleware. Each has an entry of its own, which leaves the types of the other's context alone.
export * from './koa-assets.ts'
export * from './koa-http-cache.ts'
