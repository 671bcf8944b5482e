// What deltas save over real patch releases, fetched with `npm pack`, and the CPU time of precompile without
// them and with them. Prints the table of docs/deltas.md.
//   node --import=tsx bench/deltas.ts     with a Node that makes deltas: 22.19, 24.6 and newer
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { precompile } from '../dist/index.js'

const RELEASES = [
  ['bootstrap', '5.3.8', '5.3.9', 'dist/css/bootstrap.min.css'],
  ['bootstrap', '5.3.8', '5.3.9', 'dist/js/bootstrap.bundle.min.js'],
  ['react-dom', '19.2.8', '19.2.9', 'cjs/react-dom-client.production.js'],
  ['lodash', '4.17.20', '4.17.21', 'lodash.min.js'],
  ['katex', '0.16.21', '0.16.22', 'dist/katex.min.js'],
  ['@fortawesome/fontawesome-free', '7.3.0', '7.3.1', 'js/all.min.js'],
  ['@fortawesome/fontawesome-free', '7.3.0', '7.3.1', 'css/all.min.css']
] as const

interface Row {
  readonly file: string
  readonly old: Buffer
  readonly next: Buffer
}

const directory = mkdtempSync(join(tmpdir(), 'koa-fresh-assets-bench-'))
try {
  const rows = [...RELEASES.map(release), demoBundle()]
  console.log(
    '| file | uncompressed | br | zst | delta (dcz) | CPU time without deltas | CPU time with deltas |'
  )
  console.log('|---|--:|--:|--:|--:|--:|--:|')
  for (const [at, row] of rows.entries()) console.log(await measure(row, join(directory, `${at}`)))
} finally {
  rmSync(directory, { recursive: true })
}

function release([name, before, after, path]: (typeof RELEASES)[number]): Row {
  const read = (version: string) => readFileSync(join(unpack(`${name}@${version}`), path))
  const file = `${name.replace(/^.*\//, '')} ${before} → ${after}, ${path.replace(/^.*\//, '')}`
  return { file, old: read(before), next: read(after) }
}

/** The directory of a package. */
function unpack(release: string): string {
  const folder = join(directory, release.replaceAll('/', '-'))
  if (!existsSync(folder)) {
    mkdirSync(folder)
    const words = ['pack', release, '--silent', '--pack-destination', folder]
    const packed = execFileSync('npm', words, { encoding: 'utf8' }).trim()
    execFileSync('tar', ['-xzf', join(folder, packed), '-C', folder])
  }
  return join(folder, 'package')
}

/** What Vite makes of the demo, before and after a line of it is edited. */
function demoBundle(): Row {
  const root = join(directory, 'demo')
  cpSync('demo/vite/src', join(root, 'src'), { recursive: true })
  symlinkSync(resolve('node_modules'), join(directory, 'node_modules'), 'dir')
  const build = () => {
    const vite = resolve('node_modules/vite/bin/vite.js')
    const config = ['--config', resolve('demo/vite/vite.config.ts'), '--logLevel', 'error']
    const env = { ...process.env, NODE_ENV: 'production' }
    execFileSync(process.execPath, [vite, 'build', root, ...config], { env, stdio: 'inherit' })
    const folder = join(root, 'dist/assets')
    const script = readdirSync(folder).find(name => /^main-.*\.js$/.test(name)) ?? ''
    return readFileSync(join(folder, script))
  }
  const old = build()
  const source = join(root, 'src/garden.tsx')
  writeFileSync(source, readFileSync(source, 'utf8').replace('Plant a tree', 'Plant an oak'))
  return { file: "the demo's Vite bundle, a word edited: main.js", old, next: build() }
}

function formatted(number: number): string {
  return number.toLocaleString('en')
}

async function measure({ file, old, next }: Row, root: string): Promise<string> {
  const name = `file${extname(file)}`
  const source = join(root, 'apps/web/assets', name)
  const seconds: string[] = []
  for (const deltas of [false, true]) {
    rmSync(root, { recursive: true, force: true })
    mkdirSync(dirname(source), { recursive: true })
    writeFileSync(source, old)
    await precompile({ root, deltas, missing: 'ignore', minify: false })
    writeFileSync(source, next)
    const begin = process.cpuUsage()
    await precompile({ root, deltas, missing: 'ignore', minify: false })
    const { user, system } = process.cpuUsage(begin)
    seconds.push(`${((user + system) / 1e6).toFixed(2)} s`)
  }
  const manifest = JSON.parse(readFileSync(join(root, 'public/assets.json'), 'utf8')) as {
    assets: Record<string, { target: string }>
  }
  const target = join(root, 'public', manifest.assets[`/assets/${name}`]?.target ?? '')
  const beside = readdirSync(dirname(target)).filter(each => each.startsWith(basename(target)))
  const sizeOf = (extension: string) => {
    const found = beside.find(each => extname(each) === extension)
    // The seal of a delta is not sent.
    const unsent = extension === '.dcz' ? 40 : 0
    return found === undefined
      ? '-'
      : formatted(statSync(join(dirname(target), found)).size - unsent)
  }
  const cells = [formatted(next.length), ...['.br', '.zst', '.dcz'].map(sizeOf)]
  return `| ${[file, ...cells, ...seconds].join(' | ')} |`
}
