// Reads the line, runs the command, and turns every outcome into an exit status.
import { readFile } from 'node:fs/promises'
import { printableLines } from '../printable.ts'
import { reasonOf } from '../errors.ts'
import { readLine, type Line } from './arguments.ts'
import { FINE, FOUND_SOMETHING, UsageError, WRONG_USE } from './command.ts'
import { COMMANDS } from './commands/index.ts'
import { loadOptions } from './config.ts'
import { helpFor, overview } from './help.ts'
import { makeOutput } from './output.ts'

/** @returns the exit status: 0 fine, 1 found something or failed, 2 wrong use */
export async function main(words: readonly string[]): Promise<number> {
  try {
    return await run(readLine(words, COMMANDS))
  } catch (error) {
    process.stderr.write(`koa-fresh-assets: ${printableLines(tell(error))}\n`)
    return error instanceof UsageError ? WRONG_USE : FOUND_SOMETHING
  }
}

async function run({ command, argument, values }: Line): Promise<number> {
  if (values.flag('version')) return print(await version())
  if (values.flag('help')) return print(command ? helpFor(command) : overview(COMMANDS))
  if (!command) {
    process.stderr.write(`${overview(COMMANDS)}\n`)
    return WRONG_USE
  }
  const output = makeOutput({ isJson: values.flag('json'), isQuiet: values.flag('quiet') })
  return command.run({ values, argument, output, loadOptions: () => loadOptions(values) })
}

function print(text: string): number {
  process.stdout.write(`${text}\n`)
  return FINE
}

async function version(): Promise<string> {
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

/** The message is for whoever fixes a source, the stack for whoever fixes this program. */
function tell(error: unknown): string {
  const { stack } = (error ?? {}) as { stack?: unknown }
  return process.env.DEBUG && typeof stack === 'string' ? stack : reasonOf(error)
}
