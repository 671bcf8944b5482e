import { settleForPrecompile } from '../../../lib/runtime/app/extras.ts'
import { checkViews as check } from '../../../lib/extras/names/check.ts'
import type { KoaAssetsOptions } from '../../../lib/koa-assets.ts'

/** What is wrong in views, for options as they are given. */
export function checkViews(options: KoaAssetsOptions, globs: readonly string[]) {
  return check(settleForPrecompile(options), globs)
}
