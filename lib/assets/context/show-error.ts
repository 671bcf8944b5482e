// In development, the response for what has to be fixed first.
import type { Context } from 'koa'
import type { AssetError } from '../../errors.ts'
import { reportErrorPage } from '../serving/koa/no-file.ts'
import type { Settings } from '../settings/settings.ts'

/** A page for browsers, else text. */
export async function showError(
  ctx: Context,
  error: AssetError,
  settings: Settings
): Promise<void> {
  const type = ctx.accepts('text', 'html') === 'html' ? 'html' : 'text'
  const { errorPage } = await import('../inventory/error-page.ts')
  ctx.status = error.status
  ctx.type = type
  ctx.set('Cache-Control', 'no-store')
  ctx.body = await errorPage(error, settings, type)
  reportErrorPage(ctx, error)
  ctx.app.emit('error', error, ctx)
}
