// Warns once, in development, of other middleware that changes files or names of koaAssets.
import type { Context } from 'koa'
import { requestLine } from '../../runtime/diagnostics.ts'
import { warnOnce } from '../../runtime/errors.ts'
import type { Watch } from '../../runtime/app/extra.ts'
import type { Settings } from '../../runtime/settings/settings.ts'

export function watchNeighbours(settings: Settings): Watch {
  const [warn, reported] = [warnOnce(), new Set<string>()]
  // One warning of each kind is enough: a site has many files, and one order of its middleware.
  const report = (kind: string, message: string) => {
    if (!reported.has(kind)) warn(message)
    reported.add(kind)
  }
  return { file: ctx => watchResponse(ctx, report), provider: providerWatch(settings) }
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

const providers = new WeakMap<Context, Settings>()

/** Warns of a koaAssets that is about to replace the `ctx.assets` of one in front. */
function providerWatch(settings: Settings): Watch['provider'] {
  const { prefix, base } = settings
  const warn = warnOnce()
  return ctx => {
    const inFront = providers.get(ctx)
    providers.set(ctx, settings)
    if (inFront === undefined || inFront === settings || settings.apps.length === 0) return
    if (!inFront.serve || inFront.apps.length === 0) return
    // Requests for an application below koa-mount, which has a base, do not end at the one in front.
    if (inFront.base + inFront.prefix !== base + prefix) return
    warn(
      `two koaAssets with apps share the prefix ${prefix}: the first responds to every URL below it, and ctx.assets ` +
        'is that of the second, which knows no mounts of the first. Give the second apps: false, or, below ' +
        'koa-mount, its path as base, or a prefix and a public directory of its own'
    )
  }
}
