// Lists the commands, writes their help, and parses a command line into one of them, its arguments and its options.
import { parseArgs } from 'node:util'
import { EXTRAS } from '../../runtime/app/extras.ts'
import { unknownName } from '../../runtime/check-options.ts'
import { UsageError, indent, table } from './command.ts'
import type { OptionSpecs, Values, Addition, Command, Rows } from '../../runtime/app/extra.ts'
import { precompile } from './precompile.ts'

/** Returns the commands in the order of a deployment. */
export async function allCommands(): Promise<readonly Command[]> {
  const lines = await Promise.all(EXTRAS.map(async extra => (await extra.commandLine?.()) ?? {}))
  const all: Command[] = [precompile]
  for (const command of lines.flatMap(({ commands = [] }) => commands)) {
    const at = all.findIndex(({ name }) => name === command.before)
    all.splice(at < 0 ? all.length : at, 0, command)
  }
  const added = lines.flatMap(({ additions = [] }) => additions)
  return all.map(command =>
    added.filter(({ to }) => to === command.name).reduce(withAddition, command)
  )
}

function withAddition(command: Command, added: Addition): Command {
  return {
    ...command,
    about: `${command.about}\n\n${added.about}`,
    options: { ...command.options, ...added.options },
    examples: [...command.examples, ...(added.examples ?? [])],
    run: call => added.run?.(call) ?? command.run(call)
  }
}

export const SHARED_OPTIONS: OptionSpecs = {
  config: {
    value: 'FILE',
    description: 'configuration file; default: assets.config.{ts,mts,js,mjs,json}'
  },
  root: { value: 'DIR', description: 'project root; default: this directory' },
  env: { value: 'NAME', description: 'environment; sets NODE_ENV, reads .env.NAME' },
  json: { description: 'print only JSON' },
  quiet: { short: 'q', description: 'print only errors' },
  help: { short: 'h', description: 'print this help' },
  version: { short: 'v', description: 'print the version' }
}

/** The command is undefined if there are only options. @throws UsageError for an unknown one, with the nearest name */
export function parseCommandLine(words: readonly string[], commands: readonly Command[]) {
  const all: OptionSpecs = Object.assign({}, SHARED_OPTIONS, ...commands.map(each => each.options))
  const options = Object.entries(all).map(([name, { value, short, multiple = false }]) => {
    const type = value ? 'string' : 'boolean'
    return [name, { type, multiple, ...(short && { short }) }] as const
  })
  const { values, positionals, tokens } = parseArgs({
    args: [...words],
    options: Object.fromEntries(options),
    allowPositionals: true,
    strict: false,
    tokens: true
  })
  // `help precompile` is the same as `precompile --help`.
  const isHelp = positionals[0] === 'help'
  const [name, ...args] = isHelp ? positionals.slice(1) : positionals
  const command = commands.find(each => each.name === name)
  if (name !== undefined && !command) {
    const names = commands.map(each => each.name)
    throw new UsageError(unknownName('command', name, names).message)
  }
  for (const token of tokens) if (token.kind === 'option') checkOption(token, command)
  const given = { ...values, ...(isHelp && { help: true }) } as Values
  if (command && !given.help) checkArguments(args, command)
  return { command, args, values: given }
}

function checkOption(
  { name, rawName, value }: { name: string; rawName: string; value?: string | undefined },
  command: Command | undefined
): void {
  const known: OptionSpecs = { ...command?.options, ...SHARED_OPTIONS }
  const spec = Object.hasOwn(known, name) ? known[name] : undefined
  if (!spec) {
    const names = Object.keys(known).map(each => `--${each}`)
    const place = command ? `${command.name} ` : ''
    throw new UsageError(unknownName('option', rawName, names, { place }).message)
  }
  const placeholder = spec.value ?? ''
  if (!placeholder && value !== undefined) {
    throw new UsageError(`${rawName} does not take a value, got '${value}'`)
  }
  const mayBeMissing = value === undefined && /^(?:\[|$)/.test(placeholder)
  if (!value && !mayBeMissing) {
    throw new UsageError(`${rawName} requires a value: ${rawName} ${placeholder}`)
  }
}

function checkArguments(given: readonly string[], { name, argument = '' }: Command): void {
  const wanted = argument.match(/<[^>]+>|\[[^\]]+\]/g) ?? []
  const surplus = given[wanted.length]
  if (surplus !== undefined) throw new UsageError(`unexpected argument '${surplus}' for ${name}`)
  const empty = wanted[given.indexOf('')]
  // An unset shell variable must not mean the working directory.
  if (empty !== undefined) throw new UsageError(`${name} got an empty argument: ${empty}`)
  const missing = wanted[given.length]
  if (missing?.startsWith('<')) throw new UsageError(`${name} requires an argument: ${missing}`)
}

const NAME = 'koa-fresh-assets'

export function generalHelp(commands: readonly Command[]): string {
  return sections([
    ['', `Usage: ${NAME} <command> [options]`],
    ['', INTRODUCTION],
    ['Commands', table(commands.map(({ name, summary }) => [name, summary]))],
    ['Options of every command', optionTable(SHARED_OPTIONS)],
    ['Configuration', CONFIGURATION],
    ['Exit status', '0  success\n1  a problem was found, or the command failed\n2  usage error'],
    ['', `Run ${NAME} <command> --help for details and examples.`]
  ])
}

const INTRODUCTION = `Development does not need this command: koaAssets() compiles on request. For
production, build everything before the application starts. Each file gets a name
that contains a digest of its content, so browsers may cache it for a year.`

const CONFIGURATION = `The options of koaAssets() are the default export of assets.config.js, which the
application imports as well. Variables of .env.<environment> are read beforehand,
as with node --env-file; those that are set already win.

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

function sections(all: Rows): string {
  return all.map(([heading, text]) => (heading ? `${heading}\n${indent(text)}` : text)).join('\n\n')
}

function optionTable(specs: OptionSpecs): string {
  const rows = Object.entries(specs).map(([name, { short, value, description }]) => {
    const flags = short ? `-${short}, --${name}` : `--${name}`
    return [value ? `${flags} ${value}` : flags, description]
  })
  return table(rows)
}
