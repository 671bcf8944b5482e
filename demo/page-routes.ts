/** The pages. Their templates get asset URLs from the view helpers. */
import { Router } from '@koa/router'
import { records } from './records.ts'
import { render } from './views.ts'

export const pageRoutes = new Router()

// The probe of a server in front: deploy/varnish/replicas.vcl.
pageRoutes.get('/health', ctx => {
  ctx.cacheControl('no-store')
  ctx.body = 'ok'
})
pageRoutes.get('/', ctx => render(ctx, 'web/home', { assetsOfThePage }))
pageRoutes.get('/packages', ctx => render(ctx, 'web/packages'))
pageRoutes.get('/caching', ctx => render(ctx, 'web/caching'))
pageRoutes.get('/admin', ctx => render(ctx, 'admin/records', { records }))

/** The name of each asset, its source, and how it is published. */
const assetsOfThePage = [
  ['app.css', 'apps/web/assets/stylesheets/app.css.scss', 'Sass, with partials'],
  ['app.js', 'apps/web/assets/javascripts/app.js.ts', 'TypeScript'],
  ['logo.svg', 'apps/web/assets/images/logo.svg', 'copied'],
  ['hills.png', 'apps/web/assets/images/hills.png', 'copied'],
  ['inter-400.woff2', 'apps/web/assets/fonts/inter-400.woff2', 'copied'],
  ['favicon.ico', 'apps/web/assets/favicon.ico', 'copied'],
  ['confetti.css', 'packages/confetti/assets/stylesheets/confetti.css', 'from a package, copied'],
  ['confetti.js', 'packages/confetti/assets/javascripts/confetti.js', 'from a package, copied']
] as const
