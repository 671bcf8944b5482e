// The scripts of client/, for browsers.
import { readFile } from 'node:fs/promises'
import type { Handler } from './handler.ts'

const NAMES = [
  'live',
  'live-channel',
  'live-images',
  'live-overlay',
  'live-rules',
  'live-stylesheets'
].map(name => `${name}.js`)

/** By name. They refer to each other by relative URLs. */
export const clientScripts: readonly (readonly [name: string, handler: Handler])[] = NAMES.map(
  name => [
    name,
    async ctx => {
      ctx.type = 'text/javascript'
      ctx.set({ 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' })
      ctx.body = await readFile(new URL(`client/${name}`, import.meta.url))
    }
  ]
)
