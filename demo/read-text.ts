/** Returns the text of a request's body; undefined if it is longer than `longest` bytes. */
import type { Context } from 'koa'

export const longest = 500

export async function readText(ctx: Context): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  // Leaving the loop early must not close the connection, which the response still needs.
  for await (const chunk of ctx.req.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk)
    size += chunk.length
    if (size > longest) return undefined
  }
  return Buffer.concat(chunks).toString()
}
