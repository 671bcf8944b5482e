// What is known of files: what is missing, for `revalidate` seconds; and files that change while they are found,
// opened or sent.
import { once } from 'node:events'
import fs from 'node:fs'
import type { RequestListener } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2 } from 'node:http2'
import promises from 'node:fs/promises'
import { connect } from 'node:net'
import { settleProject } from '../../../lib/runtime/app/extras.ts'
import { Directories } from '../../../lib/runtime/serving/directories.ts'
import { withFingerprint } from '../../../lib/runtime/urls/spelling.ts'
import { digestOf } from '../../../lib/runtime/files/digest.ts'
import { cases, growsInProportion, makeProject, makeSite, open } from '../../support/index.ts'
import { openDescriptors, replaceCalls, test, until } from '../../support/index.ts'
import { words, type ExecutionContext, type Site, type SiteOptions } from '../../support/index.ts'
import { SENDERS } from '../../support/ways.ts'

const FILES = {
  '/public/assets/there.css': 'there',
  '/public/assets/vendor/there.css': 'there',
  '/public/images/there.png': 'there',
  '/elsewhere/new.css': 'new',
  '/elsewhere/folder/new.css': 'new'
}

/** Production. @param revalidate by default so long that nothing is looked up again */
function makeRemembering(t: ExecutionContext, revalidate = 3600): Promise<Site> {
  return makeSite(t, FILES, { compile: false, fingerprint: false, revalidate })
}

/** Often enough that it is remembered. */
async function miss(site: Site, path: string): Promise<number[]> {
  const statuses: number[] = []
  for (let times = 0; times < 4; times++) statuses.push((await site.ask(path)).status)
  return statuses
}

/** How a file appears, and what was there before. */
const APPEARING: Readonly<
  Record<string, { path: string; before?: (site: Site) => void; appear: (site: Site) => void }>
> = {
  ...Object.fromEntries(
    ['/new.css', '/images/new.css', '/fresh/folder/new.css'].map(path => [
      `written to ${path}`,
      { path, appear: (site: Site) => site.write(`/public${path}`, 'new') }
    ])
  ),
  'moved with its folder': {
    path: '/fresh/new.css',
    appear: site => fs.renameSync(site.at('/elsewhere/folder'), site.at('/public/fresh'))
  },
  'moved in place of a folder': {
    path: '/assets/vendor',
    appear(site) {
      fs.renameSync(site.at('/public/assets/vendor'), site.at('/public/old'))
      fs.renameSync(site.at('/elsewhere/new.css'), site.at('/public/assets/vendor'))
    }
  },
  'behind a link to its folder': {
    path: '/assets/pictures/new.png',
    before: site => fs.symlinkSync(site.at('/public/images'), site.at('/public/assets/pictures')),
    appear: site => site.write('/public/images/new.png', 'new')
  },
  'in a public that is made': {
    path: '/new.css',
    before: site => fs.renameSync(site.at('/public'), site.at('/gone')),
    appear: site => site.write('/public/new.css', 'new')
  }
}

for (const [how, { path, before, appear }] of Object.entries(APPEARING)) {
  test(`a file that is ${how} is served after \`revalidate\``, async t => {
    const site = await makeRemembering(t, 0.05)
    before?.(site)
    for (const missing of [path, '/page', '/deep/page'])
      t.deepEqual([missing, ...(await miss(site, missing))], [missing, 404, 404, 404, 404])
    appear(site)
    await until(async () => (await site.ask(path)).text === 'new', `${path} is served`)
    t.is((await site.ask('/page')).status, 404)
  })
}

test('a new file is served at once, except a page or a folder at the top of public', async t => {
  const site = await makeRemembering(t)
  for (const path of ['/page', '/fresh/new.css']) {
    await miss(site, path)
    site.write(`/public${path}`, 'new')
    t.deepEqual([path, ...(await miss(site, path))], [path, 404, 404, 404, 404])
  }
  for (const path of words(`/new.css /assets/page /assets/new.css /assets/vendor/new.css
    /images/new.css`)) {
    t.is((await miss(site, path)).at(-1), 404)
    site.write(`/public${path}`, 'new')
    t.is((await site.ask(path)).text, 'new')
  }
})

