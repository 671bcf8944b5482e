#!/usr/bin/env node
// The command-line program: runs a command, and turns every outcome into an exit status.
import { readFile } from 'node:fs/promises'
import { allCommands, generalHelp, helpFor, parseCommandLine } from './publishing/cli/arguments.ts'
import { settleProject } from './runtime/app/extras.ts'
import { FAILED, makeOutput, OK, UsageError, USAGE_ERROR } from './publishing/cli/command.ts'
import type { Call } from './runtime/app/extra.ts'
import { loadOptions } from './publishing/cli/config.ts'
import { AssetError, reasonOf, printableLines } from './runtime/errors.ts'
import { errorCode } from './runtime/files/disk.ts'
import { tellRefusals } from './runtime/files/refusals.ts'

// A reader that closes the pipe early, as in `koa-fresh-assets list | head`, is not an error.
process.stdout.on('error', error => {
  if (errorCode(error) !== 'EPIPE') throw error
  process.exit(0)
})

/** Specs await it. A top-level `await` would have no equivalent in CommonJS. */
export const done = run(process.argv.slice(2)).then(
  status => void (process.exitCode = status),
  fail
)

function fail(error: unknown): void {
  const { stack } = (error ?? {}) as { stack?: unknown }
  // The message says what to fix; the stack is for DEBUG.
  const text = process.env.DEBUG && typeof stack === 'string' ? stack : reasonOf(error)
  const more = error instanceof AssetError && !process.env.DEBUG ? `\n  See ${error.help}` : ''
  process.stderr.write(`koa-fresh-assets: ${printableLines(text)}${more}\n`)
  process.exitCode = error instanceof UsageError ? USAGE_ERROR : FAILED
}

async function run(words: readonly string[]): Promise<number> {
  const commands = await allCommands()
  const { command, args, values } = parseCommandLine(words, commands)
  if (values.version) return print(await ownVersion())
  if (values.help) return print(command ? helpFor(command) : generalHelp(commands))
  if (!command) {
    process.stderr.write(`${generalHelp(commands)}\n`)
    return USAGE_ERROR
  }
  const output = makeOutput(values)
  tellRefusals(output.warn)
  const loadProject: Call['loadProject'] = async use => {
    const isDeployed = use === 'deployment'
    const options = await loadOptions({ values, output }, isDeployed ? 'production' : use)
    return settleProject(options, process.env, isDeployed)
  }
  return command.run({ values, args, output, loadProject })
}

function print(text: string): number {
  process.stdout.write(`${text}\n`)
  return OK
}

async function ownVersion(): Promise<string> {
  const text = await readFile(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
