// Parses the command line, runs the command, and turns every outcome into an exit status.
import { readFile } from 'node:fs/promises'
import { reasonOf } from '../errors.ts'
import { printableLines } from '../printable.ts'
import { parseCommandLine } from './arguments.ts'
import { FAILED, OK, UsageError, USAGE_ERROR } from './command.ts'
import { COMMANDS } from './commands/index.ts'
import { loadOptions } from './config.ts'
import { helpFor, overview } from './help.ts'
import { makeOutput } from './output.ts'

/** @returns the exit status */
export async function main(words: readonly string[]): Promise<number> {
  try {
    return await run(words)
  } catch (error) {
    process.stderr.write(`koa-fresh-assets: ${printableLines(textOf(error))}\n`)
    return error instanceof UsageError ? USAGE_ERROR : FAILED
  }
}

async function run(words: readonly string[]): Promise<number> {
  const { command, argument, values } = parseCommandLine(words, COMMANDS)
  if (values.flag('version')) return print(await version())
  if (values.flag('help')) return print(command ? helpFor(command) : overview(COMMANDS))
  if (!command) {
    process.stderr.write(`${overview(COMMANDS)}\n`)
    return USAGE_ERROR
  }
  const output = makeOutput({ isJson: values.flag('json'), isQuiet: values.flag('quiet') })
  const load = (environment = 'production') => loadOptions({ values, output }, environment)
  return command.run({ values, argument, output, loadOptions: load })
}

function print(text: string): number {
  process.stdout.write(`${text}\n`)
  return OK
}

async function version(): Promise<string> {
  const text = await readFile(new URL(import.meta.resolve('koa-fresh-assets/package.json')), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

/** The message, which states what to fix, or with DEBUG the stack. */
function textOf(error: unknown): string {
  const { stack } = (error ?? {}) as { stack?: unknown }
  return process.env.DEBUG && typeof stack === 'string' ? stack : reasonOf(error)
}
