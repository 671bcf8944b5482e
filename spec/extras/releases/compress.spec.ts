import { randomBytes } from 'node:crypto'
import { appendFileSync, lstatSync, readFileSync, readdirSync } from 'node:fs'
import { symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as zlib from 'node:zlib'
import type { CompressOptions, CompressReport } from '../../../lib/index.ts'
import { compress, verifyCopies } from '../../../lib/index.ts'
import { makeProject, makeSite, test, WRITABLE_CODINGS, writeFiles } from '../../support/index.ts'
import type { ExecutionContext, Files } from '../../support/index.ts'

const SCRIPT = readFileSync('node_modules/react-dom/cjs/react-dom-client.development.js')
const CSS = SCRIPT.subarray(0, 50_000)
const TEXT = 'body { color: red }\n'.repeat(200)
const OTHER = 'body { color: tan }\n'.repeat(200)

type Decode = (bytes: Buffer) => Buffer
const DECODE: Readonly<Record<string, Decode | undefined>> = {
  '.br': zlib.brotliDecompressSync,
  '.gz': zlib.gunzipSync,
  // Since Node 22.15.
  '.zst': (zlib as { zstdDecompressSync?: Decode }).zstdDecompressSync
}
const WRITTEN = WRITABLE_CODINGS.map(({ extension }) => extension)

/** Of everything but folders. Node's own `recursive` follows links in some versions. */
function namesIn(root: string, folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap(entry =>
    entry.isDirectory() ? namesIn(root, `${folder}${entry.name}/`) : [folder + entry.name]
  )
}

function makeDirectory(t: ExecutionContext, files: Files) {
  const root = makeProject(t, files)
  const at = (path: string) => join(root, path)
  const names = () => namesIn(root).toSorted()
  const copy = (path: string, extension: string) =>
    DECODE[extension]?.(readFileSync(at(path + extension))).toString()
  return { root, at, names, copy }
}

const withCopies = (path: string) => [path, ...WRITTEN.map(extension => path + extension)]
const changesOf = ({ codings }: CompressReport) =>
  codings
    .filter(({ isWritable }) => isWritable)
    .map(({ written, removed }) => ({ written, removed }))
const each = (written: number, removed = 0) => WRITTEN.map(() => ({ written, removed }))

test('compress writes copies that koaAssets sends, whatever the times of the originals', async t => {
  const paths = ['app.css', 'a/b/app.css', 'old.css', 'new.css', '.well-known/app.css']
  const root = makeProject(t, Object.fromEntries(paths.map(path => [`dist/${path}`, TEXT])))
  utimesSync(join(root, 'dist/old.css'), 1e9, 1e9)
  utimesSync(join(root, 'dist/new.css'), 3e9, 3e9 + 0.123_456)
  await compress(join(root, 'dist'))
  const options = { root, env: 'production', mounts: { '/': 'dist' } }
  for (const maxFileBytes of [1_000_000, 0]) {
    const site = await makeSite(t, {}, { ...options, memory: { maxFileBytes } })
    for (const path of paths)
      for (const { name } of WRITABLE_CODINGS) {
        const asked = { 'accept-encoding': name }
        const { status, headers } = await site.ask(`/${path}`, { headers: asked })
        t.deepEqual([status, headers['content-encoding']], [200, name], path)
      }
  }
})

test('include and exclude choose what compress writes, never what it removes', async t => {
  const paths = ['a.js', 'a.js.map', 'lib/b.css', 'lib/b.css.map']
  const { root, names } = makeDirectory(t, Object.fromEntries(paths.map(path => [path, TEXT])))
  const compressed = () => paths.filter(path => names().includes(`${path}.br`))
  const leftOut = async (options: CompressOptions) => (await compress(root, options)).leftOut
  const noStyles = await leftOut({ include: ['*.css'], exclude: ['none'] })
  t.deepEqual(noStyles, ['a.js', 'a.js.map', 'lib/b.css.map'])
  t.deepEqual(compressed(), ['lib/b.css'])
  t.deepEqual(await leftOut({ exclude: ['lib/**'] }), ['a.js.map', ...paths.slice(2)])
  t.deepEqual(compressed(), ['a.js', 'lib/b.css'])
  t.deepEqual(await leftOut({ include: ['**'], exclude: ['a.*.map'] }), ['a.js.map'])
  t.deepEqual(compressed(), ['a.js', 'lib/b.css', 'lib/b.css.map'])
})

test('a copy that is damaged, of other bytes, or larger than its original is replaced', async t => {
  const faults = [
    (bytes: Buffer) => bytes.subarray(0, -1),
    () => Buffer.alloc(0),
    () => Buffer.from('no such coding'),
    () => zlib.gzipSync(OTHER),
    () => zlib.brotliCompressSync(OTHER),
    () => zlib.gzipSync(TEXT.repeat(5_000)),
    () => zlib.gzipSync(TEXT, { level: 0 })
  ]
  const names = faults.map((_, at) => `${at}.css`)
  const { root, at, copy } = makeDirectory(t, Object.fromEntries(names.map(name => [name, TEXT])))
  await compress(root)
  const copies = names.flatMap(name => WRITTEN.map(extension => [name, extension] as const))
  for (const [name, extension] of copies) {
    const path = at(name + extension)
    writeFileSync(path, faults[names.indexOf(name)]?.(readFileSync(path)) ?? '')
  }
  t.deepEqual(changesOf(await compress(root)), each(faults.length))
  for (const [name, extension] of copies) t.is(copy(name, extension), TEXT)
})

test('compress removes the old copies of a file that compression no longer makes smaller', async t => {
  const { root, names } = makeDirectory(t, { 'app.css': TEXT, 'data.json': TEXT })
  await compress(root)
  writeFiles(root, { 'app.css': 'a{}', 'data.json': randomBytes(5000) })
  t.deepEqual(changesOf(await compress(root)), each(0, 2))
  t.deepEqual(names(), ['app.css', 'data.json'])
})

test('compress follows no link to a file, a folder or a copy below its directory', async t => {
  const files = { 'secret.css': TEXT, 'folder/secret.css': TEXT, copy: 'kept' }
  const outside = makeDirectory(t, files)
  const { root, names, at } = makeDirectory(t, { 'app.css': TEXT })
  symlinkSync(outside.at('secret.css'), at('link.css'))
  symlinkSync(outside.at('folder'), at('folder'))
  symlinkSync(root, at('again'))
  symlinkSync(root, join(outside.root, 'current'))
  for (const extension of WRITTEN) symlinkSync(outside.at('copy'), at(`app.css${extension}`))
  const report = await compress(join(outside.root, 'current'))
  t.is(report.directory, root, 'the directory itself may be named through a link')
  t.deepEqual(changesOf(report), each(1))
  t.deepEqual(outside.names(), ['copy', 'current', 'folder/secret.css', 'secret.css'])
  t.is(readFileSync(outside.at('copy'), 'utf8'), 'kept')
  t.deepEqual(names(), [...withCopies('app.css'), 'again', 'folder', 'link.css'].toSorted())
  for (const extension of WRITTEN) t.true(lstatSync(at(`app.css${extension}`)).isFile())
})

test('compress reports each file that it leaves out as larger than 128 MiB', async t => {
  const { root, names } = makeDirectory(t, { 'app.css': TEXT, 'big.js': '' })
  truncateSync(join(root, 'big.js'), 128 * 1024 * 1024 + 1)
  t.deepEqual((await compress(root)).tooLarge, ['big.js'])
  t.deepEqual(names(), [...withCopies('app.css'), 'big.js'].toSorted())
})

test('compress fails on a file that is edited meanwhile rather than leave an outdated copy', async t => {
  const { root, at, names } = makeDirectory(t, { 'app.css': CSS })
  const editing = setInterval(() => appendFileSync(at('app.css'), 'a {}'), 1)
  t.teardown(() => clearInterval(editing))
  const message = `${at('app.css')} was edited while it was compressed: run again`
  await t.throwsAsync(compress(root), { code: 'compress-failed', message })
  clearInterval(editing)
  t.deepEqual(names(), ['app.css'])
  await compress(root)
  t.deepEqual((await verifyCopies(root)).problems, [])
})

test('compress and verify refuse a directory that is missing, a file, a project or empty', async t => {
  for (const [files, path, message] of [
    [{}, 'dist', /[\\/]dist does not exist: build it first$/],
    [{ dist: '' }, 'dist', /[\\/]dist is not a directory: name the one that is served$/],
    [
      { 'package.json': '{}', 'a.css': TEXT },
      '.',
      / contains a package\.json, so it is not served: name the directory that a build wrote, such as dist$/
    ],
    [{ '.env': TEXT, '.git/a.css': TEXT }, '.', / contains no file to serve: build it/]
  ] as const) {
    const { root, names } = makeDirectory(t, files)
    const before = names()
    const expected = { code: 'directory-unusable', message }
    await t.throwsAsync(compress(join(root, path)), expected)
    await t.throwsAsync(verifyCopies(join(root, path)), expected)
    t.deepEqual(names(), before)
  }
})
