// results.md: one table with all cases, and the versions of those that took part. chart.svg: the main cases.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import type { Case, Options, Row } from './measure.ts'

export interface Result {
  readonly case: Case
  readonly rows: readonly Row[]
}

const HEAD =
  '| case | contestant | result | koa-fresh-assets is … times as fast | CPU | RSS MiB |\n|---|---|--:|--:|--:|--:|'

export function tableOf(results: readonly Result[]): string {
  const lines = results.flatMap(({ case: { title }, rows }) =>
    rows.map(({ contestant, result, ratio, cpu, rss }, at) => {
      const cells = [
        at === 0 ? title : '',
        contestant,
        result,
        ratio?.toFixed(2),
        cpu,
        rss?.toFixed(0)
      ]
      return `| ${cells.map(cell => cell ?? '').join(' | ')} |`
    })
  )
  return [HEAD, ...lines].join('\n')
}

/** Writes the files of this folder that others link to. */
export function writeReport(results: readonly Result[], { rounds, seconds }: Options): void {
  const [cpu] = cpus()
  const about = `Node ${process.version}, ${cpu?.model.trim()}; ${rounds} rounds of five times ${seconds} s in turn, of which the best of each contestant counts; of starts and visits, the median. The server runs on one core, wrk on another; requests/s are those of a second of processor time. [What this measures, and what it does not](../docs/bench.md).`
  const versions = `Versions: ${versionsOf().join(', ')}.`
  const here = (name: string) => join(import.meta.dirname, name)
  writeFileSync(
    here('results.md'),
    `# Results of the bench\n\n${about}\n\n${tableOf(results)}\n\n${versions}\n`
  )
  writeFileSync(here('chart.svg'), chartOf(results.filter(each => each.case.isMain)))
}

function versionsOf(): string[] {
  const names = [
    'koa',
    'koa-static',
    'koa-static-cache',
    'koa-compress',
    'vite',
    'sirv',
    'fastify',
    '@fastify/static',
    'express',
    'serve-static',
    'srvx',
    '@remix-run/assets'
  ]
  const packages = names.map(name => {
    const file = ['node_modules', '../node_modules']
      .map(folder => join(import.meta.dirname, folder, name, 'package.json'))
      .find(path => existsSync(path))
    if (file === undefined) throw new Error(`${name} is not installed`)
    return `${name} ${(JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version}`
  })
  // `nginx -v` writes to stderr.
  const nginx = execFileSync('sh', ['-c', 'nginx -v 2>&1'], { encoding: 'utf8' })
  const chromium = execFileSync('chromium', ['--version'], { encoding: 'utf8' })
  return [
    ...packages,
    nginx.trim().replace(/^.*nginx\//, 'nginx '),
    chromium.replace(/^(\S+ \S+).*/s, '$1')
  ]
}

const WIDTH = 720
const BAR = { left: 205, right: 90, height: 16, gap: 6 }
const STYLE = `text { font: 13px system-ui, sans-serif; fill: #24292f } .title { font-weight: 600 }
.number { fill: #57606a } rect { fill: #8c959f } .ours { fill: #1f7a5c }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .number { fill: #9198a1 } rect { fill: #59636e } .ours { fill: #3fb68b }
}`

// What isolates a part of the cost is in the table alone.
const ASIDE = /, observed|, send only|, a mount|in Koa$|^Koa, /

/** A bar for each contestant, as long as its rate in proportion to the fastest of its case. */
export function chartOf(results: readonly Result[]): string {
  const parts: string[] = []
  let top = 8
  for (const { case: one, rows: all } of results) {
    const rows = all.filter(({ contestant }) => !ASIDE.test(contestant))
    parts.push(`<text class="title" x="0" y="${top + 13}">${one.title}, requests/s</text>`)
    top += BAR.height + BAR.gap
    // A ratio is of rates, so its reciprocal is in proportion to them.
    const shares = rows.map(({ ratio }) => 1 / (ratio ?? NaN))
    const most = Math.max(...shares)
    rows.forEach(({ contestant, result }, at) => {
      const length = ((WIDTH - BAR.left - BAR.right) * (shares[at] ?? 0)) / most
      const [y, end] = [top + 13, BAR.left + length]
      parts.push(
        `<text x="${BAR.left - 8}" y="${y}" text-anchor="end">${contestant}</text>`,
        `<rect${contestant.startsWith('koa-fresh-assets') ? ' class="ours"' : ''} x="${BAR.left}" y="${top}" width="${length.toFixed(1)}" height="${BAR.height}" rx="2"/>`,
        `<text class="number" x="${(end + 6).toFixed(1)}" y="${y}">${result.replace(/ .*/, '')}</text>`
      )
      top += BAR.height + BAR.gap
    })
    top += 14
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${top}" viewBox="0 0 ${WIDTH} ${top}" role="img" aria-label="Requests per second of koa-fresh-assets and other servers">
<style>${STYLE}</style>
${parts.join('\n')}
</svg>
`
}
