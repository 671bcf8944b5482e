// A navigation that the rest of the stack leaves as a 404 gets the page of a single-page application.
import type { IncomingMessage } from 'node:http'
import { extname } from 'node:path'
import type { Context } from 'koa'
import { isNavigation } from '../../../http/requests.ts'
import type { MountSettings, Settings } from '../../settings/settings.ts'
import { pageSegments } from '../../urls/canonical-path.ts'
import { pageCacheControl } from '../directories/served-directory.ts'
import { isBelow, rawPath, wantedAt, type Wanted } from '../request-path.ts'

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

/** A navigation that would end in a 404 gets a file or a page of the mount. */
export interface Fallback {
  readonly mount: MountSettings
  /** The mount's file; undefined for a page. */
  readonly wanted: Wanted | undefined
}

export function hasFallbacks({ mounts }: Settings): boolean {
  return mounts.some(hasFallback)
}

export function fallbackFor(req: IncomingMessage, settings: Settings): Fallback | undefined {
  if (!hasFallbacks(settings)) return undefined
  const path = rawPath(req.url ?? '')
  return isNavigation(req, path) ? fallbackAt(path, settings) : undefined
}

/** @param raw as it was sent, with or without a slash at its end */
export function fallbackAt(raw: string, settings: Settings): Fallback | undefined {
  const segments = raw === '/' ? [] : pageSegments(raw.replace(/\/$/, ''))
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

/** @returns false for a mount without such a page, and where its function returns none */
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
