// The requests by which an application's static layer is compared before and after its move.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'

/** Paths of an application. */
export interface Paths {
  /** A script of more than 2 KiB. */
  readonly script: string
  /** A picture of 20 bytes. */
  readonly image: string
  /** A folder with files, without the slash at its end. */
  readonly folder: string
  /** What has neither file nor route, beside the script. */
  readonly missing: string
  /** A page that a route or a single-page application responds with. */
  readonly page: string
  /** Whatever else is special. */
  readonly more: readonly string[]
}

export interface Request {
  readonly name: string
  readonly path: string
  readonly method?: string
  /** Some contain what the response to a plain GET of the script contained. */
  readonly headers?: (script: IncomingHttpHeaders) => OutgoingHttpHeaders
}

const NAVIGATION = {
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
  accept: 'text/html,application/xhtml+xml,*/*;q=0.8'
}
const FETCH = { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty', accept: '*/*' }
const YEAR_MS = 31_536_000_000
const NO_TAG = '"none"'

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** By name, the fields of a GET of the script. */
const fields: Readonly<Record<string, (script: IncomingHttpHeaders) => OutgoingHttpHeaders>> = {
  'inm-own': ({ etag = NO_TAG }) => ({ 'if-none-match': etag }),
  'inm-weak': ({ etag = NO_TAG }) => ({ 'if-none-match': `W/${etag.replace(/^W\//, '')}` }),
  'inm-list': ({ etag = NO_TAG }) => ({ 'if-none-match': `"a", ${etag}, "b"` }),
  'inm-star': () => ({ 'if-none-match': '*' }),
  'inm-other': () => ({ 'if-none-match': '"other"' }),
  'ims-own': script => ({ 'if-modified-since': script['last-modified'] }),
  'ims-later': () => ({ 'if-modified-since': new Date(Date.now() - 1000).toUTCString() }),
  'ims-earlier': () => ({ 'if-modified-since': new Date(YEAR_MS).toUTCString() }),
  'ims-bad': () => ({ 'if-modified-since': 'yesterday' }),
  'inm-other-ims-own': script => ({
    'if-none-match': '"other"',
    'if-modified-since': script['last-modified']
  }),
  'im-own': ({ etag = NO_TAG }) => ({ 'if-match': etag }),
  'im-other': () => ({ 'if-match': '"other"' }),
  'ius-own': script => ({ 'if-unmodified-since': script['last-modified'] }),
  'ius-earlier': () => ({ 'if-unmodified-since': new Date(YEAR_MS).toUTCString() }),
  'no-cache': () => ({ 'cache-control': 'no-cache', pragma: 'no-cache' }),
  'range-first': () => ({ range: 'bytes=0-9' }),
  'range-open': () => ({ range: 'bytes=100-' }),
  'range-last': () => ({ range: 'bytes=-10' }),
  'range-whole': () => ({ range: 'bytes=0-' }),
  'range-too-long': () => ({ range: 'bytes=0-99999999' }),
  'range-beyond': () => ({ range: 'bytes=99999999-' }),
  'range-several': () => ({ range: 'bytes=0-1,4-5' }),
  'range-backwards': () => ({ range: 'bytes=9-1' }),
  'range-unreadable': () => ({ range: 'bytes=a-b' }),
  'range-unit': () => ({ range: 'pages=1-2' }),
  'range-if-own': ({ etag = NO_TAG }) => ({ range: 'bytes=0-9', 'if-range': etag }),
  'range-if-other': () => ({ range: 'bytes=0-9', 'if-range': '"other"' }),
  'range-if-date': script => ({ range: 'bytes=0-9', 'if-range': script['last-modified'] }),
  'range-inm-own': ({ etag = NO_TAG }) => ({ range: 'bytes=0-9', 'if-none-match': etag }),
  'range-gzip': () => ({ range: 'bytes=0-9', 'accept-encoding': 'gzip' }),
  gzip: () => ({ 'accept-encoding': 'gzip' }),
  br: () => ({ 'accept-encoding': 'br' }),
  browser: () => ({ 'accept-encoding': 'gzip, deflate, br' }),
  'gzip-alone': () => ({ 'accept-encoding': 'gzip, *;q=0' }),
  'gzip-q0': () => ({ 'accept-encoding': 'gzip;q=0' }),
  'gzip-before-br': () => ({ 'accept-encoding': 'br;q=0.1, gzip' }),
  'no-identity': () => ({ 'accept-encoding': 'gzip, identity;q=0' }),
  authorization: () => ({ authorization: 'Bearer x' }),
  cookie: () => ({ cookie: 'session=x' })
}

/** By name, another spelling of the script's path. */
const spellings: Readonly<Record<string, (path: string) => string>> = {
  query: path => `${path}?v=1&v=2`,
  'slash-at-end': path => `${path}/`,
  'two-slashes': path => `/${path}`,
  'dot-segment': path => `/.${path}`,
  'dot-dot': path => path.replace(/[^/]+$/, 'x/../$&'),
  'encoded-dot-dot': path => path.replace(/[^/]+$/, 'x/%2e%2e/$&'),
  'out-of-the-root': path => path.replace(/[^/]+$/, '../../../../package.json'),
  'out-encoded': path => path.replace(/[^/]+$/, '..%2f..%2f..%2f..%2fpackage.json'),
  'encoded-letter': path => path.replace(/j(?=s$)/, '%6a'),
  'bad-percent': path => `${path}%`,
  'bad-utf-8': path => `${path}%ff`,
  nul: path => `${path}%00.png`,
  backslash: path => path.replace(/[/](?=[^/]+$)/, '%5c'),
  'upper-case': path => path.replace(/[^/]+$/, name => name.toUpperCase()),
  dotfile: path => path.replace(/[^/]+$/, '.env')
}

/** Names of requests to which a server usually responds alike, by the name of the group. */
export const GROUPS: Readonly<Record<string, readonly string[]>> = {
  ranges: [
    ...['range-first', 'range-open', 'range-last', 'range-whole', 'range-too-long', 'range-if-own'],
    ...['range-if-date', 'range-gzip']
  ],
  revalidations: [
    ...['inm-own', 'inm-weak', 'inm-list', 'inm-star', 'ims-own', 'ims-later', 'range-inm-own'],
    'head-inm-own'
  ],
  'unsafe-methods': ['POST', 'PUT', 'PATCH', 'DELETE'],
  'undecodable-paths': ['bad-percent', 'bad-utf-8', 'nul']
}

export function requestsOf({ script, image, folder, missing, page, more }: Paths): Request[] {
  const others: Readonly<Record<string, readonly [string, OutgoingHttpHeaders?, string?]>> = {
    'head-range': [script, { range: 'bytes=0-9' }, 'HEAD'],
    'head-gzip': [script, { 'accept-encoding': 'gzip' }, 'HEAD'],
    image: [image, { 'accept-encoding': 'gzip, deflate, br' }],
    folder: [folder],
    'folder-slash': [`${folder}/`],
    missing: [missing],
    'missing-head': [missing, {}, 'HEAD'],
    'missing-post': [missing, {}, 'POST'],
    'missing-navigation': [missing, NAVIGATION],
    'page-navigation': [page, NAVIGATION],
    'page-fetch': [page, FETCH],
    'page-json': [page, { accept: 'application/json' }],
    'page-curl': [page, { accept: '*/*' }],
    'page-html': [page, { accept: 'text/html' }],
    'page-head': [page, NAVIGATION, 'HEAD'],
    'page-post': [page, NAVIGATION, 'POST'],
    'page-gzip': [page, { ...NAVIGATION, 'accept-encoding': 'gzip' }],
    ...Object.fromEntries(more.map(path => [path, [path, NAVIGATION]]))
  }
  return [
    ...methods.map(method => ({ name: method, path: script, method })),
    ...Object.entries(fields).map(([name, headers]) => ({ name, path: script, headers })),
    { name: 'head-inm-own', path: script, method: 'HEAD', headers: fields['inm-own'] },
    ...Object.entries(spellings).map(([name, spell]) => ({ name, path: spell(script) })),
    ...Object.entries(others).map(([name, [path, headers = {}, method = 'GET']]) => ({
      ...{ name, path, method },
      headers: () => headers
    }))
  ] as Request[]
}
