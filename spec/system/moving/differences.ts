// What differs between before and after, by application, and who is right about it.

/** `either`: both follow the RFCs, and neither serves anybody better. */
export type Right = 'ours' | 'theirs' | 'either'

interface Verdict {
  readonly of: RegExp
  /** The requests that it is about, if not all. */
  readonly in?: RegExp
  readonly right: Right
  readonly why: string
}

const ours = (of: RegExp, why: string, where?: RegExp): Verdict => verdict('ours', of, why, where)
const either = (of: RegExp, why: string, where?: RegExp) => verdict('either', of, why, where)
const theirs = (of: RegExp, why: string, where?: RegExp) => verdict('theirs', of, why, where)

function verdict(right: Right, of: RegExp, why: string, where?: RegExp): Verdict {
  return { of, right, why, ...(where && { in: where }) }
}

/** The first that fits a difference. */
export const VERDICTS: readonly Verdict[] = [
  theirs(
    /^status: 200 -> 404/,
    'RFC 3986 section 6.2.2.2: %6a is j. Refused on purpose: a guard that compares paths would be bypassed',
    /^encoded-letter$/
  ),
  either(
    /^status: 200 -> 404/,
    'RFC 3986 section 5.2.4: clients remove dot segments before they send a path',
    /^(?:two-slashes|dot-segment|dot-dot|encoded-dot-dot)$/
  ),
  either(
    /^status: 200 -> 404/,
    'a file was found in any folder by the last segment of its path',
    /^\/admin\/a\/b/
  ),
  ours(
    /^status: 200 -> 404/,
    'another spelling of the path got past a guard that compares it',
    /^\/uploads\/.*private/
  ),
  either(
    /^status: 200 -> 404/,
    'lws-static shows dotfiles on purpose, to the developer whose machine it is',
    /^\/\.well\//
  ),
  ours(/^status: 200 -> 404/, 'the page of an application is no script, and no data for a fetch()'),
  theirs(
    /^(?:x-frame-options|content-security-policy): .* -> none/,
    'ctx.sendFile throws its 404, and Koa removes what the route had set; the route may catch it'
  ),
  either(
    /^cache-control: max-age=86400 -> none/,
    'a 404 that is stored for a day outlives the upload that it was about'
  ),
  ours(/^status: 200 -> 304/, 'RFC 9110 sections 13.1.2 and 13.1.3'),
  ours(/^status: 206 -> 304/, 'RFC 9110 section 13.2.2: preconditions come before the range'),
  ours(/^status: 200 -> 412/, 'RFC 9110 sections 13.1.1 and 13.1.4'),
  ours(/^status: 200 -> 206/, 'RFC 9110 section 14.2: downloads continue, and films can be sought'),
  either(/^status: 200 -> 416/, 'RFC 9110 section 14.2: a server may ignore Range'),
  ours(/^status: 416 -> 206/, 'RFC 9110 section 14.1.2: the last bytes'),
  ours(/^status: broken/, 'a Content-Length that is below zero, or more than is sent'),
  ours(/^status: 206 -> 200/, 'RFC 9110 section 13.1.5', /^range-if/),
  either(/^status: 206 -> 200/, 'RFC 9110 section 14.2: of several ranges only the first was sent'),
  ours(/^status: 416 -> 200/, 'RFC 9110 section 14.2: what is not understood is ignored'),
  ours(/^status: 404 -> 405/, 'RFC 9110 section 15.5.6'),
  ours(/^status: 404 -> 204/, 'RFC 9110 section 9.3.7'),
  ours(/^status: 404 -> 200/, "a page's path may contain a dot"),
  ours(/^status: 200 -> 301/, 'relative links of the page resolve against the path with a slash'),
  ours(/^status: 500 -> 404/, 'nothing is broken'),
  either(/^status: 40[03] -> 404/, 'either refuses; our 404 is no-store'),
  ours(/^status: 500 -> 400/, 'RFC 9110 section 15.5.1: the client is wrong, not the server'),
  either(/^status: 404 -> 400/, 'RFC 3986 section 2.1: no URL'),
  ours(/^body of 404/, "koa-send's error tells visitors the path of the directory on the server"),
  either(/^body of 400/, 'the text of an error'),
  either(/^(?:body of 206|content-encoding)/, 'a range of the compressed copy', /^range-gzip$/),
  ours(
    /^etag/,
    'RFC 9110 section 8.8.3: without it, or with one that is none, nothing is revalidated'
  ),
  ours(/^last-modified/, 'RFC 9110 section 8.8.2'),
  ours(/^x-content-type-options/, 'a file is not run as a script unless it is one'),
  ours(/^x-frame-options: none/, 'koa-send throws, and Koa removes what the application had set'),
  ours(/^accept-ranges/, 'RFC 9110 section 14.3: for a file, and for nothing else'),
  ours(/^use-as-dictionary/, 'RFC 9842: the next version is sent as a difference'),
  either(
    /^vary: none/,
    'koa-compress has seen the 404',
    /^(?:slash-at-end|backslash|upper-case|folder|missing)|none\.js$/
  ),
  ours(/^vary: none/, 'RFC 9110 section 12.5.5'),
  either(/^vary: .* -> none/, 'no compressed copy exists'),
  ours(
    /^content-encoding: none/,
    'RFC 9110 section 12.5.3: fewer bytes, and HEAD has the fields of GET'
  ),
  either(/^content-encoding: gzip -> br/, 'the smaller one of those that are acceptable'),
  ours(/^content-type: application\/javascript/, 'RFC 9239 section 6'),
  ours(/^content-type: application\/json;/, 'RFC 8259 section 11: JSON has no charset'),
  either(/^content-type/, 'no body, or a type without a charset'),
  either(/^content-md5/, 'RFC 7231 appendix B removed it'),
  ours(
    /^cache-control: .* -> private/,
    'RFC 9111 section 3.5: shared caches would store it for all'
  ),
  ours(
    /^cache-control: none -> no-store/,
    'RFC 9111 section 4.2.2: a CDN may store a 404 otherwise'
  ),
  ours(/^cache-control: none -> public/, 'RFC 9110 section 15.4.5: a 304 renews the lifetime'),
  ours(
    /^cache-control: (?:none|max-age=31536) -> no-cache/,
    'a page names the scripts of its build'
  ),
  ours(
    /^cache-control: .*immutable -> public, max-age=0/,
    'a service worker must be able to change'
  ),
  either(/^cache-control/, 'other words for the same, or a lifetime of none')
]

