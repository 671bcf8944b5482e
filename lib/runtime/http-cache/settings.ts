// Checks the options of koaHttpCache, and makes frozen settings of them.
import type { Context } from 'koa'
import { CACHE_CONTROL, personalCacheControl } from '../http/cache-control.ts'
import { TOKEN } from '../http/fields.ts'
import {
  check,
  flag,
  isRecord,
  isText,
  oneOf,
  optionError,
  record,
  settleTable,
  withDefault,
  type Expectation
} from '../check-options.ts'
import {
  cacheControlFields,
  expiryFields,
  parseDirectives,
  readSeconds,
  type CacheDirective,
  type Lifetime
} from './directives.ts'

/** `koaHttpCache` takes these options; `undefined` means "not set". */
export interface KoaHttpCacheOptions {
  /**
   * Responses to GET and HEAD that have a cacheable status, and whose route set neither `Cache-Control` nor `Expires`,
   * get these directives, or this text of `Cache-Control`. They become `private, no-cache` if the request has
   * `Authorization` or one of `credentials`, if a cookie was set or read (`ctx.cookies.get`, `ctx.session`), for a
   * stream, and if the Content-Security-Policy has a nonce; for server-sent events they become `no-store`. `Vary` names
   * the credentials, and the fields by which `ctx.accepts…()` negotiated. Default: none.
   * @example
   * koaHttpCache({ cacheControl: ['private', { maxAge: '1m' }] })
   * koaHttpCache({ cacheControl: 'private, max-age=60' })
   */
  readonly cacheControl?: CacheDirective | readonly CacheDirective[] | (string & {}) | undefined
  /** These responses get this lifetime, as `ctx.expires` writes it: seconds or `'10m'`. Default: none. */
  readonly expires?: Lifetime | undefined
  /**
   * A default is `private, no-cache` for a request that has one of these fields or `Authorization`, and `Vary` names
   * them and `Authorization`, because the page differs without them. Name the fields by which routes know a visitor:
   * an API key, a field that an authenticating proxy adds, `Cookie` if it is read without `ctx.cookies`. With `false`,
   * `Vary` names none: no page depends on `Authorization`. Default: `[]`.
   * @example
   * koaHttpCache({ cacheControl: ['public', { maxAge: '1m' }], credentials: ['X-API-Key'] })
   */
  readonly credentials?: readonly string[] | false | undefined
  /**
   * Returns a string that is mixed into every ETag of `ctx.fresh`, so that a deploy invalidates every page: the
   * deploy's ID, `ctx.assets.version`, `versionOf('views')`. A route that gives only a date then gets an ETag
   * as well, and If-Modified-Since alone is a 200, since a date shows no new version. The empty string and
   * `undefined` are not mixed in. Methods other than GET, HEAD and QUERY are evaluated without it: a deploy
   * changes no state that they overwrite. Any other result is a TypeError. Default: none.
   */
  readonly version?: ((ctx: Context) => string | undefined) | undefined
  /**
   * With `exact`, If-Modified-Since gets a 304 if it equals Last-Modified. With `before`, as in RFC 9110 section
   * 13.1.3, a later date that is not in the future gets one as well. Default: `exact`.
   */
  readonly ifModifiedSince?: 'exact' | 'before' | undefined
  /**
   * Strings, buffers and JSON get a weak ETag of their content, unless the route set an ETag or validators with
   * `ctx.fresh`. The ETag and Last-Modified of every successful response to GET and HEAD, whoever set them, are
   * compared with the request. Default: `false`.
   */
  readonly autoEtag?: boolean | undefined
  /**
   * The groups of `ctx.cacheGroups` are also written to a CDN's own field: `Surrogate-Key` (Fastly), `Cache-Tag`
   * (Cloudflare), `xkey` (Varnish). Commas separate them if the field's name contains `tag`, else spaces.
   * Default: none.
   * @example
   * koaHttpCache({ groups: { header: 'Surrogate-Key' } })
   */
  readonly groups?: GroupOptions | undefined
  /** `X-Http-Cache` gives the reason for the response. Default: true in development (`NODE_ENV`). */
  readonly trace?: boolean | undefined
}

export interface GroupOptions {
  /** The groups are written to the field of this name. Default: none. */
  readonly header?: string | undefined
}

const GROUPS = {
  header: {
    expected: "the name of a CDN's own field, such as 'Surrogate-Key'",
    holds: value => isFieldName(value) && !/^cache-groups$/i.test(String(value))
  }
} satisfies Record<keyof GroupOptions, Expectation>

const OPTIONS = {
  // Directives and lifetimes are checked when they are formatted.
  cacheControl: {
    ...CACHE_CONTROL,
    holds: value => isText(value) || Array.isArray(value) || isRecord(value)
  },
  expires: { expected: 'a lifetime', holds: () => true },
  credentials: {
    expected: "a list of request headers, such as ['X-API-Key'], or false",
    holds: value => value === false || (Array.isArray(value) && value.every(isFieldName))
  },
  version: { expected: 'a function of ctx', holds: value => typeof value === 'function' },
  ifModifiedSince: withDefault(oneOf('exact', 'before'), 'exact'),
  autoEtag: withDefault(flag, false),
  groups: { ...record, fields: GROUPS },
  trace: withDefault(flag, isDevelopment)
} satisfies Record<keyof KoaHttpCacheOptions, Expectation>

const isFieldName = (value: unknown): boolean => isText(value) && TOKEN.test(value)

export type HttpCacheSettings = ReturnType<typeof settle>
export type Defaults = NonNullable<HttpCacheSettings['defaults']>

export function isDevelopment(): boolean {
  return (process.env.NODE_ENV || 'development') === 'development'
}

/** @throws TypeError for an invalid option, with its name, the expected value and the given one */
export function settle(options: KoaHttpCacheOptions) {
  check(options, OPTIONS)
  return Object.freeze({
    ...settleTable(OPTIONS, options, undefined),
    defaults: settleDefaults(options),
    version: settleVersion(options.version),
    groups: Object.freeze({ ...options.groups }),
    isDevelopment: isDevelopment()
  })
}

function settleDefaults({ cacheControl, expires, credentials: named = [] }: KoaHttpCacheOptions) {
  const directives =
    typeof cacheControl === 'string'
      ? parseDirectives(cacheControl)
      : ([cacheControl ?? []].flat() as readonly CacheDirective[])
  if (expires === undefined && directives.length === 0) return undefined
  const seconds = expires === undefined ? undefined : readSeconds('expires', expires)
  const at = (now: number) =>
    seconds === undefined ? cacheControlFields(directives) : expiryFields(seconds, directives, now)
  const credentials = ['Authorization', ...(named || [])]
  // An invalid directive throws here, at start, rather than in every request.
  const first = at(Date.now())
  const last = first.fields.at(-1)
  // An HTTP/1.0 cache obeys Expires and ignores `private`. No visitor's own cache reads targeted directives.
  const value = personalCacheControl(last?.name === 'Cache-Control' ? last.value : '')
  return Object.freeze({
    /** `Expires` depends on the clock. */
    at: seconds === undefined ? () => first : at,
    /** No shared cache stores a response to one visitor, and the browser asks before it shows it again. */
    personal: { ...first, fields: [{ name: 'Cache-Control', value }] },
    credentials,
    vary: named === false ? [] : credentials
  })
}

function settleVersion(version: KoaHttpCacheOptions['version']) {
  if (version === undefined) return undefined
  return (ctx: Context): string | undefined => {
    const given: unknown = version(ctx)
    if (given === undefined || typeof given === 'string') return given || undefined
    throw optionError('version(ctx)', 'a string or undefined', given)
  }
}
