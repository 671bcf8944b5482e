// Deltas: what a browser is sent that has an earlier version (RFC 9842).
import { symlinkSync } from 'node:fs'
import { inspect } from 'node:util'
import { withFingerprint } from '../../../lib/runtime/urls/spelling.ts'
import { digestOf } from '../../../lib/runtime/files/digest.ts'
import { sealDelta } from '../../../lib/extras/deltas/delta-format.ts'
import { decode, deltaFile, deltaName, isAble, offering, sha256 } from '../../support/deltas.ts'
import { ask as askRaw } from '../../support/raw.ts'
import { makeProject, makeSite, test, until, type ExecutionContext } from '../../support/index.ts'
import type { Files, SiteOptions } from '../../support/index.ts'
import { WAYS } from '../../support/ways.ts'

const line = 'export const answer = () => 42\n'
const OLD = line.repeat(400)
const NEW = `${line.repeat(200)}export const question = 'six by nine'\n${line.repeat(200)}`
const APP = withFingerprint('/assets/app.js', digestOf(NEW))
const VARY = 'Accept-Encoding, Available-Dictionary'
// RFC 9842, section 5.
const MAGIC = Buffer.from('5e2a4d1820000000', 'hex')
const options = { env: 'production', apps: { web: { compile: false, fingerprint: false } } }

/** A delta as it is sent: its file has a seal as well. */
const deltaSent = (old: string, next: string) => deltaFile(old, next).subarray(0, -40)

const files: Files = {
  [`/public${withFingerprint('/assets/app.js', digestOf(OLD))}`]: OLD,
  [`/public${APP}`]: NEW,
  [`/public${deltaName(APP, OLD)}`]: deltaFile(OLD, NEW),
  '/public/assets/app.js': NEW
}

const make = (t: ExecutionContext, more: SiteOptions = {}, placed = files) =>
  makeSite(t, placed, { ...options, ...more })

for (const [way, more] of WAYS.slice(0, 2)) {
  test(`a browser that has an earlier version is sent the difference, ${way}`, async t => {
    const site = await make(t, more)
    for (let asked = 0; asked < 3; asked++) {
      const { status, headers, bytes } = await site.ask(APP, { headers: offering(OLD) })
      t.is(status, 200)
      t.like(headers, {
        'content-encoding': 'dcz',
        'content-type': 'text/javascript; charset=utf-8',
        'content-length': String(bytes.length),
        'cache-control': 'public, max-age=31536000, immutable',
        vary: VARY,
        // It is the next dictionary.
        'use-as-dictionary': 'match="/assets/app-*.js"'
      })
      t.deepEqual(bytes, deltaSent(OLD, NEW))
      t.deepEqual(bytes.subarray(0, 40), Buffer.concat([MAGIC, sha256(OLD)]))
      t.true([NEW, undefined].includes(decode(bytes, OLD)))
    }
    t.is((await site.ask(APP)).text, NEW)
    t.deepEqual(site.errors, [])
  })

  test(`HEAD, ranges and conditional requests treat a delta as a response of its own, ${way}`, async t => {
    const site = await make(t, more)
    const sent = deltaSent(OLD, NEW)
    const ask = (headers = {}, method = 'GET') =>
      site.ask(APP, { method, headers: { ...offering(OLD), ...headers } })
    const whole = await site.ask(APP)
    const delta = await ask()
    t.not(delta.headers.etag, whole.headers.etag)
    t.false(delta.headers.etag?.startsWith('W/'))
    const head = await ask({}, 'HEAD')
    const length = String(sent.length)
    t.like(head.headers, { 'content-length': length, 'content-encoding': 'dcz' })
    t.is(head.bytes.length, 0)
    const part = await ask({ Range: 'bytes=8-39', 'If-Range': delta.headers.etag })
    const range = { 'content-range': `bytes 8-39/${length}`, 'content-encoding': 'dcz' }
    t.like(part, { status: 206, headers: range, bytes: sha256(OLD) })
    const last = await ask({ Range: 'bytes=-5' })
    t.deepEqual(last.bytes, sent.subarray(-5), 'the seal is no part of it')
    t.is((await ask({ Range: `bytes=${length}-` })).status, 416)
    const same = await ask({ 'If-None-Match': delta.headers.etag })
    t.like(same, { status: 304, headers: { etag: delta.headers.etag } })
    const failed = await ask({ 'If-Match': whole.headers.etag })
    t.is(failed.status, 412)
    const changed = await site.ask(APP, { headers: { 'if-none-match': delta.headers.etag } })
    t.like(changed, { status: 200, text: NEW }, 'for a client that no longer has the dictionary')
    const all = [whole, delta, head, part, last, same, failed, changed]
    for (const { status, headers } of all) t.is(headers.vary, VARY, String(status))
    t.deepEqual(site.errors, [])
  })
}

const HASH = sha256(OLD).toString('base64')
const HALVED = Buffer.concat([sha256(OLD).subarray(0, 16), sha256(NEW).subarray(16)])
const page = (mode: string, site: string) => ({ 'sec-fetch-mode': mode, 'sec-fetch-site': site })

