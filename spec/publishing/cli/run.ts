// The command in a directory of its own: in this process, or where it matters in one of its own.
import { spawn, type ChildProcess } from 'node:child_process'
import { cpSync, readdirSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
// oxlint-disable-next-line import/no-unassigned-import -- its process starts where it was loaded: not in a directory of a spec
import 'esbuild'
import type * as Cli from '../../../lib/cli.ts'
import { parseCommandLine } from '../../../lib/publishing/cli/arguments.ts'
import { UsageError } from '../../../lib/publishing/cli/command.ts'
import { LOADER, makeProject, moduleFile, placed } from '../../support/index.ts'
import type { ExecutionContext, Files } from '../../support/index.ts'
import { COMMANDS } from '../../support/ready.ts'

const CLI = moduleFile('lib/cli.ts')
const BUILT = resolve('dist/cli.js')

// What the person who runs the specs has set must not show in an output.
const SET = ['NODE_ENV', 'SERVE_STATIC_ASSETS', 'CI', 'DEBUG', 'NO_COLOR']
const UNSET: NodeJS.ProcessEnv = Object.fromEntries(SET.map(name => [name, undefined]))

export interface Outcome {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Started {
  readonly child: ChildProcess
  /** What it wrote to stderr so far. */
  readonly heard: () => string
  readonly outcome: Promise<Outcome>
}

export function start(cwd: string, words: readonly string[], env: NodeJS.ProcessEnv = {}): Started {
  return startNode(cwd, [...LOADER, CLI, ...words], env)
}

export function startNode(cwd: string, words: readonly string[], env: NodeJS.ProcessEnv): Started {
  const child = spawn(process.execPath, words, {
    cwd,
    env: { ...process.env, ...UNSET, ...env },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', text => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', text => (stderr += text))
  const outcome = new Promise<Outcome>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', status => resolve(asElsewhere({ status, stdout, stderr })))
  })
  return { child, heard: () => stderr, outcome }
}

/** Without what is told where a system refuses calls, as `npm run lane refused` lets it. */
function asElsewhere(outcome: Outcome): Outcome {
  if (!process.env.REFUSED) return outcome
  return { ...outcome, stderr: outcome.stderr.replace(/^warning: the system refuses .*\n/gm, '') }
}

let count = 0
let last: Promise<unknown> = Promise.resolve()

/** Runs the command in this process, whose directory and streams it has meanwhile: one run after the other. */
export function run(cwd: string, line: string, env?: NodeJS.ProcessEnv): Promise<Outcome> {
  const outcome = last.then(() => runHere(cwd, wordsOf(line), env))
  last = outcome.catch(() => undefined)
  return outcome
}

async function runHere(
  cwd: string,
  words: readonly string[],
  env: NodeJS.ProcessEnv = {}
): Promise<Outcome> {
  const { argv, stdout, stderr } = process
  const envBefore = { ...process.env }
  const [cwdBefore, listeners] = [process.cwd(), stdout.listeners('error')]
  const written = { stdout: '', stderr: '' }
  setEnvironment({ ...envBefore, ...UNSET, ...env })
  process.argv = [process.execPath, CLI, ...words]
  stdout.write = text => Boolean((written.stdout += String(text)))
  stderr.write = text => Boolean((written.stderr += String(text)))
  process.chdir(cwd)
  try {
    const url = `${pathToFileURL(CLI).href}?run=${(count += 1)}`
    await ((await import(url)) as typeof Cli).done
    return asElsewhere({ status: Number(process.exitCode), ...written })
  } finally {
    process.chdir(cwdBefore)
    setEnvironment(envBefore)
    Object.assign(process, { argv, exitCode: undefined })
    for (const stream of [stdout, stderr]) Reflect.deleteProperty(stream, 'write')
    for (const listener of stdout.listeners('error').slice(listeners.length))
      stdout.off('error', listener as () => void)
  }
}

/** In place: Node reads a .env file into the environment of the process, not into an object. */
function setEnvironment(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys({ ...process.env, ...env })) {
    if (env[name] === undefined) delete process.env[name]
    else process.env[name] = env[name]
  }
}

/** As it is installed, in a process of its own: without tsx, which would read TypeScript of the project, too. */
export function runBuilt(cwd: string, line: string): Promise<Outcome> {
  return startNode(cwd, [BUILT, ...wordsOf(line)], {}).outcome
}

const wordsOf = (line: string) => line.split(' ').filter(Boolean)

/** Installs in a project what is installed here but one package, ours as it was built; runs commands there. */
export function installWithout(root: string, missing: string): (line: string) => Promise<Outcome> {
  const modules = join(root, 'node_modules')
  for (const name of ['dist', 'package.json'])
    cpSync(name, join(modules, 'koa-fresh-assets', name), { recursive: true })
  for (const name of readdirSync('node_modules')) {
    if (name === missing || name === '.cache') continue
    symlinkSync(resolve('node_modules', name), join(modules, name))
  }
  const cli = join(modules, 'koa-fresh-assets/dist/cli.js')
  return line => startNode(root, [cli, ...wordsOf(line)], {}).outcome
}

/** A project of one app, `web`. Paths are relative to `apps/web/assets`, or with a leading `/` to the root. */
export const makeShop = (t: ExecutionContext, files: Files): string => makeProject(t, placed(files))

/** Whether there is the command, with its arguments and options. */
export function isKnown(line: string): boolean {
  try {
    return parseCommandLine(wordsOf(line), COMMANDS).command !== undefined
  } catch (error) {
    if (error instanceof UsageError) return false
    throw error
  }
}
