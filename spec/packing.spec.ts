// What is published to a registry: package.json without what runs in this repository alone.
import { execFile, execFileSync, type ExecFileException } from 'node:child_process'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { makeProject } from './support/site.ts'

const run = promisify(execFile)
const ours = readFileSync('package.json', 'utf8')
const parsed = JSON.parse(ours) as Record<string, unknown> & { scripts: Record<string, string> }

const README = `# A package
![a picture](docs/a.svg)

It has [a licence](LICENSE), [a guide](docs/guide.md#part), [a part](#part) and [a site](https://example.com).

| name  | what it is |
| ----- | ---------- |
| \`one\` | the first  |

## A part

## Another
`

/** A copy of this package whose build has been done. */
function makeCopy(t: ExecutionContext): { root: string; text: string } {
  const scripts = { ...parsed.scripts, build: 'node --eval 0' }
  const text = `${JSON.stringify({ ...parsed, scripts }, undefined, 2)}\n\n`
  const root = makeProject(t, {
    'package.json': text,
    '.ci/pack.js': readFileSync('.ci/pack.js'),
    'README.md': README,
    LICENSE: '',
    'dist/index.js': '',
    'lib/index.ts': ''
  })
  return { root, text }
}

const read = (root: string) => readFileSync(join(root, 'package.json'), 'utf8')

test('what is packed has no script and no dead link, and what is here stays as it was', async t => {
  const { root, text } = makeCopy(t)
  await run('npm', ['pack', '--offline', '--loglevel=error'], { cwd: root })
  const tarball = join(root, `koa-fresh-assets-${String(parsed['version'])}.tgz`)
  const packed = (name: string) =>
    execFileSync('tar', ['xzOf', tarball, `package/${name}`], { encoding: 'utf8' })
  const { scripts, devDependencies, overrides, ava, c8, prettier, ...rest } = parsed
  t.deepEqual(JSON.parse(packed('package.json')), rest)
  for (const part of [scripts, devDependencies, overrides, ava, c8, prettier]) t.truthy(part)
  t.is(
    packed('README.md'),
    `# A package
It has [a licence](LICENSE), a guide (docs/guide.md), [a part](#part) and [a site](https://example.com).

| name | what it is |
| --- | --- |
| \`one\` | the first |

Pages named \`docs/…\` are in the repository, not in this package.

## A part

## Another
`
  )
  t.is(read(root), text)
  t.is(readFileSync(join(root, 'README.md'), 'utf8'), README)
  const names = execFileSync('tar', ['tzf', tarball], { encoding: 'utf8' }).trim().split('\n')
  t.deepEqual(
    names.toSorted((a, b) => (a < b ? -1 : 1)),
    ['package/LICENSE', 'package/README.md', 'package/dist/index.js', 'package/package.json']
  )
})

test('a pack that was killed loses nothing: the next one, or restoring, gives it back', async t => {
  const { root, text } = makeCopy(t)
  const pack = (word: string) => run(process.execPath, ['.ci/pack.js', word], { cwd: root })
  await pack('strip')
  t.not(read(root), text)
  await pack('strip')
  t.false(read(root).includes('"scripts"'))
  await pack('restore')
  t.is(read(root), text)
  t.false(existsSync(join(root, '.ci/package.json.whole')))
  await pack('restore')
  t.is(read(root), text)
})

test('the package holds what is run, its types, their maps and few words, in less than 400 kB without the maps', async t => {
  const { root } = makeCopy(t)
  for (const path of ['dist', 'README.md', 'CHANGELOG.md', 'LICENSE', '.env.example']) {
    cpSync(path, join(root, path), { recursive: true })
  }
  const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--offline', '--silent'], {
    cwd: root
  })
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string; size: number }[] }]
  const others = files.map(({ path }) => path).filter(path => !path.startsWith('dist/chunks/'))
  t.deepEqual(others.toSorted(), [
    '.env.example',
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'dist/cli.js',
    'dist/cli.js.map',
    ...['index', 'koa-assets', 'koa-http-cache'].flatMap(name => [
      `dist/${name}.d.ts`,
      `dist/${name}.js`,
      `dist/${name}.js.map`
    ]),
    'package.json'
  ])
  const chunks = files.filter(({ path }) => path.startsWith('dist/chunks/'))
  t.true(
    chunks.every(({ path }) =>
      /^dist\/chunks\/(?:[\w-]{8}\.(?:js|js\.map|d\.ts)|client\/[\w-]+\.js)$/.test(path)
    )
  )
  const bytes = files.reduce((sum, { path, size }) => sum + (path.endsWith('.map') ? 0 : size), 0)
  t.true(bytes < 400_000, `${bytes} bytes`)
})

test('an error at start is printed with a short line of source and its class, and with the names of functions by the maps', async t => {
  const root = makeProject(t, { 'apps/web/assets/app.css': '' })
  const { href } = pathToFileURL(join(process.cwd(), 'dist/index.js'))
  const start = `import { koaAssets } from '${href}'; koaAssets({ env: 'production' })`
  const printed = async (...flags: string[]) => {
    const words = [...flags, '--input-type=module', '--eval', start]
    const failed = run(process.execPath, words, { cwd: root })
    return String((await t.throwsAsync<ExecFileException>(failed))?.stderr)
  }
  const plain = await printed()
  t.regex(plain, /^AssetError: there is no manifest /m)
  t.true(plain.length < 3000, plain)
  const mapped = await printed('--enable-source-maps')
  t.regex(mapped, /\/lib\/koa-assets\.ts:\d+:\d+\)$/m)
  t.regex(mapped, /^ {2}return new AssetError\('manifest-missing'/m)
})