const OFFERS: readonly Readonly<Record<string, string>>[] = [
  ...['DCZ', 'gzip, dcb, dcz', 'dcz;q=0.001', 'br;q=1 , dcz ; q=0.5'].map(coding => ({
    'accept-encoding': coding
  })),
  ...['cross-site', 'same-site'].flatMap(site => [page('cors', site), page('navigate', site)]),
  ...['same-origin', 'none'].map(site => page('no-cors', site))
]

const NO_OFFERS: readonly Readonly<Record<string, string>>[] = [
  ...['', '*', '*;q=1', 'gzip', 'gzip, dcz;q=0', 'dcz;q=0.000', 'gzip, dcb', 'xdcz', 'dcz;q=x'].map(
    coding => ({ 'accept-encoding': coding })
  ),
  ...[
    ...['', ':', '::', HASH, `:${HASH}`, `${HASH}:`, `"${HASH}"`, `:${HASH}:, :${HASH}:`],
    ...[`:${HASH.slice(4)}:`, `:AAAA${HASH}:`, `:${HASH.slice(0, -1)}:`],
    ...[
      `:${HASH.replace('=', '-')}:`,
      sha256(OLD).toString('hex'),
      `:${sha256('unknown').toString('base64')}:`
    ],
    ...[`:${HALVED.toString('base64')}:`, `:${'A'.repeat(12 * 1024)}:`]
  ].map(field => ({ 'available-dictionary': field })),
  // The size of what it cannot read would tell what is in the browser's cache.
  ...['cross-site', 'same-site'].map(site => page('no-cors', site))
]

test('only a client that accepts dcz, offers the dictionary and may read the response gets a delta', async t => {
  const { port } = await make(t)
  const without = await askRaw(port, 'GET', APP)
  for (const headers of OFFERS) {
    const answer = await askRaw(port, 'GET', APP, { ...offering(OLD), ...headers })
    t.deepEqual(answer.body, deltaSent(OLD, NEW), inspect(headers))
  }
  const { 'accept-encoding': _, ...unnamed } = offering(OLD)
  for (const headers of [unnamed, ...NO_OFFERS.map(each => ({ ...offering(OLD), ...each }))]) {
    const { status, text, headers: sent } = await askRaw(port, 'GET', APP, headers)
    t.deepEqual([status, text], [200, NEW], inspect(headers))
    t.is(sent['etag'], without.headers['etag'])
    t.is(sent['content-encoding'], undefined)
  }
})

test('only an immutable file of a type that compresses may be a dictionary', async t => {
  const content = 'x'.repeat(300)
  const name = (path: string) => withFingerprint(path, digestOf(content))
  const types = ['js', 'css', 'json', 'svg', 'mjs', 'wasm', 'ttf']
  const others = ['png', 'woff2', 'mp4', 'gz']
  const paths = [...types, ...others].map(type => name(`/assets/a.${type}`))
  const spaced = name('/assets/a b+(c).js')
  const placed = [...paths, spaced, '/assets/app.js', '/plain.js', '/assets/a b+c.js']
  const files = Object.fromEntries(placed.map(path => [`/public${path}`, content]))
  const site = await make(t, { base: '/shop' }, files)
  const dictionary = async (path: string) => {
    const { headers, status } = await site.ask(path)
    t.is(status, 200, path)
    const isDictionary = headers['use-as-dictionary'] !== undefined
    t.is(headers.vary, isDictionary ? 'Accept-Encoding' : undefined, path)
    return headers['use-as-dictionary']
  }
  for (const type of types)
    t.is(await dictionary(name(`/assets/a.${type}`)), `match="/shop/assets/a-*.${type}"`)
  for (const type of others) t.is(await dictionary(name(`/assets/a.${type}`)), undefined, type)
  for (const path of ['/assets/app.js', '/plain.js', '/assets/a%20b+c.js'])
    t.is(await dictionary(path), undefined, path)
  const spelled = encodeURI(spaced).replace('+', '%2B')
  t.is(await dictionary(spelled), 'match="/shop/assets/a%20b%2B%28c%29-*.js"')
})

test('with deltas: false a response has neither a delta nor its header fields', async t => {
  const site = await make(t, { deltas: false })
  const { headers, text } = await site.ask(APP, { headers: offering(OLD) })
  t.deepEqual([text, headers.vary, headers['use-as-dictionary']], [NEW, undefined, undefined])
})

const BUNDLED: SiteOptions = { mounts: { '/static': { dir: 'dist', immutable: /-[\w-]{8}\.js$/ } } }

