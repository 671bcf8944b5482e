/** The options of koaAssets, shared by the server and the command `koa-fresh-assets`. */
import { existsSync } from 'node:fs'
import type { KoaAssetsOptions } from 'koa-fresh-assets'
// oxlint-disable-next-line import/no-unassigned-import -- importing it adds the package's assets
import './packages/confetti/index.ts'

/** Set by `npm run demo vite` and `npm run demo production`. Without it there is no page /vite. */
export const hasVite = Boolean(process.env['DEMO_VITE'])

/** True if `npm run docs` has built the documentation. */
export const hasDocs = existsSync(`${import.meta.dirname}/../site/dist/index.html`)

/** The build of Vite. Its dev server is found, or passed by server.ts. */
export const viteApp = { dir: 'vite/dist', manifest: 'vite/dist/.vite/manifest.json' }

// The apps are found on disk: apps/web and apps/admin.
export default {
  root: import.meta.dirname,
  // Modules may import these packages, and views may write these SVG files into a page.
  packages: ['react', 'react-dom'],
  inline: 'icons/*.svg',
  live: { watch: ['apps/web/views', 'apps/admin/views'], editor: 'vscode' },
  mounts: {
    ...(hasVite && { '/vite-app': viteApp }),
    ...(hasDocs && { '/docs': { dir: '../site/dist', index: 'index.html', extensions: ['html'] } })
  }
} satisfies KoaAssetsOptions
