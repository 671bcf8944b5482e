export const name = 'koa-fresh-assets'

export {
  type CacheDirective,
  type CacheDirectiveName,
  type CacheDirectiveOptions,
  type Fresh,
  type FreshOptions,
  type FreshValidators,
  Halt,
  type HttpCacheOptions,
  type HttpCacheWords,
  koaHttpCache,
  type ResourceState
} from './koa-http-cache.ts'
