/** A route for each use of koaHttpCache's methods. The page /caching sends requests to them. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Router } from '@koa/router'
import type { Context } from 'koa'
import { longest, readText } from './read-text.ts'
import { edit, records, type DemoRecord } from './records.ts'

export const cachingRoutes = new Router({ prefix: '/caching' })

cachingRoutes.use((ctx, next) => {
  // Replaced when the route does its work.
  ctx.set('X-Work', 'skipped')
  return next()
})

// Cache-Control: which caches may store the response, and for how long.
cachingRoutes.get('/weather', async ctx => {
  ctx.cacheControl('public', { maxAge: 60, staleWhileRevalidate: 600 })
  ctx.body = await work(ctx, records.weather)
})

// Expires: the same lifetime as a date, which HTTP/1.0 caches also understand.
cachingRoutes.get('/timetable', async ctx => {
  ctx.expires(900, 'public')
  ctx.body = await work(ctx, records.timetable)
})

// An ETag: a client that has this revision gets a 304, and the route ends at ctx.fresh.
cachingRoutes.get('/article', async ctx => {
  ctx.cacheControl('private', 'no-cache')
  await ctx.fresh(tag('article'))
  ctx.body = await work(ctx, records.article)
})

// A date: a client that has the response of that second gets a 304.
cachingRoutes.get('/news', async ctx => {
  ctx.cacheControl('public', 'no-cache')
  await ctx.fresh(records.news.edited)
  ctx.body = await work(ctx, records.news)
})

// Without halting, the route decides for itself.
cachingRoutes.get('/feed', async ctx => {
  const status = await ctx.fresh(tag('feed'), { halt: false })
  ctx.set('X-Visitor', status === 304 ? 'returning' : 'new')
  if (status) ctx.status = status
  else ctx.body = await work(ctx, records.feed)
})

cachingRoutes.get('/note', async ctx => {
  ctx.cacheControl('private', 'no-cache')
  await ctx.fresh(tag('note'))
  ctx.body = await work(ctx, records.note)
})

// Two people edit one note: the second save gets a 412, and nothing is lost.
cachingRoutes.put('/note', async ctx => {
  if (!ctx.get('If-Match'))
    return reject(ctx, 428, 'Send If-Match with the ETag of the note you edited.')
  // The body is read first, so nothing can happen between the check and the change.
  const text = await readText(ctx)
  if (text === undefined) return reject(ctx, 413, `The note may have at most ${longest} bytes.`)

  await ctx.fresh(tag('note'))
  edit(records.note, text)
  ran(ctx, records.note)
  ctx.etag = tag('note')
  ctx.body = text
})

cachingRoutes.post('/:name/edit', (ctx, next) => {
  const { name = '' } = ctx.params
  if (!isRecord(name)) return next()
  edit(records[name])
  ctx.set('X-Work', 'edited')
  ctx.body = `${name}, revision ${records[name].revision}`
  return undefined
})

/** Stands for the work of a real route: query a database, render a page. */
async function work(ctx: Context, record: DemoRecord): Promise<string> {
  await sleep(250)
  ran(ctx, record)
  return record.text
}

function ran(ctx: Context, record: DemoRecord): void {
  record.work += 1
  ctx.set('X-Work', `ran, ${record.work} so far`)
}

function tag(name: keyof typeof records): string {
  return `${name}-${records[name].revision}`
}

function isRecord(name: string): name is keyof typeof records {
  return Object.hasOwn(records, name)
}

function reject(ctx: Context, status: number, reason: string): void {
  ctx.status = status
  ctx.body = reason
}
