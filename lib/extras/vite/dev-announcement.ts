// Finds a running dev server of Vite, by what our plugin writes beside the build and what the server responds.
import { readdir } from 'node:fs/promises'
import { get as getOverHttp } from 'node:http'
import { get as getOverHttps } from 'node:https'
import { join, resolve } from 'node:path'
import { isRecord, isText } from '../../runtime/check-options.ts'
import { undefinedIfMissing } from '../../runtime/files/disk.ts'
import { readOpenFile, withFile } from '../../runtime/files/open-file.ts'
import type { MountSettings } from '../../runtime/settings/settings.ts'
import { encodeAsImported } from '../../runtime/urls/spelling.ts'

/** Our plugin writes this beside the build while its dev server runs. */
export interface Announcement {
  /** The origin has no trailing slash. */
  readonly origin: string
  /** Vite's base is the mount's URL path and a slash. */
  readonly base: string
  /** The entries, relative to Vite's root. */
  readonly inputs: readonly string[]
  /** Vite's root, relative to the directory of the build. */
  readonly root: string
  /** The origins at which Vite's client connects to it. */
  readonly sockets?: readonly string[]
  /** True if modules expect React's preamble. */
  readonly isReact?: boolean
  /** The token is different for each dev server. */
  readonly token: string
}

/** The dev server responds with this below its base: it may have ended without removing its announcement. */
export interface DevServerStatus {
  readonly token: string
  /** The time of the last change of each source: `lastHMRTimestamp`. */
  readonly changed: Readonly<Record<string, number>>
}

/** The path of the status below the server's base. */
export const STATUS = '@koa-fresh-assets'

/** @param dir is the directory of the build */
export function announcementIn(dir: string): string {
  return join(dir, '.vite/dev-server.json')
}

export interface RunningVite {
  /** The origin has no trailing slash; it is empty for that of the page. */
  readonly origin: string
  /** The entries; undefined where any name may be one. */
  readonly inputs?: ReadonlySet<string> | undefined
  /** The time of the last change of each source. */
  readonly changed?: ReadonlyMap<string, number>
  /** True if a page needs React's preamble, unless `entry` is told. */
  readonly isReact?: boolean
  /** True if the entries have it, and no other module does. */
  readonly isPrepared?: boolean | undefined
  /** The origins of its WebSocket. */
  readonly sockets?: readonly string[]
  /** An absolute path; undefined when unknown. */
  readonly root?: string
  /** The names in Vite's root; undefined when unknown. A name below one is taken for a source of the front end. */
  readonly top?: ReadonlySet<string>
}

export async function namesIn(directory: string): Promise<ReadonlySet<string>> {
  return new Set(await undefinedIfMissing(readdir(directory)))
}

/** A server that has cost all pages together so many bytes and milliseconds in vain is not asked again. */
const PATIENCE = { bytes: 64 * 1024, ms: 5000 } as const
/** A timer is early by the time that its turn of the event loop has taken before. */
const EARLY_MS = 100

export function announcedFor(
  { dir, urlPath, base: start }: MountSettings,
  warn: (message: string) => void
) {
  const expected = start + encodeAsImported(`${urlPath}/`)
  /** A build that empties the directory removes the file of a server that is still running. */
  let last: string | undefined
  let asked: string | undefined
  let left: Patience = { ...PATIENCE }
  return async (): Promise<RunningVite | undefined> => {
    const text = (await textOf(announcementIn(dir))) ?? last
    last = undefined
    const announced = parse(text)
    if (!isAnnouncement(announced)) return undefined
    const { origin, base, inputs, token, sockets = [], isReact } = announced
    if (base !== expected) {
      const advice = `it must be the mount's URL path, '${expected}'`
      warn(`Vite's dev server has the base '${base}': ${advice}`)
      return undefined
    }
    if (asked !== text) left = { ...PATIENCE }
    asked = text
    if (isSpent(left)) return undefined
    const began = performance.now()
    const response = await responseOf(origin + base + STATUS, left)
    const status: Partial<DevServerStatus> = parse(response)
    if (status.token !== token) {
      left.bytes -= response.length
      left.ms -= performance.now() - began
      const way = `restart Vite, or remove ${announcementIn(dir)}`
      if (isSpent(left))
        warn(`Vite does not respond at ${origin}, so pages no longer wait for it: ${way}`)
      return undefined
    }
    left = { ...PATIENCE }
    last = text
    const root = resolve(dir, announced.root)
    return {
      origin,
      inputs: new Set(inputs),
      changed: new Map(Object.entries(status.changed ?? {})),
      isPrepared: isReact,
      sockets: sockets.filter(isSocket),
      root,
      top: await namesIn(root)
    }
  }
}

interface Patience {
  bytes: number
  ms: number
}

function isSpent({ bytes, ms }: Patience): boolean {
  return bytes <= 0 || ms < EARLY_MS
}

async function textOf(file: string): Promise<string | undefined> {
  const read = await withFile(file, open =>
    open.stats.size > PATIENCE.bytes ? undefined : readOpenFile(open)
  )
  return read?.bytes.toString()
}

/** Pages write it into a Content-Security-Policy, so it must be nothing but an origin. */
const isSocket = (text: string) => /^wss?:\/\/[\w.:[\]-]+$/.test(text)

/** Any program can write to the directory of a build. */
function isAnnouncement(
  value: Partial<Record<keyof Announcement, unknown>>
): value is Announcement {
  const { origin, base, inputs, root, token, sockets = [] } = value
  return (
    isText(origin) &&
    /^https?:/.test(origin) &&
    URL.canParse(origin) &&
    [base, `./${String(root)}`, token].every(isText) &&
    [inputs, sockets].every(each => Array.isArray(each) && each.every(isText))
  )
}

/** Returns an empty object for anything else: the port may be another program's by now. */
function parse(text = ''): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : {}
  } catch (error) {
    if (error instanceof SyntaxError) return {}
    throw error
  }
}

/** Returns the response as far as it came within the limits; empty when nothing did. */
function responseOf(url: string, { bytes, ms }: Patience): Promise<string> {
  return new Promise(resolve => {
    const get = url.startsWith('https:') ? getOverHttps : getOverHttp
    const signal = AbortSignal.timeout(Math.ceil(ms))
    // Its certificate is one that a developer made on this machine.
    const request = get(url, { rejectUnauthorized: false, signal }, response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
        if (text.length >= bytes) response.destroy()
      })
      response.on('close', () => resolve(text))
    })
    request.on('error', () => resolve(''))
  })
}