test('a fingerprinted URL that was requested too early is served as soon as it is built', async t => {
  const site = await makeSite(t, { 'a.css': 'old' }, { fingerprint: true, revalidate: 3600 })
  t.is((await site.ask('/assets/a.css')).text, 'old')
  const early = `/assets/a-${digestOf(Buffer.from('new'))}.css`
  t.is((await miss(site, early)).at(-1), 404)
  site.write('a.css', 'new')
  t.is((await site.ask(early)).text, 'new')
})

const MIB = 1024 * 1024
const OLD = Buffer.alloc(cases(16, 32) * MIB, 'old.')
const NPM = 499_162_500 // What npm packs is of October 1985.
const PRODUCTION = { env: 'production', compile: false, fingerprint: false } as const

/** Writes over a file's bytes, the last one first, and leaves its name, size and inode as they are. */
function overwrite(path: string): void {
  const fd = fs.openSync(path, 'r+')
  const piece = Buffer.alloc(MIB, 'NEW!')
  for (let at = OLD.length - MIB; at >= 0; at -= MIB) fs.writeSync(fd, piece, 0, MIB, at)
  fs.closeSync(fd)
}

/** Reads a beginning, lets something happen, and reads what else comes until the connection is closed. */
async function download(port: number, headers: string, meanwhile: () => void) {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(`GET /big.bin HTTP/1.1\r\nHost: x\r\n${headers}\r\n`)
  await once(socket, 'readable')
  meanwhile()
  const chunks: Buffer[] = []
  socket.on('data', chunk => chunks.push(chunk))
  await once(socket, 'close')
  const bytes = Buffer.concat(chunks)
  const end = bytes.indexOf('\r\n\r\n') + 4
  return { head: bytes.toString('latin1', 0, end), body: bytes.subarray(end) }
}

for (const [what, headers, length] of [
  ['whole', '', OLD.length],
  ['in part', `Range: bytes=4-${OLD.length - 1}\r\n`, OLD.length - 4]
] as const) {
  for (const [sender, options] of SENDERS.slice(0, what === 'whole' ? cases(2, 3) : cases(1, 3))) {
    for (const [how, change] of [
      ['overwritten in place', overwrite],
      ['truncated', (path: string) => fs.truncateSync(path, 1000)]
    ] as const) {
      test(`a file ${how} while sent ${what} ends in an aborted connection, ${sender}`, async t => {
        const site = await makeSite(t, { '/public/big.bin': OLD }, { ...PRODUCTION, ...options })
        const path = site.at('/public/big.bin')
        const { head, body } = await download(site.port, headers, () => change(path))
        t.regex(head, new RegExp(`\\r\\nContent-Length: ${length}\\r\\n`))
        t.true(body.length < length, `${body.length} bytes`)
        t.deepEqual(site.errors, [])
        await until(() => openDescriptors(site.root) === 0, 'the file is closed')
      })
    }

    test(`a file that is replaced while it is sent ${what} arrives with the old bytes, ${sender}`, async t => {
      const site = await makeSite(t, { '/public/big.bin': OLD }, { ...PRODUCTION, ...options })
      const path = site.at('/public/big.bin')
      const next = Buffer.alloc(OLD.length, 'next')
      fs.utimesSync(path, NPM, NPM)
      const replaceIt = () => {
        site.write('/public/next.bin', next)
        fs.renameSync(site.at('/public/next.bin'), path)
      }
      // As a precompile sets it, before it is replaced.
      for (const change of [() => fs.utimesSync(path, NPM, NPM), replaceIt]) {
        const { body } = await download(site.port, `${headers}Connection: close\r\n`, change)
        t.true(body.equals(OLD.subarray(-length)))
      }
      t.true((await site.ask('/big.bin')).bytes.equals(next))
    })
  }
}

for (const [sender, options] of SENDERS.slice(0, cases(2, 3))) {
  test(`over HTTP/2 a file that is overwritten in place ends in a stream that is reset, ${sender}`, async t => {
    const site = await makeSite(t, { '/public/big.bin': OLD }, { ...PRODUCTION, ...options })
    const server = createHttp2((req, res) => void site.app.callback()(req, res))
    const session = connectHttp2(`http://127.0.0.1:${await open(t, server)}`)
    const stream = session.request({ ':path': '/big.bin' })
    await once(stream, 'response')
    overwrite(site.at('/public/big.bin'))
    stream.resume()
    const [error] = (await once(stream, 'error')) as [NodeJS.ErrnoException]
    t.is(error.code, 'ERR_HTTP2_STREAM_ERROR')
    session.close()
    await until(() => openDescriptors(site.root) === 0, 'the file is closed')
    t.deepEqual(site.errors, [])
  })
}

