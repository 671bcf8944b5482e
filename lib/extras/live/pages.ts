// Serves what an open page loads and connects to, below `<prefix>/-/`.
import { readFile } from 'node:fs/promises'
import type { Context } from 'koa'
import type { Pages } from '../../runtime/app/extra.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'
import { Channel } from './channel.ts'

/** The scripts for browsers refer to each other by relative URLs. */
const SCRIPTS = ['live.js', 'live-channel.js', 'live-overlay.js', 'live-stylesheets.js']

export function livePages(pipeline: Pipeline): Pages {
  const channel = new Channel(pipeline)
  return {
    ...Object.fromEntries(SCRIPTS.map(name => [name, (ctx: Context) => sendScript(ctx, name)])),
    live: ctx => channel.connect(ctx)
  }
}

async function sendScript(ctx: Context, name: string): Promise<void> {
  ctx.type = 'text/javascript'
  ctx.set({ 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' })
  ctx.body = await readFile(new URL(`client/${name}`, import.meta.url))
}
