// Precompiles 5,000 files, compared with a shell script that does the same work on both cores; then
// again, unchanged. All in one run, so a busy machine affects each alike.
//   node --import=tsx bench/precompile.ts [images scripts-and-stylesheets sass]
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import type { Run } from './precompile-once.ts'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const KIB = 1024

compare(process.argv.slice(2).map(Number))

function compare([images = 4000, texts = 900, sass = 100]: readonly number[]): void {
  const directory = mkdtempSync(join(tmpdir(), 'koa-fresh-assets-bench-'))
  try {
    const sources = join(directory, 'apps/web/assets')
    generate(sources, images, texts, sass)
    let spent = ''
    const shell = timed(() => {
      const script = [join(HERE, 'precompile.sh'), sources, join(directory, 'shell')]
      spent = command('sh', ['-c', '"$@"; times', 'sh', 'sh', ...script])
    })
    const shellCpu = childrenCpu(spent)
    const program = bundle(directory)
    const first = precompiled(program, directory)
    const second = precompiled(program, directory)
    console.table({
      shell: { seconds: shell.toFixed(2), 'CPU seconds': shellCpu.toFixed(2) },
      'precompile, first': row(first),
      'precompile, unchanged': row(second)
    })
    console.log(`${first.run.assets} assets`)
    const cpu = [first, second].map(({ run }) => run.cpuSeconds) as [number, number]
    console.log(
      `first run: ${percent(first.wall, shell)} of the shell, ${percent(cpu[0], shellCpu)} by CPU`
    )
    console.log(
      `unchanged: ${percent(second.wall, first.wall)} of the first, ${percent(cpu[1], cpu[0])} by CPU`
    )
  } finally {
    rmSync(directory, { recursive: true })
  }
}

interface Measured {
  readonly wall: number
  readonly run: Run
}

function precompiled(program: string, directory: string): Measured {
  let output = ''
  const wall = timed(() => (output = command(process.execPath, [program, directory])))
  return { wall, run: JSON.parse(output) as Run }
}

/** As users run it: JavaScript, without the cost of a TypeScript loader. */
function bundle(directory: string): string {
  const outfile = join(directory, 'precompile.cjs')
  const external = ['sass', 'sass-embedded', 'less', 'esbuild']
  buildSync({
    entryPoints: [join(HERE, 'precompile-once.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    external
  })
  // The cache of the last build is kept there as well.
  mkdirSync(join(directory, 'node_modules'))
  symlinkSync(join(HERE, '../node_modules/sass'), join(directory, 'node_modules/sass'))
  return outfile
}

function command(file: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(file, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${file} ${args.join(' ')}: ${stderr}`)
  return stdout
}

function timed(work: () => unknown): number {
  const start = performance.now()
  work()
  return (performance.now() - start) / 1000
}

/** CPU seconds of a shell's child processes, from the last line of `times`: `1m2.34s 0m5.67s`. */
function childrenCpu(times: string): number {
  const parts =
    times
      .trim()
      .split('\n')
      .at(-1)
      ?.matchAll(/(\d+)m([\d.]+)s/g) ?? []
  return [...parts].reduce((sum, [, minutes, rest]) => sum + Number(minutes) * 60 + Number(rest), 0)
}

function row({ wall, run }: Measured): Record<string, string> {
  return {
    seconds: wall.toFixed(2),
    'CPU seconds': run.cpuSeconds.toFixed(2),
    'max RSS, MiB': run.rssMiB.toFixed(0)
  }
}

function percent(one: number, other: number): string {
  return `${((one / other) * 100).toFixed(1)} %`
}

/** Generates the same bytes in every run. */
function generate(directory: string, images: number, texts: number, sass: number): void {
  const write = (path: string, content: string | Uint8Array) => {
    const file = join(directory, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
  }
  const image = (at: number) => `${at % 40}/${at % images}.png`
  for (let at = 0; at < images; at++) write(`images/${image(at)}`, noise(`image ${at}`, 10 * KIB))
  for (let at = 0; at < texts; at++) {
    if (at % 2 === 0) write(`javascripts/${at % 30}/${at}.js`, script(at))
    else write(`stylesheets/${at % 30}/${at}.css`, stylesheet(at, image, at > 30))
  }
  write('sass/_shared.scss', '@mixin frame($width) { border: $width solid; }\n$gap: 4px;\n')
  for (let at = 0; at < sass; at++) {
    const rules = [0, 1, 2, 3, 4, 5].map(
      n => `.s${at}-${n} { .a & { @include shared.frame(${n}px); } margin: shared.$gap * ${n} }`
    )
    write(`sass/s${at}.css.scss`, `@use 'shared';\n${rules.join('\n')}\n`)
  }
}

function noise(seed: string, size: number): Buffer {
  return createHash('shake256', { outputLength: size }).update(seed).digest()
}

function words(at: number, count: number): string[] {
  return Array.from(noise(`text ${at}`, count), byte => `word${byte % 97}`)
}

function script(at: number): string {
  const lines = words(at, 150).map((word, n) => `export const ${word}_${n} = () => '${word} ${at}'`)
  return `${lines.join('\n')}\n`
}

function stylesheet(at: number, image: (at: number) => string, imports: boolean): string {
  const first = imports ? `@import "../${(at - 2) % 30}/${at - 2}.css";\n` : ''
  const rules = words(at, 60).map((word, n) =>
    n % 10 === 0
      ? `.${word} { background: url("../../images/${image(at * 7 + n)}") }`
      : `.${word} > .item-${n} { margin: ${n}px; color: #${(at * n).toString(16).padStart(6, '0')} }`
  )
  return `${first}${rules.join('\n')}\n`
}
