// What the commands tell, for options as they are given.
import type { KoaAssetsOptions } from '../../../lib/koa-assets.ts'
import { settleForPrecompile, settleProject } from '../../../lib/runtime/app/extras.ts'
import { explain as explainAt } from '../../../lib/extras/telling/explain.ts'
import { listAssets as list } from '../../../lib/extras/telling/list-command.ts'

export const explain = (asked: string, options?: KoaAssetsOptions) =>
  explainAt(asked, settleProject(options))

export const listAssets = (options: KoaAssetsOptions) => list(settleForPrecompile(options))
