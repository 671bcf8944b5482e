// Looks at the disk.
import fs from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import zlib from 'node:zlib'
import { compareCopy } from '../../../lib/runtime/files/codings.ts'
import { digestOf } from '../../../lib/runtime/files/digest.ts'
import { ask } from '../../support/raw.ts'
import { makeFront, makeProject, test, WRITABLE_CODINGS, words } from '../../support/index.ts'
import { startInShell } from '../../support/processes.ts'

const MIB = 1024 * 1024
const COMPILING = { env: 'production', compile: true, fingerprint: false }

test('without free descriptors there are errors for a while, but never wrong bytes', async t => {
  const root = makeProject(t, {
    'apps/web/assets/x/known.css': 'known{}',
    'apps/web/assets/x/new.css': 'new{}',
    'apps/web/assets/x/film.bin': Buffer.alloc(MIB + 1, 1),
    'public/big.bin': Buffer.alloc(MIB + 1, 2),
    'build/big.bin': Buffer.alloc(MIB + 1, 2)
  })
  // Enough for the loader of modules, too few for as many requests.
  const options = { ...COMPILING, root, mounts: { '/static': 'build' } }
  const port = await startInShell(t, 'ulimit -n 128; exec "$@"', options)
  t.is((await ask(port, 'GET', '/assets/known.css')).text, 'known{}')
  const names = ['known.css', 'new.css', 'film.bin'].map(name => `/assets/${name}`)
  const paths = [...names, '/big.bin', '/static/big.bin']
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, at) => paths[at % paths.length] ?? '').map(path =>
      ask(port, 'GET', path).then(
        answer => ({ path, answer }),
        () => undefined
      )
    )
  )
  for (const { path, answer } of answers.filter(one => one !== undefined)) {
    t.true([200, 500].includes(answer.status), `${path} ${answer.status}`)
    if (answer.status === 500) t.is(answer.text, 'Internal Server Error')
    else if (path === '/assets/new.css') t.is(answer.text, 'new{}')
    else if (path.endsWith('big.bin')) t.is(answer.body.length, MIB + 1)
  }
  for (const path of paths) t.is((await ask(port, 'GET', path)).status, 200, path)
  t.is((await ask(port, 'GET', '/big.bin')).body.length, MIB + 1)
})

test('empty files, and files of more than four gigabytes, are served', async t => {
  const root = makeProject(t, {
    'apps/web/assets/x/empty.css': '',
    'apps/web/assets/x/empty.css.map': '',
    'apps/web/assets/x/void.css.scss': '',
    'public/empty.html': '',
    'public/huge.bin': ''
  })
  const huge = 5 * 1024 ** 3
  fs.truncateSync(join(root, 'public/huge.bin'), huge)
  const { port, errors } = await makeFront(t, { root, env: 'development' })
  const paths = words('/assets/empty.css /assets/empty.css.map /assets/void.css /empty.html')
  for (const path of paths) {
    const answer = await ask(port, 'GET', path)
    t.is(answer.status, 200, path)
    if (path !== '/assets/void.css') t.is(answer.headers['content-length'], '0')
    t.is((await ask(port, 'GET', path, { 'If-None-Match': answer.headers.etag ?? '' })).status, 304)
  }
  const head = await ask(port, 'HEAD', '/huge.bin')
  t.is(head.headers['content-length'], String(huge))
  const part = await ask(port, 'GET', '/huge.bin', { Range: `bytes=${huge - 10}-` })
  t.deepEqual([part.status, part.body.length], [206, 10])
  t.is(part.headers['content-range'], `bytes ${huge - 10}-${huge - 1}/${huge}`)
  t.deepEqual(errors, [])
})

/** Of what gzip writes at its best level: less than with brotli's quality 9, zstd's level 9, or gzip's level 6. */
const AT_MOST: Readonly<Record<string, number>> = { br: 0.9, zstd: 0.96, gzip: 1 }

test('each of brotli, zstd and gzip that Node has is written at its best level', async t => {
  const script = 'node_modules/react-dom/cjs/react-dom-client.development.js'
  const bytes = fs.readFileSync(script).subarray(0, 60_000)
  const names = WRITABLE_CODINGS.map(({ name }) => name)
  t.deepEqual(names, 'zstdCompress' in zlib ? ['br', 'zstd', 'gzip'] : ['br', 'gzip'])
  const gzipped = zlib.gzipSync(bytes, { level: 9 }).length
  for (const coding of WRITABLE_CODINGS) {
    const compressed = (await coding.compress?.(bytes)) ?? Buffer.alloc(0)
    const ratio = compressed.length / gzipped
    t.true(ratio <= (AT_MOST[coding.name] ?? 0), `${coding.name}: ${ratio}`)
    const original = { size: bytes.length, digest: digestOf(bytes) }
    const read = () => Readable.from([compressed])
    t.is(await compareCopy(original, read, coding), 'equal', coding.name)
  }
})
