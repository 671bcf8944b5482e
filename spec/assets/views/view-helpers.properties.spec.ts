import test from 'ava'
import * as fc from 'fast-check'
import { makeHelpers } from './view-helpers-site.ts'
import { cases } from '../../support/soak.ts'

const assets = makeHelpers({ host: 'https://cdn.example' })('web')

const TAG = /^<[a-z]+(?: [^\s"'<>/=]+="[^"<>]*")*>(?:<\/(?:script|video|audio)>)?$/
const LINK = /^<[\x21\x23-\x3b\x3d\x3f-\x7e]*>; rel=preload; as=style$/

const nasty = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string(),
  fc
    .array(fc.constantFrom('"', "'", '<', '>', '&', ' ', '/', '?', '#', '\n', '</script', '\u2028'))
    .map(parts => parts.join(''))
)
const url = nasty.map(rest => `https://a.example/${rest}`)
const value = fc.oneof(nasty, fc.double(), fc.boolean(), fc.constant(null), fc.constant(undefined))

/** A TypeError is a valid outcome; a tag that something breaks out of is not. */
function writtenOr<T>(fallback: T, write: () => string): string | T {
  try {
    return write()
  } catch (error) {
    if (error instanceof TypeError) return fallback
    throw error
  }
}

function holds<T>(arbitrary: fc.Arbitrary<T>, predicate: (given: T) => boolean) {
  fc.assert(fc.property(arbitrary, predicate), { numRuns: cases(100, 1000) })
}

test('no value breaks out of its tag, and a browser reads back what was given', t => {
  holds(nasty, given => {
    const tag = assets.image('a.png', { title: given })
    return TAG.test(tag) && unescape(/ title="([^"]*)"/.exec(tag)?.[1] ?? '') === given
  })
  t.pass()
})

test('no attribute breaks out of its tag', t => {
  holds(fc.dictionary(nasty, value), attributes =>
    TAG.test(writtenOr('<a>', () => assets.javascript('a', attributes)))
  )
  t.pass()
})

test('no name and no URL breaks out of its tag', t => {
  holds(fc.oneof(nasty, url), name => {
    const write = [assets.javascript, assets.stylesheet, assets.image, assets.favicon, assets.video]
    return write.every(helper => TAG.test(writtenOr('<a>', () => helper(name))))
  })
  t.pass()
})

test('the path of an asset needs no quotes and decodes to its name', t => {
  const local = nasty.filter(name => !name.startsWith('//'))
  holds(local, name => {
    const path = writtenOr(undefined, () => assets.path(name))
    if (path === undefined) return true
    const back = decodeURIComponent(cut(path).slice('/assets/'.length))
    return /^[^\s"'<>`]+$/.test(path) && back === cut(name)
  })
  t.pass()
})

test('no name and no URL breaks out of a Link header', t => {
  holds(fc.oneof(nasty, url), name =>
    LINK.test(writtenOr('<>; rel=preload; as=style', () => assets.preload(name, { as: 'style' })))
  )
  t.pass()
})

test('an import map is JSON that cannot end its script', t => {
  holds(fc.dictionary(nasty, url), imports => {
    const tag = assets.importMap({ imports })
    const json = /^<script type="importmap">([^<>\u2028\u2029]*)<\/script>$/.exec(tag)?.[1]
    const read: unknown = JSON.parse(json ?? 'null')
    const sorted = Object.entries(imports).toSorted(([a], [b]) => (a < b ? -1 : 1))
    return JSON.stringify(read) === JSON.stringify({ imports: Object.fromEntries(sorted) })
  })
  t.pass()
})

function cut(text: string): string {
  return text.replace(/[?#].*/s, '')
}

function unescape(text: string): string {
  return text
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&gt;', '>')
    .replaceAll('&lt;', '<')
    .replaceAll('&amp;', '&')
}
