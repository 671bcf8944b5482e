/** The options of koaAssets, for the server and for the command `koa-fresh-assets`. */
import type { KoaAssetsOptions } from 'koa-fresh-assets'
// oxlint-disable-next-line import/no-unassigned-import -- importing it adds the package's assets
import './packages/confetti/index.ts'

// Finds apps/web and apps/admin.
export default { root: import.meta.dirname } satisfies KoaAssetsOptions
