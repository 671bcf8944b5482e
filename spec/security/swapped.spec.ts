// Links that are swapped between inside and outside all the time, while sources are published.
import { execFileSync } from 'node:child_process'
import { readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { Worker } from 'node:worker_threads'
import * as zlib from 'node:zlib'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { test, type ExecutionContext } from '../support/test.ts'
import { precompile } from '../../lib/koa-assets.ts'
import { withFingerprint } from '../../lib/runtime/urls/spelling.ts'
import { CODINGS, compareCopy, type Coding } from '../../lib/runtime/files/codings.ts'
import { digestOf } from '../../lib/runtime/files/digest.ts'
import { filesBelow } from '../support/fingerprinted.ts'
import { type Front, makeFront } from '../support/front.ts'
import { ask } from '../support/raw.ts'
import {
  type Files,
  makeProject,
  makeSite,
  type Site,
  type SiteOptions,
  writeFiles
} from '../support/site.ts'
import { cases } from '../support/soak.ts'
import { MOUNTED, PLACES } from './places.ts'
import { SECRET } from './stronghold.ts'

const BIG = 1_100_000

/**
 * Points a link at two places in turn, some thousand times a second, until the spec is over, or until it is told
 * to leave it at the first of them.
 */
async function swap(
  t: ExecutionContext,
  link: string,
  places: readonly string[]
): Promise<() => Promise<void>> {
  symlinkSync(places[0] ?? '', link)
  const worker = new Worker(
    `const { renameSync, symlinkSync } = require('node:fs')
     const { parentPort, workerData: { link, places } } = require('node:worker_threads')
     // Without a pause its events in the watched folder would leave the spec no turn.
     const pause = new Int32Array(new SharedArrayBuffer(4))
     for (let at = 0; ; at++) {
       Atomics.wait(pause, 0, 0, 0.1)
       symlinkSync(places[at % places.length], link + '.swap')
       renameSync(link + '.swap', link)
       if (at === 10) parentPort.postMessage('swapping')
     }`,
    { eval: true, workerData: { link, places } }
  )
  t.teardown(() => worker.terminate())
  await new Promise(resolve => worker.once('message', resolve))
  return async () => {
    await worker.terminate()
    rmSync(`${link}.swap`, { force: true })
    rmSync(link)
    symlinkSync(places[0] ?? '', link)
  }
}

function tellsSecret(root: string): string[] {
  const folder = join(root, 'public')
  return filesBelow(folder).filter(file => readFileSync(join(folder, file)).includes(SECRET))
}

for (const what of ['a file', 'a big file', 'a folder'] as const) {
  test.serial(
    `${what} of a source that is a swapped link never publishes what lies outside`,
    async t => {
      const size = what === 'a big file' ? BIG : 100
      const inside = Buffer.alloc(size, 'inside ')
      const outside = makeProject(t, { 'x.bin': Buffer.alloc(size, SECRET) })
      const root = makeProject(t, {
        'apps/web/assets/images/good/x.bin': inside,
        'apps/web/assets/images/y': ''
      })
      const images = join(root, 'apps/web/assets/images')
      const rest =
        what === 'a folder'
          ? await swap(t, join(images, 'link'), ['good', outside])
          : await swap(t, join(images, 'link.bin'), ['good/x.bin', join(outside, 'x.bin')])
      const name = what === 'a folder' ? 'link/x.bin' : 'link.bin'
      const { ask: request } = await makeSite(t, {}, { root, env: 'test' })
      for (let round = 0; round < cases(8, 1000); round++) {
        await request(`/assets/${name}`)
        t.deepEqual(tellsSecret(root), [], `round ${round}`)
      }
      await rest()
      t.is((await request(`/assets/${name}`)).status, 200, 'what lies inside is published')
    }
  )
}

test.serial('a precompile publishes nothing from outside while links are swapped', async t => {
  const files = (folder: string, text: string) =>
    Object.fromEntries([
      [`${folder}x.bin`, Buffer.alloc(BIG, text)],
      ...Array.from({ length: 20 }, (_, at) => [`${folder}small${at}.css`, `/*! ${text} */`])
    ])
  const outside = makeProject(t, files('', SECRET))
  const root = makeProject(t, files('apps/web/assets/images/good/', 'inside '))
  const images = join(root, 'apps/web/assets/images')
  await swap(t, join(images, 'link.bin'), ['good/x.bin', join(outside, 'x.bin')])
  await swap(t, join(images, 'link'), ['good', outside])
  for (let round = 0; round < cases(1, 20); round++) {
    await precompile({ root, integrity: false }, { warn: () => {} }).catch((error: unknown) => {
      // The file that was published may not be the one that was digested.
      t.like(error, { name: /AssetError|PrecompileError/.exec(String(error))?.[0] ?? 'AssetError' })
    })
    t.deepEqual(tellsSecret(root), [], `round ${round}`)
  }
})

test.serial('nothing is written outside while a folder of public is a swapped link', async t => {
  const outside = makeProject(t)
  const source = 'apps/web/assets/x/sub/app.txt'
  const root = makeProject(t, { [source]: 'a', 'public/assets/real/y': '' })
  const rest = await swap(t, join(root, 'public/assets/sub'), ['real', outside])
  const { ask: request, errors } = await makeSite(t, {}, { root, env: 'test' })
  for (let round = 0; round < cases(8, 1000); round++) {
    writeFiles(root, { [source]: `round ${round}` })
    await request('/assets/sub/app.txt')
    t.deepEqual(filesBelow(outside), [], `round ${round}`)
  }
  await rest()
  t.is((await request('/assets/sub/app.txt')).status, 200, 'into the folder inside')
  for (const error of errors) t.like(error, { code: 'publish-failed' })
})

// Links that are swapped between inside and outside while they are read.

const SMALL = 1000
const BIG_TEXT = 200_000

/** A file for memory and one that is streamed. */
function smallAndBig(folder: string, text: string): Files {
  return {
    [`${folder}small.txt`]: text.repeat(SMALL / text.length),
    [`${folder}big.txt`]: text.repeat(BIG_TEXT / text.length)
  }
}

const GOOD = 'good'.padEnd(20, '.')
const BAD = SECRET.slice(0, 20).padEnd(20, '!')

/** Points a link to one after the other as long as others ask; then to the first, then to the last. */
async function swapping(
  t: ExecutionContext,
  { port }: Front,
  at: string,
  targets: readonly string[],
  paths: readonly string[]
): Promise<void> {
  const pointTo = (target = '') => {
    symlinkSync(target, `${at}.new`)
    renameSync(`${at}.new`, at)
  }
  const race = { isOver: false }
  const stop = () => (race.isOver = true)
  const asking = askAll(t, port, paths)
  asking.then(stop, stop)
  for (let round = 0; !race.isOver; round++) {
    pointTo(targets[round % targets.length])
    await new Promise(resolve => setImmediate(resolve))
  }
  await asking
  for (const [target, status] of [
    [targets[0], 200],
    [targets.at(-1), 404]
  ] as const) {
    pointTo(target)
    for (const path of paths) t.is((await ask(port, 'GET', path)).status, status, target)
  }
}

async function askAll(t: ExecutionContext, port: number, paths: readonly string[]): Promise<void> {
  for (let batch = 0; batch < cases(2, 50); batch++) {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) => ask(port, 'GET', paths[at % paths.length] ?? ''))
    )
    for (const { text } of answers) t.false(text.includes(BAD), 'a byte of the outside')
  }
}

