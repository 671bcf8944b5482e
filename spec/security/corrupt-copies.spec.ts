// Compressed files that are not what lies beside them: S55.
import { execFileSync } from 'node:child_process'
import { rmSync, symlinkSync } from 'node:fs'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import * as zlib from 'node:zlib'
import { Readable } from 'node:stream'
import test, { type ExecutionContext } from 'ava'
import { compareCopy } from '../../lib/files/copies.ts'
import { withFingerprint } from '../../lib/assets/urls/fingerprint.ts'
import { makeProject, makeSite, type Site, type SiteOptions } from '../support/site.ts'
import { digestOf } from '../../lib/files/digest.ts'
import { MOUNTED } from './places.ts'
import { CODINGS, type Coding } from '../../lib/files/codings.ts'

const TEXT = Buffer.from('body { color: red }\n'.repeat(200))
const OTHER = Buffer.from('body { color: tan }\n'.repeat(200))
const THEN = 1_700_000_000
const FINGERPRINTED = withFingerprint('/assets/app.css', digestOf(TEXT))
const ZSTD_MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])
const NAMES = { '.br': 'br', '.gz': 'gzip', '.zst': 'zstd' } as const

const WAYS: ReadonlyArray<readonly [way: string, options: SiteOptions]> = [
  ['from memory', {}],
  ['streamed', { memory: { maxFileBytes: 0 } }],
  ...MOUNTED
]

const { zstdCompressSync } = zlib as { zstdCompressSync?: (bytes: Buffer) => Buffer }

const compressed: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  '.br': brotliCompressSync,
  '.gz': gzipSync,
  ...(zstdCompressSync && { '.zst': zstdCompressSync })
}

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

async function place(t: ExecutionContext, options: SiteOptions, path: string) {
  const file = `/public${path}`
  const site = await makeSite(t, { [file]: TEXT }, { env: 'production', ...options })
  site.write(file, TEXT, THEN)
  return site
}

async function sentAs(site: Site, path: string, coding: string): Promise<string | undefined> {
  const { status, headers, bytes } = await site.ask(path, {
    headers: { 'accept-encoding': coding }
  })
  if (status !== 200) return String(status)
  const encoding = headers['content-encoding']
  if (encoding === undefined && !bytes.equals(TEXT)) return 'other bytes'
  return encoding
}

// With deltas an immutable file varies, whatever is beside it.
const APPS = { apps: { web: { compile: false, fingerprint: false } }, deltas: false }

for (const [way, options] of WAYS) {
  for (const path of [FINGERPRINTED, '/plain.css']) {
    for (const [extension, coding] of Object.entries(NAMES)) {
      const compress = compressed[extension]
      const name = `${path === FINGERPRINTED ? 'an immutable file' : 'a plain file'}, ${way}`
      if (!compress) continue

      test(`S55 ANS-11a ${extension} of ${name}, is sent when it is one, and never when it is not`, async t => {
        const site = await place(t, { ...options, ...APPS, revalidate: 0 }, path)
        const good = compress(TEXT)
        site.write(`/public${path}${extension}`, good, THEN)
        t.is(await sentAs(site, path, coding), coding)
        for (const [what, corrupt] of Object.entries(CORRUPT)) {
          // A verified file is trusted as long as it is held, so that each state gets a process's first look.
          const next = await makeSite(
            t,
            {},
            { ...options, ...APPS, env: 'production', root: site.root }
          )
          site.write(`/public${path}${extension}`, corrupt(good, compress), THEN)
          t.is(await sentAs(next, path, coding), undefined, what)
          const { headers } = await next.ask(path)
          t.is(headers.vary, undefined, `${what}: there is nothing to choose from`)
          t.deepEqual(next.errors, [])
        }
      })
    }
  }

  test(`S55 a compressed file that is a link out, or no file, is never sent, ${way}`, async t => {
    const site = await place(t, { ...options, ...APPS, revalidate: 0 }, '/plain.css')
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

  test(`S55 a compressed file that is fixed or spoilt while the server runs is judged anew, ${way}`, async t => {
    const site = await place(t, { ...options, ...APPS, revalidate: 0 }, '/plain.css')
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

test('S55 a bomb is expanded no further than the file is long', async t => {
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

test('S55 what this version of Node cannot read is not sent', async t => {
  const site = await place(t, { ...APPS, revalidate: 0 }, '/plain.css')
  site.write('/public/plain.css.zst', Buffer.concat([ZSTD_MAGIC, TEXT.subarray(0, 100)]), THEN)
  t.is(await sentAs(site, '/plain.css', 'zstd'), undefined)
})
