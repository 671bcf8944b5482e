// What differs between before and after, in which requests, and who is right about it.
import { words } from '../../support/texts.ts'
import { GROUPS } from './requests.ts'

/** `either`: both follow the RFCs, and neither serves anybody better. */
export type Right = 'ours' | 'theirs' | 'either'

export interface Verdict {
  readonly of: RegExp
  /** The requests that it is about, if not all. */
  readonly in?: ReadonlySet<string>
  readonly right: Right
  readonly why: string
}

/** @param where names of requests, and of groups of them */
const verdictFor =
  (right: Right) =>
  (of: RegExp, why: string, where?: string): Verdict => ({
    of,
    right,
    why,
    ...(where !== undefined && {
      in: new Set(words(where).flatMap(name => GROUPS[name] ?? [name]))
    })
  })

const [ours, either, theirs] = [verdictFor('ours'), verdictFor('either'), verdictFor('theirs')]

const MISSING = 'missing missing-head missing-navigation'

/** The first that fits a difference. Where a status differs, all else follows from that. */
export const VERDICTS: readonly Verdict[] = [
  theirs(
    /^status: 200 -> 404/,
    'RFC 3986 section 6.2.2.2: %6a is j. Refused on purpose: a guard that compares paths would be bypassed',
    'encoded-letter'
  ),
  either(
    /^status: 200 -> 404/,
    'RFC 3986 section 5.2.4: clients remove dot segments before they send a path',
    'dot-segment dot-dot encoded-dot-dot'
  ),
  either(
    /^status: 200 -> 404/,
    'a file was found in any folder by the last segment of its path',
    '/admin/a/b/main-0a1b2c3d.js'
  ),
  ours(
    /^status: 200 -> 404/,
    'another spelling of the path got past a guard that compares it',
    `/uploads/%70rivate/report.txt /uploads/x/../private/report.txt
     /uploads//private/report.txt`
  ),
  either(
    /^status: 200 -> 404/,
    'lws-static shows dotfiles on purpose, to the developer whose machine it is',
    '/.well/.notes.txt'
  ),
  ours(
    /^status: 200 -> 404/,
    'the page of an application is no script, and no data for a fetch()',
    `${MISSING} slash-at-end out-of-the-root upper-case dotfile page-fetch page-json /admin/none.png`
  ),
  ours(/^status: 200 -> 304/, 'RFC 9110 sections 13.1.2 and 13.1.3', 'revalidations'),
  ours(
    /^status: 206 -> 304/,
    'RFC 9110 section 13.2.2: preconditions come before the range',
    'range-inm-own'
  ),
  ours(/^status: 200 -> 412/, 'RFC 9110 sections 13.1.1 and 13.1.4', 'im-other ius-earlier'),
  ours(
    /^status: 200 -> 206/,
    'RFC 9110 section 14.2: downloads continue, and films can be sought',
    'ranges'
  ),
  either(/^status: 200 -> 416/, 'RFC 9110 section 14.2: a server may ignore Range', 'range-beyond'),
  ours(/^status: 416 -> 206/, 'RFC 9110 section 14.1.2: the last bytes', 'range-last'),
  ours(
    /^status: broken -> (?:206|416)/,
    'a Content-Length that is below zero, or more than is sent',
    'range-too-long range-beyond'
  ),
  ours(/^status: 206 -> 200/, 'RFC 9110 section 13.1.5', 'range-if-other'),
  either(
    /^status: 206 -> 200/,
    'RFC 9110 section 14.2: of several ranges only the first was sent',
    'range-several'
  ),
  ours(
    /^status: 416 -> 200/,
    'RFC 9110 section 14.2: what is not understood is ignored',
    'range-backwards range-unreadable range-unit'
  ),
  ours(/^status: 404 -> 405/, 'RFC 9110 section 15.5.6', 'unsafe-methods page-post'),
  ours(/^status: 404 -> 204/, 'RFC 9110 section 9.3.7', 'OPTIONS'),
  ours(
    /^status: 200 -> 301/,
    'relative links of the page resolve against the path with a slash',
    'folder'
  ),
  either(
    /^status: 40[03] -> 404/,
    'either refuses; our 404 is no-store',
    `${MISSING} two-slashes slash-at-end backslash upper-case out-of-the-root out-encoded`
  ),
  ours(
    /^status: 500 -> 400/,
    'RFC 9110 section 15.5.1: the client is wrong, not the server',
    'undecodable-paths'
  ),
  ours(/^body of 404/, "koa-send's error tells visitors the path of the directory on the server"),
  either(/^body of 400/, 'the text of an error'),
  ours(
    /^etag/,
    'RFC 9110 section 8.8.3: without it, or with one that is none, nothing is revalidated'
  ),
  ours(/^last-modified/, 'RFC 9110 section 8.8.2'),
  ours(/^x-content-type-options/, 'a file is not run as a script unless it is one'),
  ours(/^x-frame-options: none/, 'koa-send throws, and Koa removes what the application had set'),
  ours(/^accept-ranges/, 'RFC 9110 section 14.3: for a file, and for nothing else'),
  ours(/^use-as-dictionary/, 'RFC 9842: the next version is sent as a difference'),
  either(/^vary: none/, 'koa-compress has seen the 404', 'folder-slash'),
  ours(/^vary: none/, 'RFC 9110 section 12.5.5'),
  either(/^vary: .* -> none/, 'no compressed copy exists'),
  ours(
    /^content-encoding: none/,
    'RFC 9110 section 12.5.3: fewer bytes, and HEAD has the fields of GET'
  ),
  ours(/^content-type: application\/json;/, 'RFC 8259 section 11: JSON has no charset'),
  either(/^content-type/, 'no body, or a type without a charset'),
  ours(
    /^cache-control: .* -> private/,
    'RFC 9111 section 3.5: shared caches would store it for all'
  ),
  ours(
    /^cache-control: none -> no-store/,
    'RFC 9111 section 4.2.2: a CDN may store a 404 otherwise'
  ),
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
  return VERDICTS.find(each => each.of.test(difference) && (each.in?.has(request) ?? true))
}