// Nothing is held, so that every request looks, opens and judges.
const ALWAYS_LOOK = { memory: { maxBytes: 1, maxFileBytes: 100_000 }, revalidate: 0 }

const runs = PLACES.flatMap(place =>
  (['production', 'development'] as const).map(env => ({ ...place, env }))
)

interface Swap {
  /** Below the project. */
  readonly at: string
  readonly targets: readonly string[]
  readonly paths: readonly string[]
}

/** What is swapped: the files of the project, and what a link points to in turn. */
const SWAPPED: Readonly<Record<string, readonly [Files, (outside: string) => readonly Swap[]]>> = {
  'a link to a file': [
    smallAndBig('public/', GOOD),
    outside =>
      ['small', 'big'].map(name => ({
        at: `public/${name}-link.txt`,
        targets: [`${name}.txt`, join(outside, `${name}.txt`)],
        paths: [`/${name}-link.txt`]
      }))
  ],
  'a folder': [
    smallAndBig('public/real/', GOOD),
    outside => {
      const paths = ['/folder/small.txt', '/folder/big.txt']
      return [{ at: 'public/folder', targets: ['real', outside], paths }]
    }
  ],
  'public itself': [
    { ...smallAndBig('real/', GOOD), ...smallAndBig('next/', GOOD) },
    outside => {
      const paths = ['/small.txt', '/big.txt']
      return [{ at: 'public', targets: ['real', 'next', outside], paths }]
    }
  ]
}

for (const { where, at: mounted, env, options: placed } of runs) {
  const compile = env === 'development'
  const options = { ...ALWAYS_LOOK, env, compile, fingerprint: false, ...placed }
  for (const [what, [files, swapsOf]] of Object.entries(SWAPPED)) {
    test(`${what} that is swapped while it is read serves nothing from outside${where}, in ${env}`, async t => {
      const outside = makeProject(t, { ...smallAndBig('', BAD), 'assets/.keep': '' })
      const root = makeProject(t, files)
      const swaps = swapsOf(outside)
      for (const { at, targets } of swaps) symlinkSync(targets[0] ?? '', join(root, at))
      const front = await makeFront(t, { root, ...options })
      for (const { at, targets, paths } of swaps) {
        const urls = paths.map(path => mounted + path)
        for (const url of urls) t.is((await ask(front.port, 'GET', url)).status, 200)
        await swapping(t, front, join(root, at), targets, urls)
      }
      t.deepEqual(front.errors, [])
    })
  }
}

// Compressed files that are not what lies beside them.

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

const APPS = { apps: { web: { compile: false, fingerprint: false } } }

for (const [way, options] of WAYS.slice(0, cases(2, 3))) {
  for (const path of [FINGERPRINTED, '/plain.css']) {
    for (const [extension, coding] of Object.entries(NAMES)) {
      const compress = compressed[extension]
      const name = `${path === FINGERPRINTED ? 'an immutable file' : 'a plain file'}, ${way}`
      if (!compress) continue

      test(`${extension} of ${name}, is sent when it is one, and never when it is not`, async t => {
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
          // An immutable file may get other representations later.
          if (path !== FINGERPRINTED) t.is(headers.vary, undefined, `${what}: there is no choice`)
          t.deepEqual(next.errors, [])
        }
      })
    }
  }

  test(`a compressed file that is a link out, or no file, is never sent, ${way}`, async t => {
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

  test(`a compressed file that is fixed or damaged while the server runs is checked again, ${way}`, async t => {
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

test('a bomb is expanded no further than the file is long', async t => {
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

test('what this version of Node cannot read is not sent', async t => {
  const site = await place(t, { ...APPS, revalidate: 0 }, '/plain.css')
  site.write('/public/plain.css.zst', Buffer.concat([ZSTD_MAGIC, TEXT.subarray(0, 100)]), THEN)
  t.is(await sentAs(site, '/plain.css', 'zstd'), undefined)
})