test('a mount sends deltas of its immutable files, where Node can decode them', async t => {
  const [path, file] = ['/static/(a)+b-BcXr2f3k.js', '/dist/(a)+b-BcXr2f3k.js']
  const site = await make(t, BUNDLED, {
    [file]: NEW,
    '/dist/(a)+b-_ldB-4nk.js': OLD,
    '/dist/(a)+b-Other123.js': `${OLD}!`,
    [deltaName(file, OLD)]: deltaFile(OLD, NEW),
    '/dist/plain.js': NEW,
    [deltaName('/dist/plain.js', OLD)]: deltaFile(OLD, NEW)
  })
  const { headers, bytes } = await site.ask(path, { headers: offering(OLD) })
  t.deepEqual(bytes, isAble ? deltaSent(OLD, NEW) : Buffer.from(NEW))
  t.is(headers['use-as-dictionary'], String.raw`match="/static/\\(a\\)\\+b-*.js"`)
  t.is(headers.vary, isAble ? VARY : 'Accept-Encoding')
  t.is((await site.ask('/static/plain.js', { headers: offering(OLD) })).text, NEW)
  site.write(file, OLD)
  await until(async () => (await site.ask(path)).text === OLD, 'the mount has other bytes')
  t.is((await site.ask(path, { headers: offering(OLD) })).text, OLD, 'it leads to other bytes')
})

/** The file of a delta whose seal is right, with several frames, one after the other. */
const forgedFile = (dictionary: string, ...pieces: readonly string[]) => {
  const frames = pieces.map(piece => deltaFile(dictionary, piece).subarray(40, -40))
  return sealDelta(sha256(dictionary), Buffer.concat(frames), digestOf(NEW))
}

const EVIL = NEW.replace('six by nine', 'forged')
const FORGED = {
  'that decodes to other bytes': forgedFile(OLD, EVIL),
  'with other bytes behind the right ones': forgedFile(OLD, NEW, EVIL),
  'that is no Zstandard': sealDelta(sha256(OLD), Buffer.from(EVIL), digestOf(NEW)),
  'from a dictionary that is not there': forgedFile('none', EVIL)
}

test('a delta that does not decode to its file is never sent, even if its checksum is right', async t => {
  for (const [what, forged] of Object.entries(FORGED)) {
    const dictionary = what.includes('dictionary') ? 'none' : OLD
    const site = await make(t, BUNDLED, {
      ...files,
      '/dist/app-12345678.js': NEW,
      '/dist/app-abcdefgh.js': OLD,
      [deltaName('/dist/app-12345678.js', dictionary)]: forged,
      [`/public${deltaName(APP, dictionary)}`]: forged
    })
    // An older Node believes what is in the folder of precompile.
    for (const path of isAble ? ['/static/app-12345678.js', APP] : ['/static/app-12345678.js']) {
      for (let asked = 0; asked < 2; asked++) {
        const { headers, text } = await site.ask(path, { headers: offering(dictionary) })
        t.is(headers['content-encoding'], undefined, `${what} at ${path}`)
        t.is(text, NEW)
      }
    }
    t.deepEqual(site.errors, [])
  }
})

const good = deltaFile(OLD, NEW)
const flipped = (at: number) => Buffer.from(good).fill((good[at] ?? 0) ^ 1, at, at + 1)

test('a delta that is damaged, for other bytes, a link or a folder is never sent', async t => {
  const positions = [0, 7, 8, 39, 40, 60, ...[41, 33, 1].map(fromEnd => good.length - fromEnd)]
  const corrupt: Record<string, Buffer> = {
    ...Object.fromEntries(positions.map(at => [`with another bit in byte ${at}`, flipped(at)])),
    'cut at its end': good.subarray(0, -1),
    'cut at its start': good.subarray(1),
    'longer by a byte': Buffer.concat([good, Buffer.from('x')]),
    'without its seal': deltaSent(OLD, NEW),
    'of its first byte': good.subarray(0, 1),
    'shorter than a header': good.subarray(0, 20),
    empty: Buffer.alloc(0),
    'from another dictionary': deltaFile(`${OLD}!`, NEW),
    'to other bytes': deltaFile(OLD, `${NEW}!`),
    'of a header that lies': sealDelta(sha256('lie'), good.subarray(40, -40), digestOf(NEW)),
    'of no such coding': Buffer.from(NEW)
  }
  const path = (what: string) => withFingerprint(`/assets/${what}.js`, digestOf(NEW))
  const site = await make(t)
  const delta = (what: string) => `/public${deltaName(path(what), OLD)}`
  for (const [what, bytes] of Object.entries(corrupt)) site.write(delta(what), bytes)
  const outside = makeProject(t, { delta: good })
  symlinkSync(`${outside}/delta`, site.at(delta('a link out of public')))
  site.write(`${delta('a folder')}/file`, '')
  for (const what of [...Object.keys(corrupt), 'a link out of public', 'a folder']) {
    site.write(`/public${path(what)}`, NEW)
    const headers = offering(OLD)
    const { text, headers: sent } = await site.ask(encodeURI(path(what)), { headers })
    t.is(text, NEW, what)
    t.is(sent['content-encoding'], undefined, what)
    t.is(sent.vary, VARY, 'it was looked at')
  }
  t.deepEqual(site.errors, [])
})
