// Precompiles 5,000 files, compared with a shell script that does the same work on both cores; then
// again, unchanged. All in one run, so a busy machine affects each alike.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import type { Case, Row } from '../measure.ts'
import type { Run } from './precompile-once.ts'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const KIB = 1024

const FILES = { images: 4000, texts: 900, sass: 100 }

export const cases: readonly Case[] = [
  { title: 'precompile of 5,000 files', measure: async () => comparePrecompiles() },
  { title: 'first precompile of 10,000 images', measure: async () => compareCopies() }
]

/** In turn: by CPU, since the time depends on what else the disk does. */
function compareCopies(): readonly Row[] {
  const directory = mkdtempSync(join(tmpdir(), 'koa-fresh-assets-bench-'))
  try {
    generate(join(directory, 'apps/web/assets'), { images: 10_000, texts: 0, sass: 0 }, 4 * KIB)
    const names = ['precompile-once', 'copy-once'] as const
    const programs = names.map(name => bundle(directory, name))
    const rounds = Array.from({ length: 3 }, () =>
      programs.map(program => {
        rmSync(join(directory, 'public'), { recursive: true, force: true })
        return precompiled(program, directory)
      })
    )
    const middle = (at: number) =>
      rounds.map(round => round[at]).toSorted((a, b) => a!.run.cpuSeconds - b!.run.cpuSeconds)[1]!
    const [ours, plain] = [middle(0), middle(1)]
    const ratio = plain.run.cpuSeconds / ours.run.cpuSeconds
    return [
      rowOf('koa-fresh-assets', ours, 1),
      rowOf('node:fs/promises, the same files', plain, ratio)
    ]
  } finally {
    rmSync(directory, { recursive: true })
  }
}

function comparePrecompiles(): readonly Row[] {
  const directory = mkdtempSync(join(tmpdir(), 'koa-fresh-assets-bench-'))
  try {
    const sources = join(directory, 'apps/web/assets')
    generate(sources, FILES)
    let spent = ''
    const shell = timed(() => {
      const script = [join(HERE, 'precompile.sh'), sources, join(directory, 'shell')]
      spent = command('sh', ['-c', '"$@"; times', 'sh', 'sh', ...script])
    })
    const program = bundle(directory)
    const first = precompiled(program, directory)
    const second = precompiled(program, directory)
    return [
      rowOf('koa-fresh-assets', first, 1),
      rowOf('koa-fresh-assets, unchanged', second, second.wall / first.wall),
      {
        contestant: 'shell tools on two cores',
        result: `${shell.toFixed(2)} s`,
        ratio: shell / first.wall,
        cpu: `${childrenCpu(spent).toFixed(1)} s`
      }
    ]
  } finally {
    rmSync(directory, { recursive: true })
  }
}

function rowOf(contestant: string, { wall, run }: Measured, ratio: number): Row {
  const { cpuSeconds, rssMiB: rss } = run
  return {
    contestant,
    result: `${wall.toFixed(2)} s`,
    ratio,
    cpu: `${cpuSeconds.toFixed(1)} s`,
    rss
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
function bundle(directory: string, name = 'precompile-once'): string {
  const outfile = join(directory, `${name}.cjs`)
  const external = ['sass', 'sass-embedded', 'less', 'esbuild']
  buildSync({
    entryPoints: [join(HERE, `${name}.ts`)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    external
  })
  // The cache of the last build is kept there as well.
  const sass = join(directory, 'node_modules/sass')
  if (existsSync(sass)) return outfile
  mkdirSync(dirname(sass))
  symlinkSync(join(HERE, '../../node_modules/sass'), sass)
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

/** Generates the same bytes in every run. */
function generate(
  directory: string,
  { images, texts, sass }: typeof FILES,
  imageBytes = 10 * KIB
): void {
  const write = (path: string, content: string | Uint8Array) => {
    const file = join(directory, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
  }
  const image = (at: number) => `${at % 40}/${at % images}.png`
  for (let at = 0; at < images; at++) write(`images/${image(at)}`, noise(`image ${at}`, imageBytes))
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
