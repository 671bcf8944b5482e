// Sources that change all the time: the answer is always what was complete before the request.
import {
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import test from 'ava'
import { showsChangesAfter } from '../../../../lib/files/clock.ts'
import { makeFront } from '../../../support/front.ts'
import { ask } from '../../../support/raw.ts'
import { makeProject, writeFiles } from '../../../support/site.ts'
import { cases } from '../../../support/soak.ts'
import { until } from '../../../support/until.ts'

const MIB = 1024 * 1024

const kinds = {
  'a small file': { file: 'x/app.txt', name: 'app.txt', text: (n: number) => `n${n}` },
  'a stylesheet': { file: 'x/app.css', name: 'app.css', text: (n: number) => `a{order:${n}}` },
  'a Sass file': { file: 'x/s.css.scss', name: 's.css', text: (n: number) => `a{order:${n}}` },
  'a partial': { file: 'x/_part.scss', name: 'with.css', text: (n: number) => `a{order:${n}}` },
  'a big file': {
    file: 'x/big.bin',
    name: 'big.bin',
    text: (n: number) => `${n}.`.padEnd(MIB + 9, 'x')
  }
}

for (const [what, { file, name, text }] of Object.entries(kinds)) {
  test.serial(`${what}, edited before every request: always the newest bytes`, async t => {
    t.timeout(60_000)
    const root = makeProject(t, { 'apps/web/assets/x/with.css.scss': '@use "part";' })
    const path = join(root, 'apps/web/assets', file)
    writeFileSync(path, text(0))
    const { port, errors } = await makeFront(t, { root, env: 'test' })
    const rounds = /Sass|partial|big/.test(what) ? cases(20, 120) : cases(70, 500)
    for (let n = 10_000; n < 10_000 + rounds; n++) {
      // In place, by rename, with an old date, with a date to come, twice in a row: of one size always.
      if (n % 5 === 1) {
        writeFileSync(`${root}/new`, text(n))
        renameSync(`${root}/new`, path)
      } else {
        if (n % 5 === 4) writeFileSync(path, text(n - 5000))
        writeFileSync(path, text(n))
      }
      if (n % 5 === 2) utimesSync(path, 1e9, 1e9)
      if (n % 5 === 3) utimesSync(path, 4e9, 4e9)
      const answer = await ask(port, n % 7 === 0 ? 'HEAD' : 'GET', `/assets/${name}`)
      t.is(answer.status, 200)
      if (n % 7 !== 0) t.true(answer.text.includes(String(n)), `${n}: ${answer.text.slice(0, 60)}`)
    }
    t.deepEqual(errors, [])
  })
}

test('a partial with a future mtime is not compiled for every request', async t => {
  const root = makeProject(t, {
    'apps/web/assets/x/app.css.own': 'a{}',
    'apps/web/assets/x/_part.own': 'b{}'
  })
  const part = join(root, 'apps/web/assets/x/_part.own')
  utimesSync(part, 4e9, 4e9)
  let compiles = 0
  const compile = () => ({ code: `a{order:${++compiles}}`, dependencies: [part] })
  const own = { extensions: '.own', target: '.css', compile }
  const { port } = await makeFront(t, { root, env: 'test', compilers: [own] })
  await ask(port, 'GET', '/assets/app.css')
  let before = 0
  await until(async () => {
    before = compiles
    await ask(port, 'GET', '/assets/app.css')
    return compiles === before
  }, 'a request that compiles nothing, as nothing was edited')
  writeFileSync(part, 'c{}')
  utimesSync(part, 4e9, 4e9)
  t.is((await ask(port, 'GET', '/assets/app.css')).text, `a{order:${before + 1}}`)
})

test('a plain file beside a Sass file of its name, put there and taken away before every request', async t => {
  const root = makeProject(t, { 'apps/web/assets/x/app.css.scss': 'a { from: sass }' })
  const plain = join(root, 'apps/web/assets/x/app.css')
  const { port } = await makeFront(t, { root, env: 'test' })
  for (let round = 0; round < cases(10, 60); round++) {
    writeFileSync(plain, 'a { from: plain }')
    t.true((await ask(port, 'GET', '/assets/app.css')).text.includes('plain'), `round ${round}`)
    unlinkSync(plain)
    t.true((await ask(port, 'GET', '/assets/app.css')).text.includes('sass'), `round ${round}`)
  }
})

for (const way of ['moved away', 'removed', 'swapped by a link']) {
  test(`a source directory that is ${way} and replaced is watched on in its new place`, async t => {
    const root = makeProject(t, { 'apps/web/assets/x/app.css': 'old' })
    const assets = join(root, 'apps/web/assets')
    if (way === 'swapped by a link') {
      renameSync(assets, join(root, 'old'))
      symlinkSync(join(root, 'old'), assets)
    }
    const { port, errors } = await makeFront(t, { root, env: 'test' })
    const text = async () => (await ask(port, 'GET', '/assets/app.css')).text
    t.is(await text(), 'old')
    writeFiles(root, { 'new/x/app.css': 'new' })
    if (way === 'moved away') renameSync(assets, join(root, 'away'))
    else rmSync(assets, { recursive: true })
    if (way === 'swapped by a link') symlinkSync(join(root, 'new'), assets)
    else renameSync(join(root, 'new'), assets)
    t.is(await text(), 'new')
    writeFiles(assets, { 'a/app.css': 'in a folder that comes first' })
    t.is(await text(), 'in a folder that comes first')
    rmSync(join(assets, 'a'), { recursive: true })
    t.is(await text(), 'new', 'and taken away again')
    t.deepEqual(errors, [])
  })
}

test('sources and public taken away while it runs are a miss, and found again when they come back', async t => {
  const files = { 'apps/web/assets/x/app.css': 'a{}', 'public/robots.txt': 'robots' }
  const root = makeProject(t, files)
  const { port, errors } = await makeFront(t, { root, env: 'test' })
  const statusOf = async (path: string) => (await ask(port, 'GET', path)).status
  for (let round = 0; round < 5; round++) {
    t.is(await statusOf('/assets/app.css'), 200)
    rmSync(join(root, 'public'), { recursive: true })
    t.is(await statusOf('/robots.txt'), 404)
    t.is(await statusOf('/assets/app.css'), 200, 'published anew')
    rmSync(join(root, 'apps'), { recursive: true })
    t.is(await statusOf('/assets/app.css'), 404)
    writeFiles(root, files)
    t.is(await statusOf('/robots.txt'), 200)
  }
  t.deepEqual(errors, [])
})

test('a file of public that is rewritten continuously is never truncated, and every response ends', async t => {
  const root = makeProject(t, { 'public/a.txt': 'x', 'public/big.bin': 'x' })
  const { port, errors } = await makeFront(t, { root, env: 'test' })
  const writer = new Worker(
    `const { writeFileSync, truncateSync } = require('node:fs')
     const { workerData } = require('node:worker_threads')
     const [small, big] = workerData
     for (let n = 0; ; n++) {
       writeFileSync(small, 'y'.repeat(1 + (n % 50) * 997))
       truncateSync(small, n % 7)
       if (n % 20 === 0) writeFileSync(big, Buffer.alloc(1_200_000 + (n % 9) * 1000, 120))
       if (n % 20 === 10) truncateSync(big, 1_100_000)
     }`,
    { eval: true, workerData: [join(root, 'public/a.txt'), join(root, 'public/big.bin')] }
  )
  t.teardown(() => writer.terminate())
  for (let round = 0; round < cases(100, 500); round++) {
    const path = round % 10 === 0 ? '/big.bin' : '/a.txt'
    // A download whose file shrinks is cut off, perhaps before its first byte.
    const answer = await ask(port, 'GET', path).catch((error: Error) => {
      if (path !== '/big.bin' || !/^no answer: $/.test(error.message)) throw error
    })
    if (path === '/a.txt' && answer?.status === 200) {
      t.is(answer.body.length, Number(answer.headers['content-length']), answer.head)
    }
  }
  await writer.terminate()
  for (const name of ['a.txt', 'big.bin']) {
    const { status, body } = await ask(port, 'GET', `/${name}`)
    t.is(status, 200)
    t.true(body.equals(readFileSync(join(root, 'public', name))), 'whole, once it rests')
  }
  t.deepEqual(errors, [])
})

test('a big file of public that is replaced while its state is trusted is found, never 404', async t => {
  const root = makeProject(t, { 'public/big.bin': Buffer.alloc(2 * MIB, 0) })
  const front = await makeFront(t, {
    root,
    env: 'production',
    fingerprint: false,
    revalidate: 3600
  })
  for (let version = 1; version < cases(10, 50); version++) {
    t.is((await ask(front.port, 'GET', '/big.bin')).status, 200)
    writeFileSync(join(root, 'new'), Buffer.alloc(2 * MIB + version, version))
    renameSync(join(root, 'new'), join(root, 'public/big.bin'))
    const answer = await ask(front.port, 'GET', '/big.bin')
    t.is(answer.status, 200)
    t.is(answer.body.length, 2 * MIB + version)
    t.is(answer.body.at(-1), version)
  }
})

test('a stamp is conclusive when neither bytes nor inode changed recently', t => {
  const now = 1_700_000_000_123
  const at = (ms: number) => BigInt(now + ms) * 1_000_000n
  const stamp = (mtime: number, ctime: number) => ({
    ...{ dev: 1n, ino: 1n, size: 1n },
    ...{ mtimeNs: at(mtime), ctimeNs: at(ctime) }
  })
  t.true(showsChangesAfter(stamp(-1000, -1000), now))
  t.false(showsChangesAfter(stamp(-1000, -5), now))
  t.false(showsChangesAfter(stamp(-5, -1000), now))
  t.false(showsChangesAfter(stamp(5000, -1000), now), 'a date in the future')
})

test('PUB-05a on a file system that stamps whole seconds, a stamp is conclusive after two', t => {
  const second = 1_700_000_000_000
  const rested = (mtime: number, ctime: number, later: number) =>
    showsChangesAfter(
      {
        ...{ dev: 1n, ino: 1n, size: 1n },
        ...{ mtimeNs: BigInt(mtime) * 1_000_000n, ctimeNs: BigInt(ctime) * 1_000_000n }
      },
      second + later
    )
  t.false(rested(second, second, 999), 'ext3 and HFS+ stamp one second')
  t.false(rested(second, second, 1999), 'FAT stamps two')
  t.true(rested(second, second, 2100))
  t.false(rested(second - 5000, second, 1999), 'the mtime was set back')
  t.true(rested(second, second + 1, 100), 'a copy of a whole second on a disk that stamps finely')
})
