// The command as a process of its own, in a directory of its own.
import { spawn, type ChildProcess } from 'node:child_process'
import { resolve } from 'node:path'
import type { ExecutionContext } from 'ava'
import { makeProject, type Files } from '../support/site.ts'
import { LOADER, moduleFile } from '../support/typescript.ts'

const CLI = moduleFile('lib/cli.ts')
const BUILT = resolve('dist/cli.js')

// What the person who runs the specs has set must not show in an output.
const UNSET = {
  NODE_ENV: undefined,
  SERVE_STATIC_ASSETS: undefined,
  CI: undefined,
  DEBUG: undefined,
  NO_COLOR: undefined
}

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

function startNode(cwd: string, words: readonly string[], env: NodeJS.ProcessEnv): Started {
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
    child.once('close', status => resolve({ status, stdout, stderr }))
  })
  return { child, heard: () => stderr, outcome }
}

export function run(cwd: string, line: string, env?: NodeJS.ProcessEnv): Promise<Outcome> {
  return start(cwd, line.split(' ').filter(Boolean), env).outcome
}

/** As it is installed: without tsx, which would read TypeScript of the project, too. */
export function runBuilt(cwd: string, line: string): Promise<Outcome> {
  return startNode(cwd, [BUILT, ...line.split(' ')], {}).outcome
}

/** A project of one app, `web`. Paths are relative to `apps/web/assets`, or with a leading `/` to the root. */
export function makeShop(t: ExecutionContext, files: Files): string {
  const placed = Object.entries(files).map(([path, content]) => [
    path.startsWith('/') ? path.slice(1) : `apps/web/assets/${path}`,
    content
  ])
  return makeProject(t, Object.fromEntries(placed))
}
