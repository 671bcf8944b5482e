/** The options of koaAssets, shared by the server and the command `koa-fresh-assets`. */
import type { KoaAssetsOptions } from 'koa-fresh-assets'
// oxlint-disable-next-line import/no-unassigned-import -- importing it adds the package's assets
import './packages/confetti/index.ts'

// The apps are found: apps/web and apps/admin.
export default { root: import.meta.dirname } satisfies KoaAssetsOptions
