// The commands, and how a command line is parsed into one of them, its arguments and its options.
import { parseArgs } from 'node:util'
import { nearest } from '../nearest.ts'
import { UsageError, type Command, type OptionSpecs } from './command.ts'
import { clean } from './commands/clean.ts'
import { compress } from './commands/compress.ts'
import { explain } from './commands/explain.ts'
import { init } from './commands/init.ts'
import { keep } from './commands/keep.ts'
import { list } from './commands/list.ts'
import { precompile } from './commands/precompile.ts'
import { types } from './commands/types.ts'
import { verify } from './commands/verify.ts'

/** Of a new project, then in the order of a deployment. */
export const COMMANDS = [
  init,
  types,
  precompile,
  compress,
  keep,
  verify,
  clean,
  explain,
  list
] as const

export const SHARED_OPTIONS: OptionSpecs = {
  config: {
    type: 'string',
    value: 'FILE',
    description: 'configuration file; default: assets.config.{ts,mts,js,mjs,json}'
  },
  root: { type: 'string', value: 'DIR', description: 'project root; default: this directory' },
  env: {
    type: 'string',
    value: 'NAME',
    description: 'environment; sets NODE_ENV, reads .env.NAME'
  },
  json: { type: 'boolean', description: 'print only JSON' },
  quiet: { type: 'boolean', short: 'q', description: 'print only errors' },
  help: { type: 'boolean', short: 'h', description: 'print this help' },
  version: { type: 'boolean', short: 'v', description: 'print the version' }
}

/**
 * The command is undefined when the line has only options.
 * @throws UsageError for an unknown command or option, with the nearest known name
 */
export function parseCommandLine(words: readonly string[]) {
  const options = Object.assign({}, SHARED_OPTIONS, ...COMMANDS.map(command => command.options))
  const { values, positionals, tokens } = parseArgs({
    args: [...words],
    options: options as OptionSpecs,
    allowPositionals: true,
    strict: false,
    tokens: true
  })
  // `help precompile` is the same as `precompile --help`.
  const isHelp = positionals[0] === 'help'
  const [name, ...rest] = isHelp ? positionals.slice(1) : positionals
  const command = name === undefined ? undefined : findCommand(name)
  for (const token of tokens) if (token.kind === 'option') checkOption(token, command)
  const flag = (option: string) => values[option] === true || (option === 'help' && isHelp)
  const text = (option: string) => (typeof values[option] === 'string' ? values[option] : undefined)
  const texts = (option: string) => {
    const given = values[option]
    return Array.isArray(given) ? given.map(String) : undefined
  }
  const args = command ? readArguments(rest, command, flag('help')) : []
  return { command, args, values: { flag, text, texts } }
}

function findCommand(name: string): Command {
  const command = COMMANDS.find(candidate => candidate.name === name)
  if (command) return command
  const names = COMMANDS.map(candidate => candidate.name)
  throw new UsageError(`unknown command '${name}': ${advise(name, names)}`)
}

function checkOption(
  { name, rawName, value }: { name: string; rawName: string; value?: string | undefined },
  command: Command | undefined
): void {
  const known: OptionSpecs = { ...command?.options, ...SHARED_OPTIONS }
  const spec = Object.hasOwn(known, name) ? known[name] : undefined
  if (!spec) {
    const names = Object.keys(known).map(name => `--${name}`)
    const where = command ? ` for ${command.name}` : ''
    throw new UsageError(`unknown option '${rawName}'${where}: ${advise(rawName, names)}`)
  }
  if (spec.type === 'boolean' && value !== undefined) {
    throw new UsageError(`${rawName} does not take a value, got '${value}'`)
  }
  const isComplete = Boolean(value) || (value === undefined && spec.value?.startsWith('['))
  if (spec.type === 'string' && !isComplete) {
    throw new UsageError(`${rawName} requires a value: ${rawName} ${spec.value ?? 'VALUE'}`)
  }
}

function advise(given: string, known: readonly string[]): string {
  const meant = nearest(given, known)
  return meant ? `did you mean '${meant}'?` : `expected one of ${known.join(', ')}`
}

/** The arguments given: of optional ones there may be fewer than a command takes. */
function readArguments(
  given: readonly string[],
  { name, argument = '' }: Command,
  isHelp: boolean
): readonly string[] {
  const wanted = argument.match(/<[^>]+>|\[[^\]]+\]/g) ?? []
  const surplus = given[wanted.length]
  if (surplus !== undefined) throw new UsageError(`unexpected argument '${surplus}' for ${name}`)
  const empty = wanted[given.indexOf('')]
  // An unset shell variable, which must not mean the working directory.
  if (empty !== undefined) throw new UsageError(`${name} got an empty argument: ${empty}`)
  const missing = wanted[given.length]
  if (missing?.startsWith('<') && !isHelp) {
    throw new UsageError(`${name} requires an argument: ${missing}`)
  }
  return given
}
