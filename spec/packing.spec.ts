// What is published to a registry.
import { execFile, type ExecFileException } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'
import { makeProject } from './support/site.ts'

const run = promisify(execFile)

interface Packed {
  /** In bytes. */
  readonly size: number
  readonly files: readonly { readonly path: string }[]
}

async function pack(): Promise<Packed> {
  const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'])
  const [packed] = JSON.parse(stdout) as [Packed]
  return packed
}

const packed = pack()

test('the package has less than 300 kB, and every page and picture that its pages link to', async t => {
  const { size, files } = await packed
  const paths = files.map(({ path }) => path)
  const has = (linked: string) => paths.some(path => `${path}/`.startsWith(`${linked}/`))
  for (const page of paths.filter(path => path.endsWith('.md'))) {
    const links = readFileSync(page, 'utf8').matchAll(/\]\((?<path>[^)#:\s]+)(?:#[^)]*)?\)/g)
    for (const { groups } of links) {
      const linked = posix.join(posix.dirname(page), groups?.['path'] ?? '')
      t.true(has(linked), `${page} links to ${linked}`)
    }
  }
  t.true(size < 300_000, `${size} bytes`)
})

test('the package has neither sources nor source maps, and its code keeps names and lines, its types their docstrings', async t => {
  const { files } = await packed
  const code = files.map(({ path }) => path).filter(path => path.startsWith('dist/'))
  t.deepEqual(
    code.filter(path => !/^dist\/(?:chunks\/(?:client\/)?)?[\w-]+(?:\.js|\.d\.ts)$/.test(path)),
    []
  )
  const chunk = (name: string) => readFileSync(`dist/chunks/${name}.js`, 'utf8')
  t.regex(chunk('http'), /\nfunction evaluatePreconditions\(/)
  const types = readFileSync('dist/chunks/koa-assets.d.ts', 'utf8')
  t.true(
    types.includes(
      '/** The URL prefix of assets, and their folder in `public`. Default: `/assets`. */'
    )
  )
  const longest = Math.max(
    ...chunk('serving')
      .split('\n')
      .map(line => line.length)
  )
  t.true(longest < 1000, `a line of ${longest} characters`)
})

test('an error at start is printed with a short line of source, its class, and the names of functions', async t => {
  const root = makeProject(t, { 'apps/web/assets/app.css': '' })
  const { href } = pathToFileURL('dist/index.js')
  const start = `import { koaAssets } from '${href}'; koaAssets({ env: 'production' })`
  const failed = run(process.execPath, ['--input-type=module', '--eval', start], { cwd: root })
  const printed = String((await t.throwsAsync<ExecFileException>(failed))?.stderr)
  t.regex(printed, /^AssetError: there is no manifest /m)
  t.regex(printed, /^\s+at koaAssets \(.*dist\/chunks\/koa-assets\.js:\d+:\d+\)$/m)
  t.true(printed.length < 3000, printed)
})