function replace(path: string): void {
  fs.appendFileSync(`${path}.next`, 'y'.repeat(6000))
  fs.renameSync(`${path}.next`, path)
}

for (const [what, change] of [
  ['grows', (path: string) => fs.appendFileSync(path, 'more')],
  ['is replaced', replace]
] as const) {
  for (const [sender, options] of SENDERS.slice(0, cases(2, 3))) {
    test(`a file that ${what} whenever it is looked at is a 200 with its true size, ${sender}`, async t => {
      const unkept = { revalidate: 0, memory: { maxFileBytes: 100 } }
      const files = { '/public/big.bin': 'x'.repeat(5000) }
      const site = await makeSite(t, files, { ...PRODUCTION, ...unkept, ...options })
      site.server.prependListener('request', changing(site.at('/public/big.bin'), change))
      for (let round = 0; round < 20; round++) {
        const { status, headers, bytes } = await site.ask('/big.bin')
        t.is(status, 200)
        t.is(Number(headers['content-length']), bytes.length)
        t.true(bytes.length >= 5000)
      }
      await until(() => openDescriptors(site.root) === 0, 'the file is closed')
      t.deepEqual(site.errors, [])
    })
  }
}

/** Changes the file in every turn of the event loop until its download begins. */
function changing(path: string, change: (path: string) => void): RequestListener {
  return (_, res) => {
    const again = () => {
      if (res.headersSent || res.destroyed) return
      change(path)
      setImmediate(again)
    }
    again()
  }
}

test('a fingerprinted file too large for memory has its digest as ETag on all replicas', async t => {
  const bytes = Buffer.alloc(2 * MIB, 'film')
  const name = withFingerprint('/assets/film.mp4', digestOf(bytes))
  for (const mtime of [1e9, 1.5e9]) {
    const site = await makeSite(t, {}, PRODUCTION)
    site.write(`/public${name}`, bytes, mtime)
    const { status, headers } = await site.ask(name, { method: 'HEAD' })
    t.deepEqual([status, headers.etag], [200, `"${digestOf(bytes)}"`])
    t.is(headers['cache-control'], 'public, max-age=31536000, immutable')
  }
})

test('a file whose folders have more names than are remembered is served', async t => {
  const site = await makeRemembering(t)
  for (let at = 0; at < 4900; at++) site.write(`/public/images/${at}.png`, 'image')
  fs.symlinkSync('.', site.at('/public/images/again'))
  const deep = `/images${'/again'.repeat(9)}`
  t.is((await site.ask(`${deep}/7.png`)).status, 200)
  t.is((await site.ask(`${deep}/none.png`)).status, 404)
  t.deepEqual(site.errors, [])
})

test('a folder of 20,000 names is listed at most once a second, also for names in two cases', async t => {
  const site = await makeSite(t, {}, { ...PRODUCTION, revalidate: 3600 })
  const names = Array.from({ length: 20_000 }, (_, at) => `${at}.txt`)
  for (const name of [...names, 'a.txt', 'A.TXT']) site.write(`/public/${name}`, name)
  const calls: string[] = []
  for (const call of ['opendir', 'readdir'] as const) {
    const original = promises[call] as (folder: string) => unknown
    const counted = (folder: string, ...others: []) => {
      if (folder.startsWith(site.at('/public'))) calls.push(call)
      return original(folder, ...others)
    }
    replaceCalls(t, { [`promises.${call}`]: counted })
  }
  const start = performance.now()
  for (const name of [...names.slice(0, 100), 'a.txt', 'A.TXT']) {
    site.write(`/public/new-${name}`, 'new')
    t.is((await site.ask(`/${name}`)).text, name)
    t.is((await site.ask(`/${name.replace('.txt', '')}/page`)).status, 404)
  }
  const seconds = Math.ceil((performance.now() - start) / 1000)
  t.false(calls.includes('readdir'))
  // The first page asks for the names at the top, and then they are known for `revalidate`.
  t.true(calls.length <= 1 + seconds, `${calls.length} times in ${seconds} s`)
})

