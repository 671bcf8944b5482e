// What --help prints: what there is, when to use it, and a line to copy.
import { SHARED } from './arguments.ts'
import type { Command, OptionSpec, OptionSpecs } from './command.ts'
import { indent, table } from './format.ts'

const NAME = 'koa-fresh-assets'

export function overview(commands: readonly Command[]): string {
  const rows = commands.map(({ name, summary }) => [name, summary])
  return sections([
    ['', `Usage: ${NAME} <command> [options]`],
    [
      '',
      `In development nothing needs this command: koaAssets() compiles what a page asks
for. For production everything is built once, before the application starts, under
names that bear the checksum of their content and that browsers may keep for a year.`
    ],
    ['Commands', table(rows)],
    ['A deploy', DEPLOY],
    ['Options of every command', optionTable(SHARED)],
    ['The options of the project', CONFIG],
    ['Exit status', '0  fine\n1  something was found, or failed\n2  the command line is wrong'],
    ['', `${NAME} <command> --help tells more, with examples.`]
  ])
}

const DEPLOY = `${NAME} precompile   # builds public/assets and public/assets.json
${NAME} verify       # is everything there, and whole?
NODE_ENV=production node server.js
${NAME} clean        # once the new version runs: old files go`

const CONFIG = `are the options of koaAssets(), in a file that the application imports as well:

  // assets.config.js
  import 'a-package-that-brings-assets'
  export default { host: 'https://cdn.example.com' }

  // server.js
  import options from './assets.config.js'
  app.use(koaAssets(options))

Without such a file the defaults hold: every apps/<name>/assets is an app.`

export function helpFor({ name, argument, about, options, examples }: Command): string {
  const usage = [NAME, name, argument, '[options]'].filter(Boolean).join(' ')
  const lines = examples.map(([line, says]) => `${says}\n  ${line}`).join('\n\n')
  return sections([
    ['', `Usage: ${usage}`],
    ['', about],
    ['Options', optionTable({ ...options, ...SHARED })],
    [examples.length === 1 ? 'Example' : 'Examples', lines]
  ])
}

function sections(all: readonly (readonly [heading: string, text: string])[]): string {
  return all.map(([heading, text]) => (heading ? `${heading}\n${indent(text)}` : text)).join('\n\n')
}

function optionTable(specs: OptionSpecs): string {
  return table(Object.entries(specs).map(([name, spec]) => [written(name, spec), spec.says]))
}

function written(name: string, { short, value }: OptionSpec): string {
  return [short ? `-${short}, --${name}` : `--${name}`, value].filter(Boolean).join(' ')
}
