// From the words of a command line to a command and its values.
import { parseArgs } from 'node:util'
import { nearest } from '../nearest.ts'
import { UsageError, type Command, type OptionSpecs, type Values } from './command.ts'

export const SHARED: OptionSpecs = {
  config: {
    type: 'string',
    value: 'FILE',
    says: 'the options; otherwise assets.config.ts, .mts, .js, .mjs or .json'
  },
  root: { type: 'string', value: 'DIR', says: "the project's root; otherwise this directory" },
  env: { type: 'string', value: 'NAME', says: 'the environment, as NODE_ENV=NAME would set it' },
  json: { type: 'boolean', says: 'print JSON for programs, and nothing else' },
  quiet: { type: 'boolean', short: 'q', says: 'print errors only' },
  help: { type: 'boolean', short: 'h', says: 'print this' },
  version: { type: 'boolean', short: 'v', says: 'print the version' }
}

export interface Line {
  /** Undefined: only options were typed. */
  readonly command: Command | undefined
  readonly argument: string | undefined
  readonly values: Values
}

/** @throws UsageError for a word that has no place, and names what was meant perhaps */
export function readLine(words: readonly string[], commands: readonly Command[]): Line {
  const options = Object.assign({}, SHARED, ...commands.map(command => command.options))
  const { values, positionals, tokens } = parseArgs({
    args: [...words],
    options: options as OptionSpecs,
    allowPositionals: true,
    strict: false,
    tokens: true
  })
  const [first, ...others] = positionals
  // `help precompile` is another way to write `precompile --help`.
  const asksHelp = first === 'help'
  const [name, ...rest] = asksHelp ? others : positionals
  const command = name === undefined ? undefined : find(name, commands)
  const known: OptionSpecs = command ? { ...SHARED, ...command.options } : SHARED
  for (const token of tokens) if (token.kind === 'option') checkOption(token, known, command)
  const flag = (option: string) => values[option] === true || (option === 'help' && asksHelp)
  const argument = checkArguments(rest, command)
  if (command?.argument && argument === undefined && !flag('help')) {
    throw new UsageError(`${command.name} needs ${command.argument}`)
  }
  const text = (option: string) => (typeof values[option] === 'string' ? values[option] : undefined)
  return { command, argument, values: { flag, text } }
}

function find(name: string, commands: readonly Command[]): Command {
  const command = commands.find(candidate => candidate.name === name)
  if (command) return command
  const names = commands.map(candidate => candidate.name)
  throw new UsageError(`unknown command '${name}': ${advise(nearest(name, names), names)}`)
}

interface OptionToken {
  readonly name: string
  readonly rawName: string
  readonly value?: string | undefined
}

function checkOption(
  { name, rawName, value }: OptionToken,
  known: OptionSpecs,
  command: Command | undefined
): void {
  const spec = Object.hasOwn(known, name) ? known[name] : undefined
  if (!spec) throw new UsageError(unknownOption(rawName, known, command))
  if (spec.type === 'boolean' && value !== undefined) {
    throw new UsageError(`${rawName} takes no value, got '${value}'`)
  }
  if (spec.type === 'string' && !value) {
    throw new UsageError(`${rawName} needs a value: ${rawName} ${spec.value ?? 'VALUE'}`)
  }
}

function unknownOption(rawName: string, known: OptionSpecs, command: Command | undefined): string {
  const names = Object.keys(known).map(name => `--${name}`)
  const where = command ? ` of ${command.name}` : ''
  return `unknown option '${rawName}'${where}: ${advise(nearest(rawName, names), names)}`
}

function advise(meant: string | undefined, known: readonly string[]): string {
  return meant ? `did you mean '${meant}'?` : `there are ${known.join(', ')}`
}

function checkArguments(rest: readonly string[], command: Command | undefined): string | undefined {
  const [argument, surplus] = command?.argument === undefined ? [undefined, rest[0]] : rest
  if (surplus === undefined) return argument
  throw new UsageError(`${command?.name ?? 'koa-fresh-assets'} has no use for '${surplus}'`)
}
