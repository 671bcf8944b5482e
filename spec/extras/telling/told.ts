// What the commands tell, for options as they are given.
import type { KoaAssetsOptions } from '../../../lib/koa-assets.ts'
import { settleForPrecompile, settleProject } from '../../../lib/runtime/app/extras.ts'
import { Pipeline } from '../../../lib/runtime/app/pipeline.ts'
import { listAssets as list } from '../../../lib/extras/telling/commands.ts'
import { explain as explainAt } from '../../../lib/extras/telling/explain.ts'

export type Explanation = Awaited<ReturnType<typeof explainAt>>

export const explain = (asked: string, options?: KoaAssetsOptions) =>
  explainAt(new Pipeline(settleProject(options), () => undefined), asked)

export const listAssets = (options: KoaAssetsOptions) => list(settleForPrecompile(options))
