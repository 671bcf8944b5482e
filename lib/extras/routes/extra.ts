// Adds the methods that routes call: for a file, and for what a page is about to load.
import type { Extra } from '../../runtime/app/parts.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'
import { makePreload, type Preload } from './early-preload.ts'
import { HELPERS } from './preload-links.ts'
import { makeSendFile, type SendFile } from './send-file.ts'

export interface RouteMethods {
  /**
   * Lets the browser fetch assets while the page is still being generated: see {@link Preload}.
   *
   * @example
   * ctx.preload('app.css', 'inter-400.woff2')
   */
  preload: Preload
  /**
   * Responds with one file: see {@link SendFile}.
   *
   * @example
   * await ctx.sendFile(`${report.id}.pdf`, { root: 'data/reports', download: report.title + '.pdf' })
   */
  sendFile: SendFile
}

export const routes: Extra<Pipeline> = {
  name: 'routes',
  run: () => ({ helpers: HELPERS }),
  methods: pipeline => {
    const preload = makePreload(pipeline)
    const sendFile = makeSendFile(pipeline)
    return (ctx, hasNames) => {
      ctx.sendFile = sendFile
      if (hasNames) ctx.preload = preload
    }
  }
}
