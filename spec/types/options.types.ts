/** `undefined` means "not set" in every option. Checked by `tsc -p spec/types`, never run. */
import Koa from 'koa'
import { clean, koaAssets, koaHttpCache, precompile, versionOf } from 'koa-fresh-assets'
import type * as types from 'koa-fresh-assets'

/** Code that reads its options from elsewhere has undefined for those that are missing. */
type Unset<T> = { [K in keyof T]-?: undefined }

declare const layer: Unset<types.LayeredOptions>
declare const app: Unset<types.AppOptions>
declare const top: Unset<types.KoaAssetsOptions>

declare const condition: boolean
declare const variable: string | undefined
const mount: types.MountOptions = {
  dir: 'dist',
  dev: condition && 'http://localhost:5173',
  fallback: { file: 'index.html', except: path => path.startsWith('/api/') },
  extensions: ['html']
}
koaAssets({
  apps: false,
  public: false,
  mounts: { '/': mount, '/admin': { ...mount, dev: variable && 'x' } }
})
// Options that live in a file of their own get the dev server of this process.
const built = { mounts: { '/static': { dir: 'dist' } } } satisfies types.KoaAssetsOptions
const withDev = { ...built.mounts['/static'], dev: variable }
koaAssets({ ...built, mounts: { ...built.mounts, '/static': withDev } })
koaAssets({ apps: condition && { web: {} }, mounts: { '/': { dir: 'dist', dev: false } } })
koaAssets(top)
koaAssets({ ...top, root: '/srv', apps: { web: app, admin: undefined } })
koaAssets({ configure: { production: layer, staging: undefined } })
koaAssets({ memory: { maxBytes: undefined, maxFileBytes: undefined }, index: { max: undefined } })
koaAssets({ missing: 'ignore', tails: false })

declare const precompileOptions: Unset<types.PrecompileOptions>
declare const cleanOptions: Unset<types.CleanOptions>

void precompile(top, precompileOptions)
void clean(top, cleanOptions)

declare const cache: Unset<types.KoaHttpCacheOptions>
// The name of earlier versions.
export const sameCache: types.HttpCacheOptions = cache
declare const version: Unset<types.VersionOfOptions>
declare const directive: Unset<types.CacheDirectiveOptions>
declare const halting: Unset<types.FreshOptions>
declare const state: Unset<types.ResourceState>

koaHttpCache(cache)
koaHttpCache({ cacheControl: ['public', directive], version: versionOf('views', version) })
new Koa().use(async ctx => {
  await ctx.fresh(state, halting)
  ctx.preload('app.css')
  ctx.cacheControl('public', { maxAge: 600 })
  ctx.assets.app('admin').stylesheet('app') satisfies string
  await ctx.sendFile('a.pdf', { root: 'data' })
  // @ts-expect-error there is no such helper
  ctx.assets.styleSheet('app')
})
