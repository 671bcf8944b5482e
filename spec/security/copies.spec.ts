// A compressed file is sent only as long as it contains the file that lies beside it.
import { execFileSync } from 'node:child_process'
import { rmSync, symlinkSync } from 'node:fs'
import { Readable } from 'node:stream'
import * as zlib from 'node:zlib'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { withFingerprint } from '../../lib/runtime/urls/spelling.ts'
import { CODINGS, compareCopy, type Coding } from '../../lib/runtime/files/codings.ts'
import { digestOf } from '../../lib/runtime/files/digest.ts'
import { cases, makeProject, makeSite, test, type ExecutionContext } from '../support/index.ts'
import type { Site, SiteOptions } from '../support/index.ts'
import { MOUNTED } from './places.ts'

const TEXT = Buffer.from('body { color: red }\n'.repeat(200))
const OTHER = Buffer.from('body { color: tan }\n'.repeat(200))
const THEN = 1_700_000_000
const FINGERPRINTED = withFingerprint('/assets/app.css', digestOf(TEXT))
const { zstdCompressSync } = zlib as { zstdCompressSync?: (bytes: Buffer) => Buffer }

const COMPRESSED = [
  ['.br', 'br', brotliCompressSync],
  ['.gz', 'gzip', gzipSync],
  ...(zstdCompressSync ? [['.zst', 'zstd', zstdCompressSync] as const] : [])
] as const

const WAYS: ReadonlyArray<readonly [way: string, options: SiteOptions]> = [
  ['from memory', {}],
  ['streamed', { memory: { maxFileBytes: 0 } }],
  ...MOUNTED
]

const CORRUPT: Readonly<
  Record<string, (good: Buffer, compress: (bytes: Buffer) => Buffer) => Buffer>
> = {
  'cut short': good => good.subarray(0, good.length - 3),
  'of its first byte': good => good.subarray(0, 1),
  empty: () => Buffer.alloc(0),
  'of other bytes': (_, compress) => compress(OTHER),
  'of fewer bytes': (_, compress) => compress(TEXT.subarray(0, 1000)),
  'of more bytes': (_, compress) => compress(Buffer.concat([TEXT, TEXT])),
  'of no such coding': () => TEXT
}

/** A site in production with a file in its public folder. */
async function siteWith(t: ExecutionContext, path: string, options: SiteOptions = {}) {
  const production = { env: 'production', compile: false, fingerprint: false, revalidate: 0 }
  const site = await makeSite(t, {}, { ...production, ...options })
  site.write(`/public${path}`, TEXT, THEN)
  return site
}

async function sentAs(site: Site, path: string, coding: string): Promise<string | undefined> {
  const asked = { headers: { 'accept-encoding': coding } }
  const { status, headers, bytes } = await site.ask(path, asked)
  if (status !== 200) return String(status)
  const encoding = headers['content-encoding']
  return encoding === undefined && !bytes.equals(TEXT) ? 'other bytes' : encoding
}

for (const [way, options] of WAYS.slice(0, cases(2, 3))) {
  for (const [extension, coding, compress] of COMPRESSED) {
    test(`a ${extension} file is sent only if it expands to its original, ${way}`, async t => {
      for (const path of [FINGERPRINTED, '/plain.css']) {
        const site = await siteWith(t, path, options)
        const copy = `/public${path}${extension}`
        const good = compress(TEXT)
        site.write(copy, good, THEN)
        t.is(await sentAs(site, path, coding), coding)
        for (const [what, corrupt] of Object.entries(CORRUPT)) {
          // A verified file is trusted as long as it is held, so that each state gets a process's first look.
          const next = await siteWith(t, path, { ...options, root: site.root })
          site.write(copy, corrupt(good, compress), THEN)
          t.is(await sentAs(next, path, coding), undefined, what)
          const { headers } = await next.ask(path)
          // An immutable file may get other representations later.
          if (path !== FINGERPRINTED) t.is(headers.vary, undefined, `${what}: there is no choice`)
          t.deepEqual(next.errors, [])
        }
      }
    })
  }

  test(`a compressed file that is a FIFO, or a link out of public, is never sent, ${way}`, async t => {
    const site = await siteWith(t, '/plain.css', options)
    const outside = makeProject(t, { 'plain.css.gz': gzipSync(TEXT) })
    const at = site.at('/public/plain.css.gz')
    symlinkSync(`${outside}/plain.css.gz`, at)
    t.is(await sentAs(site, '/plain.css', 'gzip'), undefined)
    rmSync(at)
    execFileSync('mkfifo', [at])
    t.is(await sentAs(site, '/plain.css', 'gzip'), undefined)
    rmSync(at)
    symlinkSync('real.gz', at)
    site.write('/public/real.gz', gzipSync(TEXT), THEN)
    t.is(await sentAs(site, '/plain.css', 'gzip'), 'gzip')
    t.deepEqual(site.errors, [])
  })

  test(`a compressed file that changes while the server runs is checked again, ${way}`, async t => {
    const site = await siteWith(t, '/plain.css', options)
    for (const [content, expected] of [
      [gzipSync(OTHER), undefined],
      [gzipSync(TEXT), 'gzip'],
      [gzipSync(OTHER), undefined]
    ] as const) {
      site.write('/public/plain.css.gz', content, THEN)
      t.is(await sentAs(site, '/plain.css', 'gzip'), expected)
    }
  })
}

test('a compressed file that is a zip bomb is not expanded to its end', async t => {
  const member = gzipSync(Buffer.alloc(1024 * 1024))
  const read = { members: 0 }
  const bomb = function* () {
    for (; read.members < 1000; read.members++) yield member
  }
  const gzip = CODINGS.find(({ name }) => name === 'gzip') as Coding
  const original = { size: TEXT.length, digest: digestOf(TEXT) }
  t.is(await compareCopy(original, () => Readable.from(bomb()), gzip), 'different')
  t.true(read.members < 100, `${read.members} of 1000 were read`)
})

test('a compressed file that this version of Node cannot expand is not sent', async t => {
  const site = await siteWith(t, '/plain.css')
  // It begins as Zstandard does, which older versions do not know; newer ones fail at the rest.
  const magic = Buffer.from('28b52ffd', 'hex')
  site.write('/public/plain.css.zst', Buffer.concat([magic, TEXT.subarray(0, 100)]), THEN)
  t.is(await sentAs(site, '/plain.css', 'zstd'), undefined)
})
