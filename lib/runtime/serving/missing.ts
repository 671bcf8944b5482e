// Responds to requests for which there is no file, with a page or a status, or forbids caches to store the 404.
import type { Context, Next } from 'koa'
import { missed, requestLine, served } from '../diagnostics.ts'
import { errorCode } from '../files/disk.ts'
import { canonicalSegments } from '../urls/spelling.ts'
import { hasOneSpelling, rawPath, isBelow, wantedAt } from './request.ts'
import type { IncomingMessage } from 'node:http'
import { extname } from 'node:path'
import { forbidStoring } from '../http/cache-control.ts'
import { UNSTORED } from '../http/fields.ts'
import { isNavigation } from '../http/requests.ts'
import type { MountSettings, Settings } from '../settings/settings.ts'
import { pageCacheControl } from './directories.ts'
import { toKoa } from './respond.ts'

// Node 26 throws the second one for a port that is not a number.
const REJECTED = new Set(['ERR_INVALID_URL', 'ERR_INVALID_ARG_VALUE'])

/** Tells whether `ctx.path`, which a guard in front compares, is the same path. */
export function isPathForKoa(ctx: Context, path: string): boolean {
  // Koa stores the parsed URL on the request, and requests of two hidden classes slow down what follows.
  if (hasOneSpelling(path) && path === ctx.req.url) return true
  try {
    return ctx.path === path
  } catch (error) {
    // Node rejects some authorities of an absolute request target. Errors of any realm are recognised by name.
    if (REJECTED.has(errorCode(error) ?? '') || (error as Error).name === 'URIError') return false
    throw error
  }
}

export function respondBadRequest(ctx: Context): void {
  ctx.status = 400
  forbidStoring(ctx.res)
  ctx.body = 'Bad Request'
}

/** Tells whether nothing has responded or will respond: Koa starts with a 404. */
export const isUntouched = (ctx: Context): boolean => isNotFound(ctx) && ctx.body == null

/** Leaves out `ctx.respond = false`: then the response is made elsewhere, possibly later. */
function isNotFound({ status, headerSent, respond }: Context): boolean {
  return status === 404 && !headerSent && respond !== false
}

/** Redirects to the URL of a folder, which ends in a slash, so that relative links of its index file work. */
export function redirectToFolder(ctx: Context, base: string): void {
  const path = rawPath(ctx.req.url ?? '')
  const asSent = rawPath(ctx.originalUrl)
  // Middleware in front may have cut off the path at which an application is mounted.
  const isCut = !base && asSent.endsWith(path) && Array.isArray(canonicalSegments(asSent))
  const query = /\?.*/s.exec(ctx.req.url ?? '')?.[0] ?? ''
  ctx.status = 301
  ctx.set('Location', `${isCut ? asSent : base + path}/${query}`)
  ctx.set('Cache-Control', 'no-cache')
  ctx.body = 'Moved Permanently'
}

/** Responds 405 (RFC 9110 section 15.5.6), or 204 to OPTIONS: an asset can only be read. */
export function respondMethodNotAllowed(ctx: Context): void {
  ctx.set('Allow', 'GET, HEAD, OPTIONS')
  ctx.status = ctx.method === 'OPTIONS' ? 204 : 405
}

/** Runs the rest of the stack. A 404 may be the gap of a rolling deploy, so no cache may store it. */
export async function passOnUnstored(ctx: Context, next: Next, exit = toKoa): Promise<void> {
  const reportMiss = () => missed.hasSubscribers && missed.publish(requestLine(ctx.req))
  try {
    await next()
  } catch (error) {
    const thrown = Object(error) as { status?: number; statusCode?: number; headers?: object }
    const isMiss = (thrown.status || thrown.statusCode) === 404
    // Koa 2 responds 404 to an ENOENT from the rest of the stack, whatever its status.
    if (!isMiss && errorCode(error) !== 'ENOENT') throw error
    if (isMiss) reportMiss()
    // Koa drops every field that is not in the error's headers; middleware in front may keep it. A frozen error stays.
    Reflect.set(thrown, 'headers', { ...thrown.headers, 'Cache-Control': 'no-store' })
    if (!ctx.headerSent) forbidStoring(ctx.res)
    throw error
  }
  if (!isNotFound(ctx)) return
  reportMiss()
  exit.notFound(ctx)
}

/** Removes what koaHttpCache wrote for a 404 that becomes a page. */
export function forgetFailure({ res }: Context): void {
  res.removeHeader('X-Http-Cache')
  const isOurs = UNSTORED in res && res.getHeader('Cache-Control') === 'no-store'
  if (isOurs) res.removeHeader('Cache-Control')
}

export function reportErrorPage({ req, response }: Context, { message }: Error): void {
  if (!served.hasSubscribers) return
  const { status, length: bytes } = response
  served.publish({ ...requestLine(req), status, reason: message, coding: 'identity', bytes })
}

/**
 * A path with one of these extensions is that of a file: HTML in its place would hide that it is missing.
 * `br` is not among them: it ends host names, as in `/@ana@example.com.br`.
 */
export const FILE_EXTENSIONS: ReadonlySet<string> = new Set(
  [
    'js mjs cjs jsx ts mts cts tsx wasm',
    'css scss sass less',
    'map',
    'png apng jpg jpeg gif webp avif jxl heic svg ico bmp tif tiff',
    'woff woff2 ttf otf eot',
    'mp3 m4a aac ogg oga opus flac wav weba mp4 m4v mov webm ogv mkv avi m3u8 mpd vtt srt',
    'zip gz tgz tar zst bz2 xz 7z rar',
    'json jsonl ndjson geojson webmanifest xml rss atom txt csv tsv yaml yml toml pdf'
  ].flatMap(list => list.split(' '))
)

export const hasFallbacks = ({ mounts }: Settings): boolean => mounts.some(hasFallback)

export function fallbackFor(req: IncomingMessage, settings: Settings) {
  if (!hasFallbacks(settings)) return undefined
  const path = rawPath(req.url ?? '')
  return isNavigation(req, path) ? fallbackAt(path, settings) : undefined
}

/** Returns what a navigation gets in place of a 404: a file, or a page if `wanted` is undefined. @param raw as sent */
export function fallbackAt(raw: string, settings: Settings) {
  const segments = raw === '/' ? [] : canonicalSegments(raw.replace(/\/$/, ''), true)
  if (!Array.isArray(segments)) return undefined
  const extension = extname(segments.at(-1) ?? '').slice(1)
  if (FILE_EXTENSIONS.has(extension.toLowerCase())) return undefined
  const path = ['', ...segments, ...(raw.endsWith('/') ? [''] : [])].join('/')
  const mount = settings.mounts.find(each => hasFallback(each) && isBelow(`${path}/`, each.urlPath))
  if (!mount || mount.isExcepted?.(path)) return undefined
  const { urlPath, fallback } = mount
  return { mount, wanted: fallback ? wantedAt(`${urlPath}/${fallback}`, settings) : undefined }
}

function hasFallback({ fallback, fallbackPage }: MountSettings): boolean {
  return fallbackPage !== undefined || fallback !== undefined
}

/** @returns false for a mount without a fallback page, and if its function returns none */
export async function respondWithPage(ctx: Context, mount: MountSettings): Promise<boolean> {
  const html = await mount.fallbackPage?.(ctx)
  if (html === undefined) return false
  ctx.status = 200
  ctx.type = 'html'
  if (!ctx.res.hasHeader('Cache-Control'))
    ctx.set('Cache-Control', pageCacheControl(mount, ctx.path))
  ctx.body = html
  return true
}
