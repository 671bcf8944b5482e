/** `render(ctx, 'web/home')` responds with demo/apps/web/views/home.ejs. */
import { join } from 'node:path'
import ejs from 'ejs'
import type { Context } from 'koa'
import { hasDocs, hasVite } from './assets.config.ts'

export async function render(ctx: Context, view: string, locals: object = {}): Promise<void> {
  const [app = '', page = ''] = view.split('/')
  const file = join(import.meta.dirname, 'apps', app, 'views', `${page}.ejs`)
  const production = ctx.app.env === 'production'

  // ctx.state.assets has the view helpers.
  ctx.body = await ejs.renderFile(
    file,
    { ...ctx.state, ...locals, production, vite: hasVite, hasDocs },
    { cache: production }
  )
}