export function verdictOf(difference: string, request: string): Verdict | undefined {
  return VERDICTS.find(each => each.of.test(difference) && (each.in?.test(request) ?? true))
}

/** Of most applications. */
const USUAL = {
  'status: 404 -> 405': '(unsafe methods)',
  'status: 404 -> 204': 'OPTIONS',
  'status: 200 -> 304': '(revalidations)',
  'status: 200 -> 412': 'im-other ius-earlier',
  'status: 200 -> 206': '(ranges)',
  'status: 200 -> 416': 'range-beyond',
  'status: 403 -> 404': 'out-of-the-root out-encoded',
  'body of 400': '(undecodable paths)'
}

/** By application: what differs, and in which requests. The names are those of requests.ts, groups included. */
export const differences: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  outline: {
    ...USUAL,
    'cache-control: max-age=31536000,immutable -> public, max-age=31536000, immutable':
      '(the whole script) (ranges that do not count)',
    'etag: none -> strong':
      '(the whole script) (ranges that do not count) authorization image /static/sw.js /static/manifest.webmanifest /fonts/a.woff2',
    'x-content-type-options: none -> nosniff':
      '(the whole script) (ranges that do not count) authorization image /static/sw.js /static/manifest.webmanifest /fonts/a.woff2 /locales/en_US.json',
    'use-as-dictionary: none -> match="/static/assets/index-*.js"':
      '(the whole script) (ranges that do not count) authorization',
    'accept-ranges: none -> bytes':
      '(the whole script) (ranges that do not count) authorization image /static/sw.js /static/manifest.webmanifest /fonts/a.woff2 /locales/en_US.json',
    'cache-control: max-age=31536000,immutable -> private, max-age=31536000, immutable':
      'authorization',
    'content-encoding: none -> gzip': 'head-gzip',
    'status: 400 -> 404':
      'slash-at-end backslash upper-case missing missing-head missing-navigation',
    'status: 200 -> 404': 'dot-dot encoded-dot-dot encoded-letter',
    'cache-control: none -> no-store':
      '(undecodable paths) dotfile folder folder-slash missing-post /static/',
    'vary: Accept-Encoding -> none':
      'image /static/sw.js /static/manifest.webmanifest /fonts/a.woff2',
    'cache-control: max-age=604800 -> public, max-age=604800': 'image /fonts/a.woff2',
    'cache-control: max-age=31536000,immutable -> public, max-age=0, must-revalidate':
      '/static/sw.js /static/manifest.webmanifest',
    'content-type: application/manifest+json; charset=utf-8 -> application/manifest+json':
      '/static/manifest.webmanifest',
    'etag: invalid -> strong': '/locales/en_US.json',
    'content-type: application/json; charset=utf-8 -> application/json': '/locales/en_US.json',
    'body of 404': '/locales/xx.json'
  },
  uploads: {
    'cache-control: max-age=0 -> public, max-age=0, must-revalidate':
      '(the whole script) range-first range-open range-whole range-if-own range-if-date range-gzip head-range image /uploads/a%20b.txt',
    'etag: none -> strong':
      '(the whole script) (pages) range-first range-open range-whole range-if-own range-if-date range-gzip authorization head-range image page-fetch page-json /uploads/a%20b.txt /robots.txt',
    'x-content-type-options: none -> nosniff':
      '(the whole script) (pages) range-first range-open range-whole range-if-own range-if-date range-gzip authorization head-range image page-fetch page-json /uploads/a%20b.txt /robots.txt',
    'status: 404 -> 405': '(unsafe methods) page-post',
    'status: 404 -> 204': 'OPTIONS',
    'status: 200 -> 304': 'inm-own inm-weak inm-list inm-star ims-own ims-later head-inm-own',
    'status: 200 -> 412': 'im-other ius-earlier',
    'status: 416 -> 206': 'range-last',
    'status: broken -> 206': 'range-too-long',
    'status: broken -> 416': 'range-beyond',
    'status: 206 -> 200': 'range-several range-if-other',
    'status: 416 -> 200': 'range-backwards range-unreadable range-unit',
    'status: 206 -> 304': 'range-inm-own',
    'cache-control: max-age=0 -> private, max-age=0, must-revalidate': 'authorization',
    'accept-ranges: bytes -> none':
      'slash-at-end upper-case dotfile folder-slash missing missing-head missing-navigation /uploads/.gitkeep',
    'cache-control: none -> no-store':
      '(undecodable paths) slash-at-end backslash upper-case dotfile folder-slash missing missing-head missing-post missing-navigation /uploads/.gitkeep /none.txt',
    'status: 400 -> 404': 'two-slashes',
    'status: 200 -> 404':
      'dot-segment dot-dot encoded-dot-dot encoded-letter /uploads/%70rivate/report.txt /uploads/x/../private/report.txt /uploads//private/report.txt',
    'status: 403 -> 404': 'out-of-the-root out-encoded',
    'body of 400': '(undecodable paths)',
    'x-frame-options: none -> SAMEORIGIN': '(undecodable paths)',
    'cache-control: max-age=60 -> public, max-age=60': '(pages) page-fetch page-json /robots.txt',
    'accept-ranges: none -> bytes': '(pages) page-fetch page-json /robots.txt'
  },
  admin: {
    'etag: none -> strong':
      '(the whole script) (ranges that do not count) (pages) authorization image folder-slash /admin/index.html /admin/types/article.article /admin/auth/login/',
    'x-content-type-options: none -> nosniff':
      '(the whole script) (ranges that do not count) (pages) authorization image folder-slash /admin/index.html /admin/types/article.article /admin/auth/login/',
    'use-as-dictionary: none -> match="/admin/main-*.js"':
      '(the whole script) (ranges that do not count) authorization',
    'vary: none -> Accept-Encoding':
      '(the whole script) (ranges that do not count) (pages) authorization folder-slash /admin/index.html /admin/types/article.article /admin/auth/login/',
    'accept-ranges: none -> bytes':
      '(the whole script) (ranges that do not count) (pages) authorization image folder-slash /admin/index.html /admin/types/article.article /admin/auth/login/',
    'status: 404 -> 405': '(unsafe methods)',
    'status: 404 -> 204': 'OPTIONS',
    'status: 200 -> 304': '(revalidations)',
    'status: 200 -> 412': 'im-other ius-earlier',
    'status: 200 -> 206': '(ranges)',
    'status: 200 -> 416': 'range-beyond',
    'content-encoding: none -> gzip':
      'gzip gzip-alone gzip-before-br no-identity head-gzip page-gzip',
    'content-encoding: none -> br': 'br browser',
    'cache-control: public, max-age=31536000, immutable -> private, max-age=31536000, immutable':
      'authorization',
    'status: 200 -> 404':
      'slash-at-end dot-dot encoded-dot-dot out-of-the-root encoded-letter upper-case dotfile missing missing-head missing-navigation page-fetch page-json /admin/a/b/main-0a1b2c3d.js /admin/none.png',
    'status: 403 -> 404': 'out-encoded',
    'body of 400': '(undecodable paths)',
    'x-frame-options: none -> SAMEORIGIN': '(undecodable paths)',
    'cache-control: none -> no-store': '(undecodable paths) missing-post page-post',
    'status: 200 -> 301': 'folder',
    'last-modified: none -> a date':
      '(pages) folder-slash /admin/types/article.article /admin/auth/login/',
    'cache-control: none -> no-cache':
      '(pages) folder-slash /admin/types/article.article /admin/auth/login/',
    'cache-control: max-age=31536 -> no-cache': '/admin/index.html'
  },
  logto: {
    ...USUAL,
    'cache-control: max-age=604800 -> public, max-age=604800':
      '(the whole script) (ranges that do not count) image /console/assets/main-0a1b2c3d.js',
    'etag: none -> strong':
      '(the whole script) (ranges that do not count) (pages) authorization image / /index.html /console/ /console/applications/a.b /console/assets/main-0a1b2c3d.js',
    'x-content-type-options: none -> nosniff':
      '(the whole script) (ranges that do not count) (pages) authorization image / /index.html /console/ /console/applications/a.b /console/assets/main-0a1b2c3d.js',
    'accept-ranges: none -> bytes':
      '(the whole script) (ranges that do not count) (pages) authorization image / /index.html /console/ /console/applications/a.b /console/assets/main-0a1b2c3d.js',
    'cache-control: max-age=604800 -> private, max-age=604800': 'authorization',
    'content-encoding: none -> gzip': 'head-gzip',
    'body of 404':
      'slash-at-end backslash upper-case folder folder-slash missing missing-navigation',
    'vary: none -> Accept-Encoding':
      'slash-at-end backslash upper-case folder folder-slash missing missing-head missing-navigation',
    'cache-control: none -> no-store':
      '(undecodable paths) slash-at-end backslash upper-case dotfile folder-slash missing missing-head missing-post missing-navigation',
    'status: 200 -> 404':
      'two-slashes dot-segment dot-dot encoded-dot-dot encoded-letter page-fetch page-json /console/none.js /none.png',
    'vary: Accept-Encoding -> none': 'image',
    'content-type: text/plain; charset=utf-8 -> none': 'missing-head',
    'cache-control: max-age=0 -> no-cache':
      '(pages) / /index.html /console/ /console/applications/a.b',
    'status: 200 -> 301': '/console'
  },
  egg: {
    'content-type: application/javascript; charset=utf-8 -> text/javascript; charset=utf-8':
      '(the whole script) range-first range-open range-whole range-if-own range-if-date range-gzip authorization head-range',
    'content-md5: a digest -> none':
      '(the whole script) range-first range-open range-whole range-if-own range-if-date range-gzip authorization head-range image /public/data.json /public/index.html',
    'x-content-type-options: none -> nosniff':
      '(the whole script) (revalidations) range-first range-open range-whole range-if-own range-if-date range-gzip authorization head-range image /public/data.json /public/index.html',
    'vary: none -> Accept-Encoding':
      '(the whole script) (revalidations) range-first range-open range-whole range-if-own range-if-date range-gzip authorization head-range /public/index.html',
    'status: 404 -> 405': '(unsafe methods)',
    'status: 404 -> 204': 'OPTIONS',
    'accept-ranges: bytes -> none':
      '(revalidations) (pages) slash-at-end two-slashes dot-segment out-of-the-root out-encoded backslash upper-case dotfile folder folder-slash missing missing-head missing-post missing-navigation page-fetch page-json page-post /public/ /public /none /none.txt',
    'cache-control: none -> public, max-age=31536000': '(revalidations)',
    'status: 200 -> 412': 'im-other ius-earlier',
    'status: 416 -> 206': 'range-last',
    'status: broken -> 206': 'range-too-long',
    'status: broken -> 416': 'range-beyond',
    'status: 206 -> 200': 'range-several range-if-other',
    'status: 416 -> 200': 'range-backwards range-unreadable range-unit',
    'body of 206': 'range-gzip',
    'content-encoding: none -> gzip':
      'range-gzip gzip gzip-alone gzip-before-br no-identity head-gzip',
    'content-encoding: none -> br': 'br browser',
    'cache-control: public, max-age=31536000 -> private, max-age=31536000': 'authorization',
    'cache-control: none -> no-store':
      'slash-at-end out-of-the-root out-encoded backslash upper-case dotfile folder folder-slash missing missing-head missing-post missing-navigation /public/',
    'status: 200 -> 404': 'dot-dot encoded-dot-dot encoded-letter',
    'status: 404 -> 400': '(undecodable paths)',
    'content-type: application/json; charset=utf-8 -> application/json': '/public/data.json'
  },
  misskey: {
    ...USUAL,
    'cache-control: max-age=604800 -> public, max-age=604800':
      '(the whole script) (ranges that do not count) image /client-assets/about-icon.png',
    'etag: none -> strong':
      '(the whole script) (ranges that do not count) authorization image /apple-touch-icon.png /robots.txt /sw.12.js /twemoji/1f600.svg /api-doc /client-assets/about-icon.png /files/0c1d2e',
    'x-content-type-options: none -> nosniff':
      '(the whole script) (ranges that do not count) authorization image /apple-touch-icon.png /robots.txt /sw.12.js /twemoji/1f600.svg /api-doc /client-assets/about-icon.png /files/0c1d2e',
    'vary: none -> Accept-Encoding': '(the whole script) (ranges that do not count) authorization',
    'accept-ranges: none -> bytes':
      '(the whole script) (ranges that do not count) authorization image /apple-touch-icon.png /robots.txt /sw.12.js /twemoji/1f600.svg /api-doc /client-assets/about-icon.png /files/0c1d2e',
    'content-encoding: none -> gzip': 'gzip gzip-alone gzip-before-br no-identity head-gzip',
    'content-encoding: none -> br': 'br browser',
    'cache-control: max-age=604800 -> private, max-age=604800': 'authorization',
    'body of 404': 'slash-at-end upper-case missing missing-navigation',
    'x-frame-options: none -> DENY':
      '(undecodable paths) slash-at-end upper-case missing missing-head missing-navigation',
    'cache-control: none -> no-store':
      '(undecodable paths) slash-at-end upper-case dotfile folder-slash missing missing-head missing-post missing-navigation /twemoji/none.svg',
    'status: 200 -> 404': 'dot-dot encoded-dot-dot encoded-letter',
    'content-type: text/plain; charset=utf-8 -> none': 'missing-head',
    'cache-control: max-age=0 -> public, max-age=0':
      '/apple-touch-icon.png /robots.txt /sw.12.js /api-doc',
    'cache-control: max-age=2592000 -> public, max-age=2592000': '/twemoji/1f600.svg',
    'last-modified: none -> a date': '/files/0c1d2e',
    'x-frame-options: DENY -> none': '/files/none',
    "content-security-policy: default-src 'none'; img-src 'self'; media-src 'self' -> none":
      '/files/none',
    'cache-control: max-age=86400 -> none': '/files/none'
  },
  budibase: {
    ...USUAL,
    'cache-control: max-age=0 -> public, max-age=0, must-revalidate':
      '(the whole script) (ranges that do not count) image /api/assets/global/chunks/a.js',
    'etag: none -> strong':
      '(the whole script) (ranges that do not count) (pages) authorization image folder-slash /builder/index.html /api/assets/global/client /api/assets/global/chunks/a.js',
    'x-content-type-options: none -> nosniff':
      '(the whole script) (ranges that do not count) (pages) authorization image folder-slash /builder/index.html /api/assets/global/client /api/assets/global/chunks/a.js',
    'accept-ranges: none -> bytes':
      '(the whole script) (ranges that do not count) (pages) authorization image folder-slash /builder/index.html /api/assets/global/client /api/assets/global/chunks/a.js',
    'content-encoding: none -> br': 'br',
    'content-encoding: gzip -> br': 'browser',
    'cache-control: max-age=0 -> private, max-age=0, must-revalidate': 'authorization',
    'content-encoding: none -> gzip': 'head-gzip',
    'body of 404':
      'slash-at-end backslash upper-case missing missing-navigation /api/assets/global/none.js',
    'vary: none -> Accept-Encoding':
      'slash-at-end backslash upper-case missing missing-head missing-navigation /api/assets/global/none.js',
    'cache-control: none -> no-store':
      '(undecodable paths) slash-at-end backslash upper-case dotfile missing missing-head missing-post missing-navigation page-post /builder/.env /api/assets/global/none.js',
    'status: 200 -> 404': 'dot-dot encoded-dot-dot encoded-letter page-fetch page-json',
    'vary: Accept-Encoding -> none': 'image',
    'status: 200 -> 301': 'folder',
    'cache-control: max-age=0 -> no-cache': '(pages) folder-slash /builder/index.html',
    'content-type: text/plain; charset=utf-8 -> none': 'missing-head',
    'status: 404 -> 200': '/builder/app/v1.2',
    'cache-control: max-age=0 -> public, no-cache': '/api/assets/global/client',
    'status: 500 -> 404': '/api/assets/global/'
  },
  bundlephobia: {
    ...USUAL,
    'cache-control: max-age=86400 -> public, max-age=86400':
      '(the whole script) (ranges that do not count) image /robots.txt',
    'etag: none -> strong':
      '(the whole script) (ranges that do not count) authorization image /robots.txt',
    'x-content-type-options: none -> nosniff':
      '(the whole script) (ranges that do not count) authorization image /robots.txt',
    'accept-ranges: none -> bytes':
      '(the whole script) (ranges that do not count) authorization image /robots.txt',
    'cache-control: max-age=86400 -> private, max-age=86400': 'authorization',
    'status: 400 -> 404': 'two-slashes',
    'status: 200 -> 404': 'dot-segment dot-dot encoded-dot-dot encoded-letter',
    'cache-control: none -> no-store': '(undecodable paths)',
    'cache-control: no-store,no-cache,max-age=0 -> no-store':
      'upper-case dotfile missing missing-head missing-post missing-navigation',
    'etag: none -> weak':
      '(pages) page-fetch page-json /api/size?package=react@19.0.0 /api/size?package=react /api/recent',
    'cache-control: max-age=0 -> no-store': '/api/broken'
  },
  bullBoard: {
    'accept-ranges: none -> bytes':
      '(the whole script) (ranges that do not count) authorization image',
    'cache-control: max-age=0 -> private, max-age=0, must-revalidate': 'authorization',
    'cache-control: max-age=0 -> public, max-age=0, must-revalidate':
      '(the whole script) (ranges that do not count) image',
    'cache-control: none -> no-store':
      'slash-at-end backslash upper-case dotfile folder folder-slash missing missing-head missing-post missing-navigation /ui/static/',
    'content-encoding: none -> br': 'br browser',
    'content-encoding: none -> gzip': 'gzip gzip-alone gzip-before-br no-identity head-gzip',
    'etag: none -> strong': '(the whole script) (ranges that do not count) authorization image',
    'status: 200 -> 206': '(ranges)',
    'status: 200 -> 304': '(revalidations)',
    'status: 200 -> 412': 'im-other ius-earlier',
    'status: 200 -> 416': 'range-beyond',
    'status: 404 -> 204': 'OPTIONS',
    'status: 404 -> 405': '(unsafe methods)',
    'status: 500 -> 400': '(undecodable paths)',
    'vary: none -> Accept-Encoding': '(the whole script) (ranges that do not count) authorization',
    'x-content-type-options: none -> nosniff':
      '(the whole script) (ranges that do not count) authorization image'
  },
  midway: {
    'accept-ranges: bytes -> none':
      '(revalidations) slash-at-end out-of-the-root out-encoded backslash upper-case dotfile folder folder-slash missing missing-head missing-post missing-navigation /public/ /public',
    'body of 206': 'range-gzip',
    'cache-control: none -> no-store':
      'slash-at-end out-of-the-root out-encoded backslash upper-case dotfile folder folder-slash missing missing-head missing-post missing-navigation /public/',
    'cache-control: none -> public, max-age=31536000': '(revalidations)',
    'cache-control: public, max-age=31536000 -> private, max-age=31536000': 'authorization',
    'content-encoding: none -> br': 'br browser',
    'content-encoding: none -> gzip':
      'range-gzip gzip gzip-alone gzip-before-br no-identity head-gzip',
    'content-md5: a digest -> none':
      '(the whole script) range-first range-open range-whole range-if-own range-if-date range-gzip authorization head-range image /public/index.html',
    'content-type: application/javascript; charset=utf-8 -> text/javascript; charset=utf-8':
      '(the whole script) range-first range-open range-whole range-if-own range-if-date range-gzip authorization head-range',
    'status: 200 -> 404': 'dot-dot encoded-dot-dot encoded-letter',
    'status: 200 -> 412': 'im-other ius-earlier',
    'status: 206 -> 200': 'range-several range-if-other',
    'status: 404 -> 204': 'OPTIONS',
    'status: 404 -> 400': '(undecodable paths)',
    'status: 404 -> 405': '(unsafe methods)',
    'status: 416 -> 200': 'range-backwards range-unreadable range-unit',
    'status: 416 -> 206': 'range-last',
    'status: broken -> 206': 'range-too-long',
    'status: broken -> 416': 'range-beyond',
    'vary: none -> Accept-Encoding':
      '(the whole script) (revalidations) range-first range-open range-whole range-if-own range-if-date range-gzip authorization head-range /public/index.html',
    'x-content-type-options: none -> nosniff':
      '(the whole script) (revalidations) range-first range-open range-whole range-if-own range-if-date range-gzip authorization head-range image /public/index.html'
  },
  feathers: {
    'accept-ranges: none -> bytes':
      '(the whole script) (ranges that do not count) authorization image / /index.html',
    'body of 400': '(undecodable paths)',
    'cache-control: max-age=0 -> private, max-age=0, must-revalidate': 'authorization',
    'cache-control: max-age=0 -> public, max-age=0, must-revalidate':
      '(the whole script) (ranges that do not count) image / /index.html',
    'cache-control: none -> no-store':
      '(undecodable paths) backslash upper-case dotfile missing missing-head missing-post missing-navigation',
    'content-encoding: none -> br': 'br browser',
    'content-encoding: none -> gzip': 'gzip gzip-alone gzip-before-br no-identity head-gzip',
    'etag: none -> strong':
      '(the whole script) (ranges that do not count) authorization image / /index.html',
    'status: 200 -> 206': '(ranges)',
    'status: 200 -> 304': '(revalidations)',
    'status: 200 -> 404': 'dot-segment dot-dot encoded-dot-dot encoded-letter',
    'status: 200 -> 412': 'im-other ius-earlier',
    'status: 200 -> 416': 'range-beyond',
    'status: 400 -> 404': 'two-slashes',
    'status: 403 -> 404': 'out-of-the-root out-encoded',
    'status: 404 -> 204': 'OPTIONS',
    'status: 404 -> 405': '(unsafe methods)',
    'vary: none -> Accept-Encoding':
      '(the whole script) (ranges that do not count) authorization / /index.html',
    'x-content-type-options: none -> nosniff':
      '(the whole script) (ranges that do not count) authorization image / /index.html'
  },
  localWebServer: {
    'accept-ranges: none -> bytes':
      '(the whole script) (ranges that do not count) (pages) authorization image page-fetch page-json / /index.html /about.html',
    'body of 400': '(undecodable paths)',
    'cache-control: max-age=0 -> private, max-age=0, must-revalidate': 'authorization',
    'cache-control: max-age=0 -> public, max-age=0, must-revalidate':
      '(the whole script) (ranges that do not count) (pages) image page-fetch page-json / /index.html /about.html',
    'cache-control: none -> no-store':
      '(undecodable paths) backslash upper-case dotfile missing missing-head missing-post missing-navigation',
    'etag: none -> strong':
      '(the whole script) (ranges that do not count) (pages) authorization image page-fetch page-json / /index.html /about.html',
    'status: 200 -> 206': '(ranges)',
    'status: 200 -> 304': '(revalidations)',
    'status: 200 -> 404': 'dot-segment dot-dot encoded-dot-dot encoded-letter /.well/.notes.txt',
    'status: 200 -> 412': 'im-other ius-earlier',
    'status: 200 -> 416': 'range-beyond',
    'status: 400 -> 404': 'two-slashes',
    'status: 403 -> 404': 'out-of-the-root out-encoded',
    'status: 404 -> 204': 'OPTIONS',
    'status: 404 -> 405': '(unsafe methods) page-post',
    'x-content-type-options: none -> nosniff':
      '(the whole script) (ranges that do not count) (pages) authorization image page-fetch page-json / /index.html /about.html'
  }
}
