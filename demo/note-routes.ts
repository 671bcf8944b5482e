/** Pages that shared caches keep for an hour, and from which an edit removes them, by cache groups. */
import { Router } from '@koa/router'
import type { Context } from 'koa'
import { editNote, type Note, readNotes } from './notes.ts'
import { longest, readText } from './read-text.ts'
import { render } from './views.ts'

export const noteRoutes = new Router({ prefix: '/caching/notes' })

noteRoutes.get('/', async ctx => {
  const notes = await readNotes()
  // The page of all notes is in the group of each.
  ctx.cacheGroups(...notes.map((_, at) => groupOf(at)))
  await renderNotes(ctx, notes, Array.from(notes.keys()))
})

noteRoutes.get('/:at', async (ctx, next) => {
  const notes = await readNotes()
  const at = Number(ctx.params.at)
  if (!notes[at]) return next()
  ctx.cacheGroups(groupOf(at))
  return renderNotes(ctx, notes, [at])
})

noteRoutes.post('/:at', async (ctx, next) => {
  const at = Number(ctx.params.at)
  if (!(await readNotes())[at]) return next()
  const form = await readText(ctx)
  if (form === undefined) return ctx.throw(413, `The form may have at most ${longest} bytes.`)
  await editNote(at, new URLSearchParams(form).get('text') ?? '')
  // Every cache in front drops the pages with this note, and no other, when this response passes it.
  ctx.invalidateCacheGroups(groupOf(at))
  ctx.status = 303
  return ctx.redirect('/caching/notes')
})

async function renderNotes(ctx: Context, notes: readonly Note[], shown: number[]): Promise<void> {
  // Browsers ask each time; shared caches keep the page until an edit.
  ctx.cacheControl('public', { maxAge: 0, sMaxage: '1h' })
  await ctx.fresh({ etag: shown.map(at => notes[at]?.revision), weak: true })
  await render(ctx, 'web/notes', { notes, shown, rendered: new Date(), pid: process.pid })
}

function groupOf(at: number): string {
  return `note-${at}`
}
