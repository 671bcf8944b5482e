// Warns of doubtful settings when a server starts and, once, in development, of other middleware that affects files.
import type { Context } from 'koa'
import type { Extra } from '../../runtime/app/extra.ts'
import { requestLine } from '../../runtime/diagnostics.ts'
import { warnOnce } from '../../runtime/errors.ts'
import { noticesAtStart } from './notices.ts'

export const warnings: Extra = {
  name: 'warnings',
  run: project => ({
    notices: noticesAtStart(project),
    watch: project.env === 'development' ? watchNeighbours() : undefined
  })
}

function watchNeighbours(): (ctx: Context) => void {
  const [warn, reported] = [warnOnce(), new Set<string>()]
  // One warning of each kind is enough: a site has many files, and one order of its middleware.
  const report = (kind: string, message: string) => {
    if (!reported.has(kind)) warn(message)
    reported.add(kind)
  }
  return ctx => watchResponse(ctx, report)
}

function watchResponse(ctx: Context, report: (kind: string, message: string) => void): void {
  const { req, res } = ctx
  if (res.headersSent) return
  const valueOf = (name: string) => String(res.getHeader(name) ?? '')
  const hadCookie = res.hasHeader('Set-Cookie')
  const range = valueOf('Content-Range')
  const { method, path } = requestLine(req)
  // Koa keeps `ctx.cookies` under a symbol once they are read.
  const symbols = Object.getOwnPropertySymbols(ctx).map(each => each.description)
  const hasRead = symbols.includes('context#cookies')
  if (hasRead && !hadCookie && !FOR_ONE_VISITOR.test(valueOf('Cache-Control'))) {
    report(
      'guard',
      `${method} ${path} responds with a file for everybody, although middleware in front has read a cookie: if that ` +
        'guards the file, let it set Cache-Control to private, no-cache; if not, register koaAssets before it'
    )
  }
  res.once('finish', () => {
    const isNew = res.hasHeader('Set-Cookie') && !hadCookie
    if (isNew && !FOR_ONE_VISITOR.test(valueOf('Cache-Control'))) {
      report(
        'cookie',
        `${method} ${path} responds with a file for everybody, and with a Set-Cookie that middleware in front ` +
          'added after its next(): a shared cache may give the cookie to other visitors. Register koaAssets before ' +
          'what sets the cookie, such as a session'
      )
    }
    if (res.statusCode === 206 && valueOf('Content-Range') !== range) {
      const was = range === '' ? 'the whole file' : `the part '${range}'`
      report(
        'range',
        `${method} ${path}: middleware in front, such as koa-range, took '${valueOf('Content-Range')}' out of ` +
          `${was}, so the client gets other bytes than it asked for. Remove that middleware: koaAssets and ` +
          'ctx.sendFile respond to Range themselves'
      )
    }
  })
}

// Production would send as `public` what development sends as `no-cache`.
const FOR_ONE_VISITOR = /(?:^|[ ,])(?:private|no-store)(?:[ ,=]|$)/i