test('a path of thousands of folders takes time in proportion to its length', t => {
  const settings = settleProject({ root: makeProject(t), env: 'production', apps: false }, {})
  const given = { isOrdinary: async () => true, isHashed: () => false }
  const files = new Directories(settings, given).public
  t.true(growsInProportion(4096, length => files.recall('/a'.repeat(length / 2))))
})

// The validators of a file that stays on disk are a function of its bytes, its size and its mtime.

interface State {
  readonly size: number
  /** The first, the middle and the last byte. */
  readonly mark: number
  readonly mtime: number
}

function write(file: string, { size, mark, mtime }: State): void {
  const bytes = Buffer.alloc(size, 'film')
  for (const at of [0, size / 2, size - 1]) bytes[Math.floor(at)] = mark
  // Not through another of its names.
  fs.rmSync(file, { force: true })
  fs.writeFileSync(file, bytes)
  fs.utimesSync(file, mtime, mtime)
}

/** What is read whole, and what is sampled. */
const SIZES = [300, 2 * MIB, 5 * MIB, 5 * MIB + 1]
/** In seconds: what is a date, what a second later is, and what npm, zip and Nix write. */
const MTIMES = [1_700_000_000, 1_700_000_001, 1_700_000_000.25, NPM, 315_532_800, 1]
const STATES = SIZES.flatMap(size =>
  [0, 1].flatMap(mark => MTIMES.map((mtime): State => ({ size, mark, mtime })))
)

/** What keeps the bytes and the mtime of the file. */
const KEEP: ReadonlyArray<(file: string, state: State) => void> = [
  file => fs.chmodSync(file, 0o640),
  (file, { mark, mtime }) => fs.linkSync(file, `${file}.${mark}-${mtime}`),
  (file, { mtime }) => {
    fs.copyFileSync(file, `${file}.copy`)
    fs.utimesSync(`${file}.copy`, mtime, mtime)
    fs.renameSync(`${file}.copy`, file)
  },
  file => {
    fs.renameSync(file, `${file}.away`)
    fs.renameSync(`${file}.away`, file)
  },
  write
]

test('validators change with nothing but the bytes, the size or the mtime of a file on disk', async t => {
  const makeReplica = (memory: SiteOptions['memory']) =>
    makeSite(t, { '/public/a.mp4': '' }, { ...PRODUCTION, revalidate: 0, memory })
  const memories = [{ maxFileBytes: 100 }, { maxFileBytes: 100, maxBytes: 0 }]
  const replicas = await Promise.all(memories.map(makeReplica))
  const [file = '', other = ''] = replicas.map(site => site.at('/public/a.mp4'))
  const ask = async () =>
    Promise.all(replicas.map(async site => (await site.ask('/a.mp4', { method: 'HEAD' })).headers))
  const known = new Map<string, unknown>()
  for (const [at, state] of STATES.entries()) {
    for (const each of [file, other]) write(each, state)
    const before = await ask()
    KEEP[at % KEEP.length]?.(file, state)
    // What is digested whole needs no mtime. The file system may have only whole or even seconds.
    const mtime = fs.statSync(file).mtimeMs / 1000
    const isOld = mtime < 631_152_000
    const { size, mark } = state
    const identity = JSON.stringify([size, mark, size <= 4 * MIB || isOld ? '' : mtime])
    for (const { etag = '', 'last-modified': date } of [...before, ...(await ask())]) {
      t.regex(etag, /^"[\w-]+"$/)
      t.is(known.get(identity) ?? etag, etag, `${JSON.stringify(state)}, ${at % KEEP.length}`)
      known.set(identity, etag)
      t.is(date, isOld ? undefined : new Date(mtime * 1000).toUTCString())
    }
  }
  t.is(new Set(known.values()).size, known.size)
})

test('an app that compiles publishes its first asset where public has no folder for it yet', async t => {
  const files = { '/assets/x/site.css': 'a{}', '/public/robots.txt': '' }
  const site = await makeSite(t, files, {
    env: 'production',
    revalidate: 30,
    apps: { web: { dir: '.', compile: true, fingerprint: false } },
    routes: ctx => void (ctx.body = 'page')
  })
  for (let times = 0; times < 2; times++) t.is((await site.ask('/about')).text, 'page')
  t.is((await site.ask('/assets/site.css')).text, 'a{}')
})
