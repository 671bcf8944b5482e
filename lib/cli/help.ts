// The text of --help.
import { COMMANDS, SHARED_OPTIONS } from './arguments.ts'
import type { Command, OptionSpecs } from './command.ts'
import { indent, table } from './format.ts'

const NAME = 'koa-fresh-assets'

export function generalHelp(): string {
  return sections([
    ['', `Usage: ${NAME} <command> [options]`],
    ['', INTRODUCTION],
    ['Commands', table(COMMANDS.map(({ name, summary }) => [name, summary]))],
    ['Deployment', DEPLOYMENT],
    ['Options of every command', optionTable(SHARED_OPTIONS)],
    ['Configuration', CONFIGURATION],
    ['Exit status', '0  success\n1  a problem was found, or the command failed\n2  usage error'],
    ['', `Run ${NAME} <command> --help for details and examples.`]
  ])
}

const INTRODUCTION = `Development does not need this command: koaAssets() compiles on request. For
production, build everything before the application starts. Each file gets a name
that contains a digest of its content, so browsers may cache it for a year.`

const DEPLOYMENT = `${NAME} precompile   # build public/assets and public/assets.json
${NAME} verify       # check that every file is present and intact
NODE_ENV=production SERVE_STATIC_ASSETS=true node server.js
${NAME} clean        # once the new version runs: remove old files`

const CONFIGURATION = `The options of koaAssets(), in a file that the application imports as well:

  // assets.config.js
  import 'a-package-with-assets'
  export default { host: 'https://cdn.example.com' }

  // server.js
  import options from './assets.config.js'
  app.use(koaAssets(options))

Variables of .env.<environment> are read beforehand, as the application is started
with node --env-file; those that are set already win.

Without this file the defaults apply: every apps/<name>/assets is an app, or, if
there is none, assets belongs to the only app, web.`

export function helpFor({ name, argument, about, options, examples }: Command): string {
  const usage = [NAME, name, argument, '[options]'].filter(Boolean).join(' ')
  const lines = examples.map(([line, description]) => `${description}\n  ${line}`).join('\n\n')
  return sections([
    ['', `Usage: ${usage}`],
    ['', about],
    ['Options', optionTable({ ...options, ...SHARED_OPTIONS })],
    [examples.length === 1 ? 'Example' : 'Examples', lines]
  ])
}

function sections(all: readonly (readonly [heading: string, text: string])[]): string {
  return all.map(([heading, text]) => (heading ? `${heading}\n${indent(text)}` : text)).join('\n\n')
}

function optionTable(specs: OptionSpecs): string {
  const rows = Object.entries(specs).map(([name, { short, value, description }]) => {
    const flags = short ? `-${short}, --${name}` : `--${name}`
    return [value ? `${flags} ${value}` : flags, description]
  })
  return table(rows)
}
